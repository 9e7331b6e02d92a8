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

/** Which entries a reader follows. */
export interface FollowOptions {
  /** Default: all. */
  readonly types?: readonly EntryType[]
  /** Only what comes after a mark. */
  readonly after?: TrafficMark
  /** Ends it. */
  readonly signal?: AbortSignal
  /** Called when a new world has replaced the old one: its entries count from 1. */
  readonly onReset?: (by: 'reset' | 'load') => void
}

/** `sandbox.traffic` of a tenant on a server: each question takes a copy. Secrets are hidden in it. */
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

  /** A copy of the log as it is now, which matchers and reports read. */
  async snapshot(): Promise<Traffic> {
    const view = loadTrace((await this.#wire.get('/traffic/trace')) as object)
    return this.#after === 0 ? view : view.since(this.#after)
  }

  get entries(): Promise<readonly Entry[]> {
    return this.snapshot().then(({ entries }) => entries)
  }

  get size(): Promise<number> {
    return this.snapshot().then(({ size }) => size)
  }

  async ofType<T extends EntryType>(type: T): Promise<readonly EntryOf<T>[]> {
    return (await this.snapshot()).ofType(type)
  }

  /** Every entry about one message, oldest first. */
  async forMessage(messageId: string): Promise<readonly Entry[]> {
    return (await this.snapshot()).forMessage(messageId)
  }

  /** This place in the log, for `since`. */
  async mark(): Promise<TrafficMark> {
    return ((await this.#wire.get('/traffic/mark')) as { mark: number }).mark
  }

  /** Only what happened after a mark, and what will. */
  since(mark: TrafficMark): RemoteTraffic {
    return new RemoteTraffic(this.#wire, Math.max(mark, this.#after))
  }

  async clear(): Promise<void> {
    await this.#wire.send('DELETE', '/traffic')
  }

  /** The story in virtual time, with the reason of every wait. */
  async timeline(options?: TimelineOptions): Promise<string> {
    return (await this.snapshot()).timeline(options)
  }

  /** The story as a sequence diagram: plain text, or Mermaid with `{ format: 'mermaid' }`. */
  async diagram(options?: DiagramOptions): Promise<string> {
    return (await this.snapshot()).diagram(options)
  }

  async toHar(options?: HarOptions): Promise<Har> {
    return (await this.snapshot()).toHar(options)
  }

  /** What `loadTrace` and `stuntdouble diff` read. */
  async toTrace(options?: TraceOptions): Promise<Trace> {
    return (await this.snapshot()).toTrace(options)
  }

  /**
   * Entries as they come, those that are there first. One comes again when it is answered or has ended.
   * @example for await (const entry of sandbox.traffic.follow({ types: ['attempt'] })) console.log(entry)
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
