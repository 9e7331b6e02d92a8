import { Account } from '../kernel/account.js'
import type { ServiceClock } from '../kernel/clock.js'
import { shortened } from '../kernel/dump-problems.js'
import { milliseconds } from '../kernel/duration.js'
import { type IndexedRecord, type Page, type RecordQuery, Records } from '../kernel/indexed-records.js'
import { stated } from '../kernel/portable.js'
import { IdSource, type Random } from '../kernel/random.js'
import type { Timer } from '../kernel/time.js'
import type { BulkActionEntry, TrafficLog } from '../kernel/traffic-log.js'
import { loggedAsJson } from '../kernel/views.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import { cancelFilters, type QueryValues, type ShownFilters } from './message/message-filters.js'
import { refusals } from './settings/queue-rejections.js'

/** Records that a bulk action cancels: messages or workflow runs. */
export type BulkResource = BulkActionEntry['resource']

/** Records that match the filters of one bulk action and have not ended. */
export interface BulkMatches {
  /** Counts the records that match now. `through` is the `seq` of the newest of them, or 0. */
  count(): { readonly total: number; readonly through: number }
  /**
   * Cancels the oldest matching records.
   * @param through `seq` of the last record that may be canceled
   * @param most maximum number of records to cancel
   * @param cause `seq` of the traffic entry that caused the cancellation
   */
  cancel(through: number, most: number, cause: number | undefined): void
  /** Returns the ID of the newest matching record up to `through`, or `undefined` if none is left. */
  newest(through: number): string | undefined
}

/** Messages or workflow runs, as bulk actions use them. */
export interface BulkTarget {
  /**
   * Selects the records that match the filters of a request and have not ended.
   * @throws QueueRejection 400 when a filter is invalid
   */
  matching(query: QueryValues): BulkMatches
  /** Returns the `seq` of a record, by its ID. */
  seqOf(id: string): number | undefined
}

/** Returns the matches of a query. @param open selects records that have not ended, oldest first */
export function matchesOf<T extends IndexedRecord & { readonly id: string }>(
  query: RecordQuery<T>,
  open: (query: RecordQuery<T>) => readonly T[],
  cancel: (record: T, cause: number | undefined) => void,
): BulkMatches {
  // The page size of the request limits only which records match. `through` then ends the range.
  const { count: _, ...endless } = query
  let after: number | undefined
  return {
    count() {
      const records = open(query)
      return { total: records.length, through: records.at(-1)?.seq ?? 0 }
    },
    cancel(through, most, cause) {
      for (const record of open({ ...endless, after, count: most })) {
        if (record.seq > through) return
        after = record.seq
        cancel(record, cause)
      }
    },
    newest: (through) => open({ ...endless, after }).findLast(({ seq }) => seq <= through)?.id,
  }
}

/** Time after its creation during which a bulk action can be read. [queue.md 1.5] */
const retention = milliseconds('7d')
/** Maximum number of bulk actions of one subject that are in progress at the same time. [queue.md 1.5] */
export const maxInProgress = 1000
/** Maximum number of steps of one bulk action, which limits the number of its timers. */
const stepsOfAction = 100

/** The fields of a bulk action. */
export interface BulkActionView {
  /** ID of the bulk action (`act_…`). */
  readonly id: string
  /** Records that the action cancels: messages or workflow runs. */
  readonly resource: BulkResource
  /** State of the action, in the spelling of the service. */
  readonly state: BulkActionEntry['state']
  /** Number of records that matched the filters when the action was accepted. */
  readonly total: number
  /** Number of records that the action has processed so far. */
  readonly processed: number
  /** Time at which the action was accepted, in virtual milliseconds. */
  readonly createdAt: number
  /** Time at which the action finished, in virtual milliseconds. Absent while it is in progress. */
  readonly completedAt?: number
  /** Filters of the request, by the name of the query parameter. Empty if the action cancels everything. */
  readonly filter: ShownFilters
}

/** Bulk action: one request that cancels all messages or workflow runs that match its filters. [queue.md 1.5] */
export class BulkAction {
  static {
    loggedAsJson(BulkAction)
  }

  /** ID of the bulk action (`act_…`). */
  readonly id: string
  /** @internal */
  readonly seq: number
  /** Records that the action cancels: messages or workflow runs. */
  readonly resource: BulkResource
  /** Filters of the request, by the name of the query parameter. Empty if the action cancels everything. */
  readonly filter: ShownFilters
  /** Number of records that matched the filters when the action was accepted. */
  readonly total: number
  /** Number of records that the action has processed so far. */
  processed = 0
  /** Time at which the action was accepted, in virtual milliseconds. */
  readonly createdAt: number
  /** Time at which the action finishes, in virtual milliseconds. @internal */
  readonly endsAt: number
  /** Time at which the action finished, in virtual milliseconds. `undefined` while it is in progress. */
  completedAt: number | undefined
  /** @internal */
  gone = false
  /** Timers of its next step and of its end. @internal */
  timers: { step?: Timer | undefined; end?: Timer } = {}
  /** `seq` of the traffic entry that caused the action. @internal */
  cause: number | undefined

  /** @internal */
  constructor(given: Pick<BulkAction, 'id' | 'seq' | 'resource' | 'filter' | 'total' | 'createdAt' | 'endsAt'>) {
    const { id, seq, resource, filter, total, createdAt, endsAt } = given
    this.id = id
    this.seq = seq
    this.resource = resource
    this.filter = filter
    this.total = total
    this.createdAt = createdAt
    this.endsAt = endsAt
  }

  /** State of the action, in the spelling of the service. */
  get state(): BulkActionEntry['state'] {
    return this.completedAt === undefined ? 'IN_PROGRESS' : 'FINISHED'
  }

  toJSON(): BulkActionView {
    const { id, resource, state, total, processed, createdAt, completedAt, filter } = this
    return stated({ id, resource, state, total, processed, createdAt, completedAt, filter }) as BulkActionView
  }
}

/** What an action in progress still has to cancel. */
interface Progress {
  readonly action: BulkAction
  /** Text that is equal for equal subjects and filters. */
  readonly key: string
  readonly matches: BulkMatches
  readonly through: number
}

/** A bulk action in a dump: one request that cancels everything that matches its filters. [queue.md 1.5] */
export interface DumpedBulkAction {
  /** ID of the bulk action (`act_…`). */
  readonly id: string
  /** Records that the action cancels: messages or workflow runs. */
  readonly resource: BulkResource
  /** Filters of the request, by the name of the query parameter. Empty if the action cancels everything. */
  readonly filter: ShownFilters
  /** Number of records that matched the filters when the action was accepted. */
  readonly total: number
  /** Number of records that the action has processed so far. */
  readonly processed: number
  /** Time at which the action was accepted, in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Time at which the action finished, in milliseconds since the Unix epoch. Absent while it is in progress. */
  readonly completedAt?: number | undefined
  /** For an action in progress, time at which it finishes, in milliseconds since the Unix epoch. */
  readonly endsAt?: number | undefined
  /** For an action in progress, ID of the last record that it will cancel. Absent if none is left. */
  readonly through?: string | undefined
}

export interface BulkActionsOptions {
  readonly clock: ServiceClock
  readonly random: Random
  readonly traffic: TrafficLog
  readonly policy: ResolvedPolicy
  readonly target: (resource: BulkResource) => BulkTarget
  /** Limits the memory for bulk actions; if the limit is exceeded, the oldest finished ones are deleted early. */
  readonly kept?: Account
}

/** The bulk actions of a queue, oldest first. */
export class BulkActions {
  readonly #options: BulkActionsOptions
  readonly #records = new Records<BulkAction>({ resource: ({ resource }) => resource })
  readonly #byId = new Map<string, BulkAction>()
  readonly #inProgress = new Map<BulkAction, Progress>()
  readonly #ids: IdSource
  readonly #kept: Account
  #sequence = 0

  constructor(options: BulkActionsOptions) {
    this.#options = options
    this.#ids = new IdSource(options.random.fork('bulk action'), 'act_', 20)
    this.#kept = options.kept ?? new Account(Number.POSITIVE_INFINITY)
  }

  /**
   * Cancels everything that matches. With the policy `bulkActionTime`, the action takes that time. If an action with
   * the same filters is in progress, returns this action.
   * @throws QueueRejection 400 when a filter is invalid, 412 when too many actions are in progress
   */
  begin(resource: BulkResource, query: QueryValues, cause?: number): BulkAction {
    const { clock, policy, target } = this.#options
    const matches = target(resource).matching(query)
    const filter = cancelFilters(query, policy)
    this.#prune()
    const key = keyOf(resource, filter)
    const others = [...this.#inProgress.values()].filter(({ action }) => action.resource === resource)
    const same = others.find((one) => one.key === key)
    if (same !== undefined) return same.action
    if (others.length >= maxInProgress) throw refusals.quota('maxBulkActions', maxInProgress, 412)
    this.#checkSize(filter)
    const { total, through } = matches.count()
    const now = clock.now()
    const action = this.#add({
      id: this.#nextId(),
      resource,
      filter,
      total,
      createdAt: now,
      endsAt: now + policy.bulkActionTime,
    })
    action.cause = cause
    const progress = { action, key, matches, through }
    if (action.endsAt === now) {
      this.#finish(progress)
      return action
    }
    action.cause = this.#note(action)
    this.#start(progress)
    return action
  }

  /** Checks that the filters of an action fit into the memory. Actions in progress cannot be deleted to make room. */
  #checkSize(filter: ShownFilters): void {
    if (this.#options.policy.bulkActionTime === 0) return
    let bytes = weightOf(filter)
    for (const { filter: other } of this.#inProgress.keys()) bytes += weightOf(other)
    if (bytes > this.#kept.limit) throw refusals.quota('maxBulkActionBytes', Math.floor(this.#kept.limit), 412)
  }

  /**
   * Restores an action from a dump, without a traffic entry. Restore its records first, and older actions first.
   * @throws TypeError when the last record of an action in progress is unknown
   */
  restore(dumped: DumpedBulkAction): void {
    const { id, resource, filter, total, processed, createdAt, completedAt, endsAt = createdAt, through } = dumped
    const target = this.#options.target(resource)
    const matches = target.matching(new Map(Object.entries(filter)))
    const action = this.#add({ id, resource, filter, total, createdAt, endsAt })
    Object.assign(action, { processed, completedAt })
    if (completedAt !== undefined) return
    const last = through === undefined ? 0 : target.seqOf(through)
    if (last === undefined)
      throw new TypeError(
        `The bulk action ${shortened(id)} of the dump cancels up to ${shortened(through!)}, which is not in the dump.`,
      )
    this.#start({ action, key: keyOf(resource, filter), matches, through: last })
  }

  get(resource: BulkResource, id: string): BulkAction | undefined {
    this.#prune()
    const action = this.#byId.get(id)
    return action?.resource === resource ? action : undefined
  }

  /** Returns a page of the actions of one subject. */
  select(resource: BulkResource, wanted: RecordQuery<BulkAction>): Page<BulkAction> {
    this.#prune()
    return this.#records.select({ ...wanted, filters: new Map([['resource', new Set([resource])]]) })
  }

  /** Returns all actions for a dump, oldest first. */
  dump(): DumpedBulkAction[] {
    this.#prune()
    return this.#records.select({}).items.map((action) => {
      const { state: _, ...view } = action.toJSON()
      const progress = this.#inProgress.get(action)
      if (progress === undefined) return view
      return stated({ ...view, endsAt: action.endsAt, through: progress.matches.newest(progress.through) })
    })
  }

  /** Estimated size of all actions in bytes. */
  get size(): number {
    return this.#kept.held
  }

  /** Stops all actions in progress. */
  stop(): void {
    for (const action of this.#inProgress.keys()) stopTimers(action)
    this.#inProgress.clear()
  }

  #nextId(): string {
    let id = this.#ids.next()
    while (this.#byId.has(id)) id = this.#ids.next()
    return id
  }

  #add(given: Omit<ConstructorParameters<typeof BulkAction>[0], 'seq'>): BulkAction {
    const action = new BulkAction({ ...given, seq: ++this.#sequence })
    this.#byId.set(action.id, action)
    this.#records.add(action)
    this.#kept.put(weightOf(action.filter))
    this.#makeRoom()
    return action
  }

  #start(progress: Progress): void {
    const { action } = progress
    this.#inProgress.set(action, progress)
    action.timers.end = this.#options.clock.schedule(action.endsAt, `bulk action ${action.id}`, () => {
      this.#inProgress.delete(action)
      this.#finish(progress)
    })
    this.#planStep(progress)
  }

  /**
   * Plans the next step. An action is processed in equal steps, one per record and at most `stepsOfAction`. The last
   * step is the end of the action.
   */
  #planStep(progress: Progress): void {
    const { action, matches, through } = progress
    const { total, createdAt, endsAt } = action
    const steps = Math.min(total, stepsOfAction)
    const step = steps === 0 ? 0 : Math.ceil((action.processed * steps) / total) + 1
    if (step >= steps) return
    const at = createdAt + Math.ceil(((endsAt - createdAt) * step) / steps)
    action.timers.step = this.#options.clock.schedule(at, `bulk action ${action.id}`, () => {
      const due = Math.floor((total * step) / steps)
      matches.cancel(through, due - action.processed, action.cause)
      action.processed = due
      this.#planStep(progress)
    })
  }

  #finish({ action, matches, through }: Progress): void {
    stopTimers(action)
    matches.cancel(through, Number.POSITIVE_INFINITY, action.cause)
    action.processed = action.total
    action.completedAt = this.#options.clock.now()
    this.#note(action)
  }

  #note({ id: actionId, resource, state, total, filter, cause }: BulkAction): number {
    return this.#options.traffic.append({ type: 'bulk-action', actionId, resource, state, total, filter }, cause).seq
  }

  #prune(): void {
    const oldest = this.#options.clock.now() - retention
    for (let first = this.#records.first(); first !== undefined; first = this.#records.first()) {
      if (first.createdAt > oldest || first.completedAt === undefined) return
      this.#delete(first)
    }
  }

  /** If the memory limit is exceeded, deletes the oldest actions before their retention ends. */
  #makeRoom(): void {
    while (this.#kept.held > this.#kept.limit) {
      const first = this.#records.first()
      if (first?.completedAt === undefined) return
      this.#delete(first)
    }
  }

  #delete(action: BulkAction): void {
    this.#byId.delete(action.id)
    this.#records.delete(action)
    this.#kept.release(weightOf(action.filter))
  }
}

function stopTimers({ timers }: BulkAction): void {
  timers.step?.cancel()
  timers.end?.cancel()
}

/** Returns the same text for equal filters. The order of the parameters and of their values does not matter. */
function keyOf(resource: BulkResource, filter: ShownFilters): string {
  const rows = Object.entries(filter).map(([name, values]) => [name, values.toSorted()] as const)
  return JSON.stringify([resource, rows.sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** Estimated size of a bulk action in bytes, without its filters. */
const actionBytes = 500

function weightOf(filter: ShownFilters): number {
  let weight = actionBytes
  for (const values of Object.values(filter)) for (const value of values) weight += 50 + value.length
  return weight
}
