import { bindMethods } from '../kernel/bind-methods.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { serverEvents } from '../kernel/server-events.js'
import type { Entry, EntryOf, EntryType } from '../kernel/traffic-log.js'
import type { Har, HarOptions } from '../report/har.js'
import { entryOf, loadTrace } from '../report/load-trace.js'
import type { TimelineOptions } from '../report/timeline.js'
import type { Trace, TraceEntry, TraceOptions } from '../report/trace.js'
import type { DiagramOptions, Traffic, TrafficMark } from '../report/traffic-view.js'
import type { ControlClient } from './control-client.js'

/** Options of `follow()`. */
export interface FollowOptions {
  /** Types of entries to follow. Default: all. */
  readonly types?: readonly EntryType[]
  /** Mark in the log. Only entries after the mark are followed. Default: all entries. */
  readonly after?: TrafficMark
  /** Signal that ends `follow()` when it is aborted. */
  readonly signal?: AbortSignal
  /** Function that is called after a reset or load. The numbers of entries then start again at 1. */
  readonly onReset?: (by: 'reset' | 'load') => void
}

/** The traffic log of a tenant: `sandbox.traffic`. Each method fetches a copy without secrets. */
export class RemoteTraffic {
  static {
    bindMethods(RemoteTraffic)
  }

  readonly #wire: ControlClient
  readonly #after: TrafficMark

  /** @internal */
  constructor(wire: ControlClient, after: TrafficMark = 0) {
    this.#wire = wire
    this.#after = after
  }

  /**
   * Returns a copy of the present log, for matchers and reports.
   * @example expect(await sandbox.traffic.snapshot()).not.toHaveReceivedRequest({ service: 'queue', status: 401 })
   */
  async snapshot(): Promise<Traffic> {
    const view = loadTrace((await this.#wire.get('/traffic/trace')) as object)
    return this.#after === 0 ? view : view.since(this.#after)
  }

  /** All entries, oldest first. */
  get entries(): Promise<readonly Entry[]> {
    return this.snapshot().then(({ entries }) => entries)
  }

  /** Number of entries. */
  get size(): Promise<number> {
    return this.snapshot().then(({ size }) => size)
  }

  /**
   * Returns the entries of one type, oldest first.
   * @example
   * await sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * expect(await sandbox.traffic.ofType('published')).toHaveLength(1)
   */
  async ofType<T extends EntryType>(type: T): Promise<readonly EntryOf<T>[]> {
    return (await this.snapshot()).ofType(type)
  }

  /**
   * Returns every entry about one message, oldest first.
   * @example
   * const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * await sandbox.traffic.forMessage(id)
   */
  async forMessage(messageId: string): Promise<readonly Entry[]> {
    return (await this.snapshot()).forMessage(messageId)
  }

  /**
   * Returns the present position in the log, for `since()`.
   * @example
   * const before = await sandbox.traffic.mark()
   * await checkout()
   * await sandbox.traffic.since(before).timeline()
   */
  async mark(): Promise<TrafficMark> {
    return ((await this.#wire.get('/traffic/mark')) as { mark: number }).mark
  }

  /**
   * Returns a view of the entries after a mark. It also contains entries that are logged later.
   * @example
   * const before = await sandbox.traffic.mark()
   * await checkout()
   * expect(await sandbox.traffic.since(before).ofType('published')).toHaveLength(1)
   */
  since(mark: TrafficMark): RemoteTraffic {
    return new RemoteTraffic(this.#wire, Math.max(mark, this.#after))
  }

  /**
   * Removes all entries.
   * @example
   * await sandbox.traffic.clear()
   * expect(await sandbox.traffic.size).toBe(0)
   */
  async clear(): Promise<void> {
    await this.#wire.send('DELETE', '/traffic')
  }

  /**
   * Returns the timeline in virtual time, with the reason for every wait.
   * @example console.log(await sandbox.traffic.timeline())
   */
  async timeline(options?: TimelineOptions): Promise<string> {
    return (await this.snapshot()).timeline(options)
  }

  /**
   * Returns the timeline as a sequence diagram: plain text, or Mermaid with `{ format: 'mermaid' }`.
   * @example console.log(await sandbox.traffic.diagram())
   */
  async diagram(options?: DiagramOptions): Promise<string> {
    return (await this.snapshot()).diagram(options)
  }

  /**
   * Returns the HTTP traffic as a HAR file.
   * @example writeFileSync('checkout.har', JSON.stringify(await sandbox.traffic.toHar()))
   */
  async toHar(options?: HarOptions): Promise<Har> {
    return (await this.snapshot()).toHar(options)
  }

  /**
   * Returns the trace that `loadTrace` and `stuntdouble diff` read.
   * @example writeFileSync('trace.json', JSON.stringify(await sandbox.traffic.toTrace()))
   */
  async toTrace(options?: TraceOptions): Promise<Trace> {
    return (await this.snapshot()).toTrace(options)
  }

  /**
   * Yields the present entries, then new entries as they are logged. An entry is yielded again when it gets its
   * response or outcome.
   * @example
   * for await (const { seq, type } of sandbox.traffic.follow({ types: ['published'] })) {
   *   console.log(seq, type)
   *   break
   * }
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<Entry, void> {
    checkOptionNames('follow()', options, { types: true, after: true, signal: true, onReset: true })
    const { types, after = this.#after, signal, onReset: onRenewal } = options
    const query = new URLSearchParams({ after: String(after), ...(types !== undefined && { type: types.join(',') }) })
    const answer = await this.#wire.open(`/traffic/stream?${query}`, signal)
    for await (const events of serverEvents(answer.body)) {
      for (const { name, data } of events) {
        if (name === 'message') yield entryOf(JSON.parse(data) as TraceEntry)
        else if (name === 'reset') onRenewal?.((JSON.parse(data) as { by: 'reset' | 'load' }).by)
      }
    }
  }
}
