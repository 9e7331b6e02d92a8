import { bindMethods } from '../kernel/bind-methods.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import {
  type Entry,
  type EntryOf,
  type EntryType,
  entryTypes,
  isEntryType,
  type TrafficLog,
} from '../kernel/traffic-log.js'
import { type CausalTree, causalTree } from './causal-tree.js'
import { type DecodedEntry, decode } from './decoded.js'
import { entryFields } from './entry-field-names.js'
import { type Har, type HarOptions, harOf } from './har.js'
import { mermaidDiagram } from './mermaid.js'
import { type NormalizedEntry, normalizedTraffic } from './normalized.js'
import { Redaction } from './redaction.js'
import { watchStores } from './store-changes.js'
import { type TextDiagramOptions, textDiagram } from './text-diagram.js'
import { type TimelineOptions, timeline } from './timeline.js'
import { type Trace, type TraceOptions, traceOf } from './trace.js'
import type { StoreCostTotals, TrafficContext } from './traffic-context.js'

/** A position in the log. It is after all entries that existed when the mark was created. */
export type TrafficMark = number & {
  /** Type marker for the compiler. It does not exist at run time. */
  readonly __mark?: never
}

/** Fields that an entry must have, compared with `===`. */
export type EntryPattern<T extends EntryType = EntryType> = {
  /** Type of the entry, such as `attempt`. */
  readonly type: T
} & {
  readonly [Field in keyof EntryOf<T>]?: EntryOf<T>[Field]
}

/** Options of `traffic.diagram()`. */
export interface DiagramOptions extends TextDiagramOptions {
  /** `text` (default): plain text. `mermaid`: source text for documents that render Mermaid. */
  readonly format?: 'text' | 'mermaid'
  /**
   * Additional names of headers, JSON fields and query parameters that contain secrets. The name `body` hides all
   * bodies.
   */
  readonly redact?: readonly string[]
}

export type TrafficEffects = MethodEffects<
  Traffic,
  {
    snapshot: 'reads'
    ofType: 'reads'
    tree: 'reads'
    forMessage: 'reads'
    get: 'reads'
    filter: 'reads'
    last: 'reads'
    decode: 'reads'
    mark: 'reads'
    since: 'reads'
    subscribe: 'reads'
    clear: 'changes'
    recordStoreChanges: 'reads'
    redaction: 'reads'
    timeline: 'reads'
    diagram: 'reads'
    toHar: 'reads'
    toTrace: 'reads'
    toJSON: 'reads'
    normalized: 'reads'
  }
>

/** The traffic log for tests: typed entries, and output as text. */
export class Traffic {
  static {
    bindMethods(Traffic)
  }

  /** @internal */
  readonly context: TrafficContext
  /** Billed totals that the store had at each mark. @internal */
  readonly costs: Map<TrafficMark, StoreCostTotals>
  readonly #traffic: TrafficLog
  readonly #after: number
  readonly #inputs: InputRecorder<Changes<TrafficEffects>>

  /**
   * @param after `seq` of the last entry before this view
   * @param costs billed totals of the store at each mark
   * @internal
   */
  constructor(
    traffic: TrafficLog,
    context: TrafficContext = {},
    after: number = 0,
    costs: Map<TrafficMark, StoreCostTotals> = new Map(),
    inputs: InputRecorder = unrecorded,
  ) {
    this.context = context
    this.costs = costs
    this.#traffic = traffic
    this.#inputs = inputs
    this.#after = after
    if (after === 0) traffic.view = this
  }

  /**
   * Returns the `Traffic` object that shows an internal log. Some code has only the internal log, such as a matcher for
   * the store.
   * @internal
   */
  static of(traffic: object): Traffic | undefined {
    if (traffic instanceof Traffic) return traffic
    const { view } = traffic as Partial<TrafficLog>
    return view instanceof Traffic ? view : undefined
  }

  /**
   * Returns this object. The traffic of a remote sandbox has the same method, so the same code works with a local and a
   * remote sandbox.
   * @example const { entries } = await sandbox.traffic.snapshot()
   */
  snapshot(): this {
    return this
  }

  /** Entries of this view, oldest first. */
  get entries(): readonly Entry[] {
    return this.#traffic.after(this.#after)
  }

  /** Number of entries in this view. */
  get size(): number {
    return this.entries.length
  }

  /**
   * Number of entries that were dropped because the log was full (`policy.maxTrafficEntries`,
   * `policy.maxTrafficBytes`).
   */
  get dropped(): number {
    return this.#traffic.dropped
  }

  /**
   * Returns all entries of one type: `request`, `command`, `published`, `attempt` …
   * @throws TypeError when the type is unknown
   * @example sandbox.traffic.ofType('attempt').length
   */
  ofType<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    if (!isEntryType(type)) {
      throw new TypeError(
        `traffic.ofType(): unknown entry type ${JSON.stringify(type)}. Use one of ${Object.keys(entryTypes).join(', ')}.`,
      )
    }
    const all = this.#traffic.ofType(type)
    return this.#after === 0 ? all : all.filter((entry) => entry.seq > this.#after)
  }

  /**
   * Returns one message as a tree: the entries that led to the message, the entries about it, and the entries that
   * these caused.
   * @throws TypeError when the argument is a type of entries instead of an ID
   * @example console.log(String(sandbox.traffic.tree(message.id)))
   */
  tree(messageId: string): CausalTree {
    if (this.#traffic.forMessage(messageId).length === 0 && /^[a-z-]+$/.test(messageId)) {
      throw new TypeError(
        `traffic.tree(): the argument must be the ID of a message (got ${JSON.stringify(messageId)}). For a type of entry, use traffic.ofType().`,
      )
    }
    return causalTree(this.entries, messageId, { redaction: this.redaction() })
  }

  /**
   * Returns every entry about one message, oldest first.
   * @example
   * const { id } = sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * await sandbox.clock.drain()
   * sandbox.traffic.forMessage(id).map(({ type }) => type) // ['published', 'attempt', 'message']
   */
  forMessage(messageId: string): readonly Entry[] {
    const all = this.#traffic.forMessage(messageId)
    return this.#after === 0 ? all : all.filter((entry) => entry.seq > this.#after)
  }

  /**
   * Returns the entry with this `seq`, or `undefined` if this view does not contain it.
   * @example
   * await checkout()
   * const { seq } = sandbox.traffic.last('published')!
   * sandbox.traffic.get(seq)?.type // 'published'
   */
  get(seq: number): Entry | undefined {
    return seq > this.#after ? this.#traffic.get(seq) : undefined
  }

  /**
   * Returns the entries that match a filter: a function, or an object whose fields are compared with `===`.
   * @example sandbox.traffic.filter({ type: 'request', service: 'store' })
   */
  filter<T extends EntryType>(wanted: EntryPattern<T>): EntryOf<T>[]
  filter<T extends Entry>(wanted: (entry: Entry) => entry is T): T[]
  filter(wanted: (entry: Entry) => boolean): Entry[]
  filter(wanted: EntryPattern | ((entry: Entry) => boolean)): Entry[] {
    if (typeof wanted !== 'function') checkEntryPattern('traffic.filter()', wanted)
    return typeof wanted === 'function'
      ? this.entries.filter((entry) => wanted(entry))
      : this.entries.filter((entry) => fits(entry, wanted))
  }

  /**
   * Returns the latest entry: of all entries, of a type, or of the entries that match a filter.
   * @example
   * await checkout()
   * sandbox.traffic.last('command')?.argv // ['SET', 'order:42', 'paid']
   */
  last(): Entry | undefined
  last<T extends EntryType>(wanted: T | EntryPattern<T>): EntryOf<T> | undefined
  last(wanted: (entry: Entry) => boolean): Entry | undefined
  last(wanted?: EntryType | EntryPattern | ((entry: Entry) => boolean)): Entry | undefined {
    if (wanted === undefined) return this.entries.at(-1)
    if (typeof wanted === 'string') return this.ofType(wanted).at(-1)
    if (typeof wanted !== 'function') checkEntryPattern('traffic.last()', wanted)
    return this.entries.findLast((entry) => (typeof wanted === 'function' ? wanted(entry) : fits(entry, wanted)))
  }

  /**
   * Returns the bodies, arguments and reply of an entry as text, JSON and bytes. Each is decoded on first access.
   * @example
   * await checkout()
   * sandbox.traffic.decode(sandbox.traffic.last('published')!).body?.json // { id: 42 }
   */
  decode(entry: Entry): DecodedEntry {
    return decode(entry)
  }

  /**
   * Returns the current position in the log, for `since()` and for `toHaveCost(…, { since })`.
   * @example
   * const before = sandbox.traffic.mark()
   * await redis.set('greeting', 'hello')
   * expect(sandbox).toHaveCost({ commands: 1 }, { since: before })
   */
  mark(): TrafficMark {
    const { latest } = this.#traffic
    const { spend, databases } = this.context
    for (const traffic of databases?.() ?? []) traffic.mark()
    if (spend !== undefined) this.costs.set(latest, spend())
    return latest
  }

  /**
   * Returns a view of all entries after a mark, for matchers and reports. It also contains entries that are logged
   * later.
   * @example
   * const before = sandbox.traffic.mark()
   * await checkout()
   * expect(sandbox.traffic.since(before)).toHavePublished({ to: 'https://shop.test/orders' })
   */
  since(mark: TrafficMark): Traffic {
    return new Traffic(this.#traffic, this.context, Math.max(mark, this.#after), this.costs, this.#inputs)
  }

  /**
   * Calls a listener for every new entry. If the entry is a request or an attempt, calls the listener again when the
   * request gets its response or the attempt ends.
   * @returns a function that unsubscribes the listener
   * @example
   * const stop = sandbox.traffic.subscribe(({ seq, type }) => console.log(seq, type))
   * await checkout()
   * stop()
   */
  subscribe(listener: (entry: Entry) => void): () => void {
    return this.#traffic.subscribe(listener)
  }

  /**
   * Deletes all entries. Later entries continue the numbering.
   * @example
   * sandbox.traffic.clear()
   * expect(sandbox.traffic.size).toBe(0)
   */
  clear(): void {
    this.#inputs.record('clear')
    this.#traffic.clear()
  }

  /**
   * Records how the store changes during each later attempt: added and removed keys, changed values and TTLs. Each
   * attempt then copies the whole store, which takes time. Changed keys of an added database contain its name.
   * @returns a function that stops recording
   * @throws TypeError when the traffic belongs to no store, such as the traffic of a trace
   * @example
   * const stop = sandbox.traffic.recordStoreChanges()
   * await checkout()
   * await sandbox.clock.drain()
   * console.log(sandbox.traffic.last('attempt')?.store)
   * stop()
   */
  recordStoreChanges(): () => void {
    const { store } = this.context
    if (store === undefined)
      throw new TypeError(
        'traffic.recordStoreChanges(): this traffic has no store. Call it on the traffic of a sandbox.',
      )
    const views = this.context.databases?.() ?? []
    const databases = views.map(({ context }) => context)
    return watchStores(this.#traffic, databases.length > 0 ? databases : [this.context])
  }

  /**
   * Returns the redaction for output: it hides the sandbox's own secrets, texts that look like a secret, and values
   * with the given names.
   * @internal
   */
  redaction(redact: readonly string[] = []): Redaction {
    return new Redaction({ secrets: this.context.secrets?.() ?? [], redact })
  }

  /**
   * Returns the traffic as text in virtual time, with the reason of every wait.
   * @throws TypeError when an option is unknown or invalid
   * @example console.log(sandbox.traffic.timeline())
   */
  timeline(options: TimelineOptions = {}): string {
    return timeline(this.entries, options, this.redaction(options.redact))
  }

  /**
   * Returns the traffic as a sequence diagram: plain text, or Mermaid with `{ format: 'mermaid' }`.
   * @throws TypeError when an option is unknown or invalid
   * @example
   * console.log(sandbox.traffic.diagram())
   * writeFileSync('checkout.mmd', sandbox.traffic.diagram({ format: 'mermaid' }))
   */
  diagram(options: DiagramOptions = {}): string {
    checkOptionNames('diagram()', options, { format: true, redact: true, width: true })
    const { format = 'text' } = options
    if (!diagramFormats.includes(format)) {
      throw new TypeError(
        `diagram(): format must be 'text' or 'mermaid' (got ${JSON.stringify(format)}).${didYouMean(format, diagramFormats)}`,
      )
    }
    const redaction = this.redaction(options.redact)
    return options.format === 'mermaid'
      ? mermaidDiagram(this.entries, redaction)
      : textDiagram(this.entries, options, redaction)
  }

  /**
   * Returns requests and delivery attempts as an HTTP archive (HAR 1.2) in virtual time, for a browser's network
   * panel.
   * @example writeFileSync('checkout.har', JSON.stringify(sandbox.traffic.toHar()))
   */
  toHar(options: HarOptions = {}): Har {
    checkOptionNames('toHar()', options, { redact: true })
    return harOf(this.entries, this.redaction(options.redact))
  }

  /**
   * Returns the traffic as plain JSON with secrets hidden. `loadTrace()` from `stuntdouble/report` reads it.
   * @example writeFileSync('trace.json', JSON.stringify(sandbox.traffic.toTrace({ redact: ['email'] })))
   */
  toTrace(options: TraceOptions = {}): Trace {
    checkOptionNames('toTrace()', options, { redact: true, bodies: true })
    return traceOf(this.entries, this.context, this.redaction(options.redact), options)
  }

  /** Returns the same trace as `toTrace()`. `JSON.stringify()` calls this method. */
  toJSON(): Trace {
    return this.toTrace()
  }

  /**
   * Returns the traffic for test snapshots. Details that differ between runs, such as IDs, times and tokens, get stable
   * names.
   * @example
   * await checkout()
   * await sandbox.clock.drain()
   * expect(sandbox.traffic.normalized()).toMatchSnapshot()
   */
  normalized(): NormalizedEntry[] {
    return normalizedTraffic(this.entries, this.context, this.redaction())
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.entries[Symbol.iterator]()
  }
}

const diagramFormats: readonly string[] = ['text', 'mermaid']

/**
 * Checks that entries of the type in a pattern have all the fields in this pattern.
 * @throws TypeError when they cannot; the message suggests the nearest name
 */
function checkEntryPattern(caller: string, wanted: EntryPattern): void {
  const type: unknown = wanted?.type
  // For a pattern without fields, `fits()` throws a more helpful error.
  if (typeof wanted === 'object' && wanted !== null && Object.keys(wanted).length === 0) return
  if (typeof type !== 'string' || !Object.hasOwn(entryFields, type)) {
    const types = Object.keys(entryFields)
    throw new TypeError(
      `${caller}: the argument must be a function or fields of entries of one type, such as { type: 'attempt' } (got type ${JSON.stringify(type)}).${didYouMean(type, types)} Use one of ${types.join(', ')}.`,
    )
  }
  checkOptionNames(`${caller} of ${type} entries`, wanted, Object.keys(entryFields[type as EntryType]))
}

function fits(entry: Entry, wanted: EntryPattern): boolean {
  const fields = Object.entries(wanted)
  if (fields.length === 0) {
    throw new TypeError(
      `A pattern without fields matches everything. Read .entries, or add a type, such as { type: 'attempt' }.`,
    )
  }
  return fields.every(([name, value]) => Reflect.get(entry, name) === value)
}
