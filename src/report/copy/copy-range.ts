import type { TraceEntry } from '../trace.js'
import { type CopiedStep, faultOf, type ResponseRule, stepOf } from './copied-responses.js'
import { type Publish, publishOfEntry, publishOfRequest } from './publishes.js'
import { bodyOf, type CopyContext, type CopySelection, entriesOf, headersOf, pathOf } from './selection.js'
import { withoutWait } from './waited.js'

export type TestAction =
  | { readonly does: 'publish'; readonly publish: Publish; readonly messageId: string }
  | { readonly does: 'command'; readonly words: readonly string[]; readonly database?: string }
  | { readonly does: 'request'; readonly request: RequestInput }
  | { readonly does: 'fault'; readonly rule: ResponseRule }
  | { readonly does: 'cancel' | 'deliverNow'; readonly messageId: string }
  | { readonly does: 'advance'; readonly ms: number }

export interface RequestInput {
  readonly service: string
  /** Name of the added database that receives the request. */
  readonly database?: string
  readonly method: string
  /** Path below the base URL of the service. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
}

/** An outcome in the log, and the number of messages that ended with it. */
export interface ObservedOutcome {
  readonly what: 'delivered' | 'deadLetter' | 'deduplicated'
  readonly pattern: Readonly<Record<string, unknown>>
  readonly times: number
}

/** A range of a log as actions. A test or a scenario can play these actions again. */
export interface CopyRange {
  readonly startAt: number
  readonly scripts: ReadonlyMap<string, readonly CopiedStep[]>
  readonly rules: readonly ResponseRule[]
  readonly inputs: readonly TestAction[]
  /** Names of the added databases that the actions use. */
  readonly databases: readonly string[]
  readonly seen: readonly ObservedOutcome[]
  /** Notes about parts of the log that the actions do not reproduce. */
  readonly notes: readonly string[]
}

/** Converts a selection to actions. Returns `undefined` if the selection contains no entry. */
export function copyRangeOf(selection: CopySelection, context: CopyContext): CopyRange | undefined {
  const chosen = entriesOf(selection)
  if (chosen.length === 0) return undefined
  return new StretchReader(chosen, context).read()
}

class StretchReader {
  readonly #entries: readonly TraceEntry[]
  readonly #inputs: TestAction[] = []
  readonly #notes = new Set<string>()
  /** Entries by their cause: the key is the `seq` of the entry that caused them. */
  readonly #led = new Map<number, TraceEntry[]>()
  /** Entries about attempts and changes of a message, by ID of the message. */
  readonly #about = new Map<unknown, TraceEntry[]>()
  readonly #requests = new Set<unknown>()
  readonly #schedules = new Set<unknown>()
  /** What the actions until now do with messages, such as `publish msg_1` or `cancel msg_1`. */
  readonly #done = new Set<string>()
  #now: number
  /**
   * Whether time has moved since the last attempt. If not, time must move before the next action, so that the attempt
   * comes first.
   */
  #moved = true

  constructor(
    entries: readonly TraceEntry[],
    readonly context: CopyContext,
  ) {
    this.#entries = entries
    this.#now = entries[0]!.at
    for (const entry of entries) {
      const { type, seq, resource, change, name, messageId } = entry
      if (type === 'request') this.#requests.add(seq)
      if (type === 'setting' && resource === 'schedule' && change === 'created') this.#schedules.add(name)
      if (type === 'attempt' || type === 'message')
        this.#about.set(messageId, [...(this.#about.get(messageId) ?? []), entry])
      if (entry.cause !== undefined) this.#led.set(entry.cause, [...(this.#led.get(entry.cause) ?? []), entry])
    }
  }

  read(): CopyRange {
    const startAt = this.#now
    for (const entry of this.#entries) this.#take(entry)
    this.#moveTo(this.#end())
    return {
      startAt,
      ...this.#answers(),
      inputs: this.#inputs,
      databases: this.#databases(),
      seen: this.#seen(),
      notes: [...this.#notes],
    }
  }

  /** Returns the databases in the order in which the sandbox had them, if it is known. */
  #databases(): readonly string[] {
    const used = new Set(
      this.#inputs.flatMap((input) => {
        if (input.does === 'command') return input.database ?? []
        return input.does === 'request' ? (input.request.database ?? []) : []
      }),
    )
    const known = Object.keys((this.context.addresses?.databases as object | undefined) ?? {})
    return [...new Set([...known.filter((name) => used.has(name)), ...used])]
  }

  #take(entry: TraceEntry): void {
    const { type, cause } = entry
    if (type === 'attempt') this.#moved = false
    if (type === 'request') this.#request(entry)
    else if (type === 'published') this.#published(entry)
    else if (type === 'command' && entry.via === 'direct') this.#command(entry)
    else if (type === 'message') this.#message(entry)
    else if (type === 'setting' && cause === undefined && entry.change !== 'fired')
      this.#notes.add('Settings that changed without a request are not included, such as queues, limits and keys.')
    else if (type === 'outbound') this.#notes.add('Outbound requests are not included.')
    else if (type === 'dropped') this.#notes.add('Earlier entries are not included, because the log dropped them.')
  }

  /**
   * Adds an action that advances the clock to an instant. When it is played, everything that is due until then happens.
   */
  #moveTo(at: number): void {
    if (at <= this.#now && this.#moved) return
    this.#inputs.push({ does: 'advance', ms: Math.max(0, at - this.#now) })
    this.#now = Math.max(at, this.#now)
    this.#moved = true
  }

  #do(input: TestAction, at: number): void {
    this.#moveTo(at)
    this.#inputs.push(input)
    if ('messageId' in input) this.#done.add(`${input.does} ${input.messageId}`)
  }

  #end(): number {
    const last = this.#entries.at(-1)!.seq
    let end = 0
    for (const { type, at, outcome, to, endedAfterSeq } of this.#entries) {
      const whole = type === 'clock' && typeof to === 'number' && Number(endedAfterSeq) <= last
      end = Math.max(end, at, whole ? (to as number) : 0, (outcome as { at: number } | undefined)?.at ?? 0)
    }
    return end
  }

  #request(entry: TraceEntry): void {
    const led = this.#led.get(entry.seq) ?? []
    const commands = led.filter(({ type }) => type === 'command')
    const published = led.filter(({ type }) => type === 'published')
    const struck = led.some(({ type }) => type === 'fault')
    const asText = commands.every(
      ({ argv, error }) => error === undefined && (argv as unknown[]).every((word) => typeof word === 'string'),
    )
    if (!struck && commands.length > 0 && asText) for (const command of commands) this.#command(command)
    else if (!struck && published.some(({ urlGroup }) => urlGroup !== undefined))
      for (const one of published) this.#publish(publishOfEntry(one), one)
    else {
      const single = published.length === 1 && !struck ? publishOfRequest(entry, published[0]!) : undefined
      if (single !== undefined) this.#publish(single, published[0]!)
      else this.#raw(entry)
    }
  }

  #publish(publish: Publish, entry: TraceEntry): void {
    this.#do({ does: 'publish', publish, messageId: String(entry.messageId) }, entry.at)
  }

  /**
   * Adds a request unchanged. A request is omitted if it changes nothing. It is also omitted if it contains an ID,
   * because another sandbox has other IDs.
   */
  #raw(entry: TraceEntry): void {
    const { service, database, method, url, body, response: answer, at } = entry
    const path = pathOf({ url, service, database }, this.context)
    if ((method === 'GET' && service !== 'store') || service === 'stats') return
    if (/(?:msg|dlq|wfr)_/.test(path)) {
      const later = (this.#led.get(entry.seq) ?? []).filter(({ type }) => type === 'message')
      if (later.length === 0)
        this.#notes.add(
          'Requests with the ID of a message, dead letter or workflow run are not included, because a test gets other IDs.',
        )
      for (const message of later) this.#message(message)
      return
    }
    const { text, cut } = bodyOf(body)
    if (text === undefined || cut !== undefined) {
      this.#notes.add('Requests whose body is truncated or not text are not included.')
      return
    }
    const headers = headersOf(entry.headers).filter(([name]) =>
      /^(?:content-type|(?:upstash|service)-(?!.*(?:sync-token|telemetry)).*)$/i.test(name),
    )
    const status = Number((answer as { status?: number } | undefined)?.status ?? 0)
    const request = {
      service: String(service),
      ...databaseOf(entry),
      method: String(method),
      path,
      headers: Object.fromEntries(headers),
      status,
    }
    this.#strike(entry, path)
    this.#do({ does: 'request', request: { ...request, ...(text !== '' && { body: text }) } }, at)
  }

  /**
   * Adds the fault rule of a request, directly before the request. A rule that is added earlier could match an earlier
   * request.
   */
  #strike(entry: TraceEntry, endpoint: string): void {
    const struck = this.#struck(entry)
    if (struck === undefined) return
    const fault = faultOf(struck, entry)
    if (fault === undefined) this.#notes.add('A fault is not included, because the log has too few details.')
    else
      this.#do(
        { does: 'fault', rule: { ...ruleOf(struck, fault), match: { path: endpoint, ...databaseOf(entry) } } },
        entry.at,
      )
  }

  /**
   * Adds the publish of a message that no request published. Callbacks and messages of schedules are omitted, because
   * they are published again when the range is played.
   */
  #published(entry: TraceEntry): void {
    const { cause, kind, scheduleId } = entry
    const isRequested = this.#requests.has(cause)
    const isScheduled = this.#schedules.has(scheduleId)
    if (!isRequested && kind === 'message' && !isScheduled) this.#publish(publishOfEntry(entry), entry)
  }

  #command(entry: TraceEntry): void {
    const words = entry.argv as readonly unknown[]
    if (entry.error !== undefined || !words.every((word) => typeof word === 'string'))
      this.#notes.add('Commands that failed, or whose arguments are not text, are not included.')
    else {
      const done = withoutWait(words as string[], entry.reply)
      if (done !== undefined) this.#do({ does: 'command', words: done, ...databaseOf(entry) }, entry.at)
    }
  }

  #message({ messageId, state, at }: TraceEntry): void {
    const does =
      state === 'DELIVER_REQUESTED'
        ? 'deliverNow'
        : state === 'CANCELLED' || state === 'CANCEL_REQUESTED'
          ? 'cancel'
          : undefined
    const id = String(messageId)
    if (does !== undefined && this.#done.has(`publish ${id}`) && !this.#done.has(`${does} ${id}`))
      this.#do({ does, messageId: id }, at)
  }

  #answers(): Pick<CopyRange, 'scripts' | 'rules'> {
    const scripts = new Map<string, CopiedStep[]>()
    const rules: ResponseRule[] = []
    for (const entry of this.#entries) {
      if (entry.type !== 'attempt') continue
      const url = String(entry.url)
      const steps = scripts.get(url) ?? []
      scripts.set(url, steps)
      const struck = this.#struck(entry)
      const fault = struck && faultOf(struck, entry)
      if (struck === undefined || fault === undefined) steps.push(stepOf(entry))
      // An injected rule ends the evaluation, so rules that were added later applied only to the other deliveries.
      else addRule(rules, { ...ruleOf(struck, fault), match: { url }, ...(steps.length > 0 && { skip: steps.length }) })
    }
    return { scripts, rules }
  }

  #struck({ seq }: TraceEntry): TraceEntry | undefined {
    return this.#led.get(seq)?.find(({ type }) => type === 'fault')
  }

  #seen(): readonly ObservedOutcome[] {
    const seen = new Map<string, ObservedOutcome>()
    const add = (what: ObservedOutcome['what'], pattern: ObservedOutcome['pattern']): void => {
      const key = JSON.stringify([what, pattern])
      seen.set(key, { what, pattern, times: (seen.get(key)?.times ?? 0) + 1 })
    }
    for (const entry of this.#entries) {
      const { type, messageId, url: to, kind } = entry
      if (type === 'dead-letter' && kind === 'message') add('deadLetter', { to, status: entry.status })
      if (type !== 'published') continue
      if (entry.deduplicated === true) add('deduplicated', { to })
      else add('delivered', { to, ...(kind !== 'message' && { kind }), ...this.#endOf(String(messageId)) })
    }
    return [...seen.values()]
  }

  #endOf(id: string): object {
    const about = this.#about.get(id) ?? []
    const outcomes = about.flatMap(({ outcome }) =>
      outcome === undefined ? [] : [outcome as { status: number; state: string }],
    )
    const cancelled = about.some(({ type, state }) => type === 'message' && state === 'CANCELLED')
    const running = about.some(({ type, outcome }) => type === 'attempt' && outcome === undefined)
    const last = outcomes.at(-1)?.state ?? 'CREATED'
    const attempts = outcomes.map(({ status }) => status)
    return {
      state: cancelled ? 'CANCELLED' : running ? 'ACTIVE' : last,
      ...(attempts.length > 0 && !running && { attempts }),
    }
  }
}

function databaseOf({ database }: TraceEntry): { readonly database?: string } {
  return database === undefined ? {} : { database: String(database) }
}

function ruleOf({ point, rule }: TraceEntry, fault: ResponseRule['fault']): ResponseRule {
  return { on: String(point), ...(typeof rule === 'string' && { name: rule }), times: 1, fault }
}

/** Adds a fault rule. If the previous rule is equal, adds no rule, but increases the `times` of the previous rule. */
function addRule(rules: ResponseRule[], rule: ResponseRule): void {
  const last = rules.at(-1)
  const same = last !== undefined && JSON.stringify({ ...last, times: 1 }) === JSON.stringify(rule)
  if (same) rules[rules.length - 1] = { ...last, times: last.times + 1 }
  else rules.push(rule)
}
