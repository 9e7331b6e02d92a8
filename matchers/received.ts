import { type Internals, internals } from '../src/kernel/internals.js'
import type { Entry, EntryOf, EntryType } from '../src/kernel/traffic-log.js'
import type { Queue } from '../src/queue/direct-queue.js'
import { type Redaction, standardRedaction } from '../src/report/redaction.js'
import { shortNames } from '../src/report/short-names.js'
import type { TrafficContext } from '../src/report/traffic-context.js'
import { Traffic, type TrafficMark } from '../src/report/traffic-view.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import type { StoreInternals } from '../src/store/store-internals.js'
import { literal } from './literal.js'

/** Input of a matcher: the entries of a log, and facts about the sandbox that logged them. */
export interface MatcherInput {
  /** Kind of the value in `expect()`: `sandbox`, `store`, `queue` or `traffic`. Failures contain this word. */
  readonly role: Role
  readonly entries: readonly Entry[]
  readonly context: TrafficContext
  readonly received: unknown
  /** Name of the added database in `expect()`. `undefined` for the first database and for other values. */
  readonly database?: string | undefined
  /** Redaction that hides secrets in the text of a failure. */
  readonly redaction: Redaction
  ofType<T extends EntryType>(type: T): readonly EntryOf<T>[]
  /** Returns the entries about one message, oldest first. */
  forMessage(messageId: string): readonly Entry[]
  /** Returns the short name of a message, as in the timeline. */
  name(messageId: string): string
}

export type Role = 'sandbox' | 'store' | 'queue' | 'traffic'

/**
 * Gives matchers access to the internals of a store. The engine attaches the internals under the name `store`, so that
 * matchers need not import the engine.
 */
export const storeInternals: Internals<object, StoreInternals> = internals('store')

/**
 * An object that has only some of the members of `T`, with values of unknown type. For example, a remote sandbox lacks
 * some members of a sandbox. The names come from the real type, so the compiler reports a renamed member.
 */
export type Perhaps<T, Names extends keyof T> = { readonly [Name in Names]?: unknown }

type UnknownRecord = Record<string, unknown>

/** A log with an index by type and by message. */
type Log = Pick<MatcherInput, 'entries' | 'ofType' | 'forMessage'>

/**
 * Returns the log of a value in `expect()` with its context. The value is a sandbox, one of its services, a traffic
 * log, a snapshot or a list of entries.
 * @throws TypeError when the value is anything else, or a service that the matcher does not check
 */
export function evidenceOf(matcher: string, received: unknown, wanted: 'store' | 'queue' | 'sandbox'): MatcherInput {
  const role = roleOf(received)
  const view = wanted === 'sandbox' ? 'sandbox' : `sandbox.${wanted}`
  if (role === undefined) {
    throw new TypeError(
      `${matcher}(): expect() must get ${view}${wanted === 'sandbox' ? '' : ' or the sandbox'} (got ${shown(received)}). ${isThenable(received) ? 'Await it first. ' : ''}Write expect(${view}).${matcher}(…).`,
    )
  }
  if (isRemote(received)) {
    throw new TypeError(
      `${matcher}(): this sandbox is on a server, and matchers need its entries in this process. Write expect(await sandbox.snapshot()).${matcher}(…).`,
    )
  }
  if ((role === 'store' || role === 'queue') && wanted !== role && wanted !== 'sandbox') {
    throw new TypeError(
      `${matcher}(): expect() must get the ${wanted} (got a ${role}). Write expect(${view}).${matcher}(…) or expect(sandbox).`,
    )
  }
  const found = evidence(role, received)
  warnIfOutdated(found)
  return found
}

function evidence(role: Role, received: unknown): MatcherInput {
  const { log, context, view } = logOf(received)
  const database = role === 'store' ? storeInternals.find(received)?.engine.options.database : undefined
  let redaction: Redaction | undefined
  let names: ((messageId: string) => string) | undefined
  return {
    role,
    received,
    context,
    database,
    get entries() {
      return log.entries
    },
    get redaction() {
      redaction ??= view?.redaction() ?? standardRedaction
      return redaction
    },
    ofType: (type) => log.ofType(type),
    forMessage: (messageId) => log.forMessage(messageId),
    name: (messageId) => {
      names ??= shortNames(log.entries)
      return names(messageId)
    },
  }
}

/**
 * Returns the log of the store that a matcher for keys reads. For a sandbox with added databases, this is the log of the
 * first database.
 */
export function storeEvidenceOf(matcher: string, received: unknown): MatcherInput {
  const evidence = evidenceOf(matcher, received, 'store')
  const { store, stores } = (received ?? {}) as Perhaps<Sandbox, 'store' | 'stores'>
  if (evidence.role !== 'sandbox' || !Array.isArray(stores) || stores.length < 2) return evidence
  return { ...evidenceOf(matcher, store, 'store'), role: 'sandbox', received }
}

/**
 * Warns once if the value in `expect()` is outdated. An assertion with `.not` may pass only for this reason, and then no
 * failure says so.
 */
function warnIfOutdated(evidence: MatcherInput): void {
  const part = partOf(evidence)
  if (part !== undefined) evidence.context.replacement?.warnAbout(part, `expect(${part}) got`)
}

/**
 * Returns how a test reads the value in `expect()` from its sandbox, such as `storeIn('us')`. Returns `undefined` for a
 * sandbox, which is never outdated.
 */
export function partOf({ role, received, context }: MatcherInput): string | undefined {
  const { database, homeRegion } = context
  if (role === 'sandbox') return undefined
  if (role === 'queue') {
    const { region } = received as Perhaps<Queue, 'region'>
    return region === homeRegion ? role : `queueIn(${literal(region)})`
  }
  if (database === undefined) return role
  return `storeIn(${literal(database)})${role === 'traffic' ? '.traffic' : ''}`
}

/** Returns the part of a message that names the added database in `expect()`, or an empty text. */
export function inDatabase({ database }: MatcherInput): string {
  return database === undefined ? '' : ` in database ${database}`
}

/** Returns the input of a matcher without the entries before a mark, which is a position in the log. */
export function evidenceSince(evidence: MatcherInput, mark: TrafficMark): MatcherInput {
  return {
    ...evidence,
    entries: evidence.entries.filter(({ seq }) => seq > mark),
    ofType: (type) => evidence.ofType(type).filter(({ seq }) => seq > mark),
    forMessage: (messageId) => evidence.forMessage(messageId).filter(({ seq }) => seq > mark),
  }
}

/**
 * Returns the kind of a value in `expect()`, such as `store`, for the text of a failure. Returns `undefined` if the
 * value has no entries.
 */
export function roleOf(received: unknown): Role | undefined {
  if (Array.isArray(received)) return received.every(isEntry) ? 'traffic' : undefined
  if (typeof received !== 'object' || received === null) return undefined
  const given = received as UnknownRecord
  if (Array.isArray(given.entries)) return 'traffic'
  if (typeof given.traffic !== 'object' || given.traffic === null) return undefined
  if ('clock' in given && 'store' in given) return 'sandbox'
  // A value with `fork()` but without a clock can only be a view of the past, which `asOf()` returns.
  if ('store' in given && 'fork' in given) return 'sandbox'
  if (storeInternals.find(given) !== undefined) return 'store'
  return 'store' in given && 'queue' in given ? 'sandbox' : 'queue'
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && 'seq' in value && 'type' in value
}

function logOf(received: unknown): { log: Log; context: TrafficContext; view?: Traffic } {
  const given = received as { entries?: unknown; traffic?: unknown }
  const log = given.traffic ?? given
  if (Array.isArray(log)) return { log: plainLog(log as Entry[]), context: {} }
  const view = Traffic.of(log as object)
  if (view !== undefined) return { log: log as Log, context: view.context, view }
  const { entries, context } = log as { entries: readonly Entry[]; context?: TrafficContext }
  return { log: isIndexed(log) ? log : plainLog(entries), context: context ?? {} }
}

function isIndexed(log: unknown): log is Log {
  const { ofType: of, forMessage: about } = log as Partial<Log>
  return typeof of === 'function' && typeof about === 'function'
}

function plainLog(given: readonly Entry[]): Log {
  const isOrdered = given.every((entry, index) => index === 0 || given[index - 1]!.seq <= entry.seq)
  const entries = isOrdered ? given : given.toSorted((a, b) => a.seq - b.seq)
  return {
    entries,
    ofType: <T extends EntryType>(type: T) =>
      entries.filter((entry): entry is Entry & EntryOf<T> => entry.type === type),
    forMessage: (messageId) => entries.filter((entry) => 'messageId' in entry && entry.messageId === messageId),
  }
}

/** Returns whether the sandbox is on a server. A matcher is synchronous, so it cannot fetch the log from the server. */
function isRemote(received: unknown): boolean {
  const { traffic } = received as { readonly traffic?: object }
  return traffic !== undefined && 'follow' in traffic
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function shown(received: unknown): string {
  if (isThenable(received)) return 'a promise'
  if (Array.isArray(received)) return received.length === 0 ? 'a list' : 'a list in which not every item is an entry'
  return typeof received === 'object' && received !== null ? 'another object' : literal(received)
}
