import type { Entry, EntryOf, EntryType, Traffic } from '../kernel/traffic.js'
import { mermaidDiagram } from './mermaid.js'
import { type TextDiagramOptions, textDiagram } from './text-diagram.js'
import { type TimelineOptions, timeline } from './timeline.js'

/** What a report says about the world that the entries come from. */
export interface TrafficContext {
  /** The sandbox's seed, for the line that tells how to replay. */
  readonly seed?: number | string
  readonly now?: () => number
  /** Prefix of the service's own headers in the sandbox's vocabulary: `Service-`. */
  readonly headerPrefix?: string
  /** Base addresses of the services, for hints about a wrong one. */
  readonly addresses?: Readonly<Record<string, unknown>>
}

export interface DiagramOptions extends TextDiagramOptions {
  /** `mermaid` for documents that draw it. Default `text`. */
  readonly format?: 'text' | 'mermaid'
}

const views = new WeakMap<object, TrafficView>()

/** The traffic log as a test reads it: typed entries, and texts that tell the story. */
export class TrafficView {
  readonly #traffic: Traffic

  constructor(
    traffic: Traffic,
    readonly context: TrafficContext = {},
  ) {
    this.#traffic = traffic
    views.set(traffic, this)
  }

  /** The view that was made for a log; for code that only holds the log itself, such as a matcher over the store. */
  static of(traffic: object): TrafficView | undefined {
    return traffic instanceof TrafficView ? traffic : views.get(traffic)
  }

  get entries(): readonly Entry[] {
    return this.#traffic.entries
  }

  get size(): number {
    return this.#traffic.size
  }

  /** All entries of one type: `request`, `command`, `published`, `attempt` … */
  of<T extends EntryType>(type: T): readonly EntryOf<T>[] {
    return this.#traffic.of(type)
  }

  /** Every entry about one message, oldest first. */
  about(messageId: string): readonly Entry[] {
    return this.#traffic.about(messageId)
  }

  find(seq: number): Entry | undefined {
    return this.#traffic.find(seq)
  }

  filter<T extends Entry>(wanted: (entry: Entry) => entry is T): T[]
  filter(wanted: (entry: Entry) => boolean): Entry[]
  filter(wanted: (entry: Entry) => boolean): Entry[] {
    return this.entries.filter(wanted)
  }

  /** Calls back on every new entry, and again when a request is answered or an attempt ends. */
  subscribe(listener: (entry: Entry) => void): () => void {
    return this.#traffic.subscribe(listener)
  }

  /** Forgets all entries; numbering goes on. */
  clear(): void {
    this.#traffic.clear()
  }

  /**
   * The story in virtual time, with the reason of every wait.
   * @example console.log(sandbox.traffic.timeline())
   */
  timeline(options?: TimelineOptions): string {
    return timeline(this.entries, options)
  }

  /** The story as a sequence diagram: plain text, or Mermaid with `{ format: 'mermaid' }`. */
  diagram(options: DiagramOptions = {}): string {
    return options.format === 'mermaid' ? mermaidDiagram(this.entries) : textDiagram(this.entries, options)
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.entries[Symbol.iterator]()
  }
}
