import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Glob, globMatcher, globOf } from '../../kernel/glob.js'
import { Work } from '../../kernel/work.js'
import { passwordWords } from '../../secrets/command-secrets.js'
import { costOfName } from '../command/connection-memory.js'

/**
 * Maximum bytes of a command that is shown to monitors. A longer command disconnects the monitors, like clients that
 * read too slowly.
 */
export const maxShown = 33_554_432

/** Placeholder that redis-server writes for passwords. */
const redacted = '"(redacted)"'

/** Message to subscribers, created once for all of them. */
export class PubSubMessage {
  #line: Bytes | undefined
  /** Kind, channel and payload of the message. A message to monitors has only one text. */
  readonly parts: readonly [kind: Bytes, ...rest: (Bytes | number)[]]

  constructor(kind: string, ...rest: readonly (Bytes | number)[]) {
    this.parts = [latin1(kind), ...rest]
  }

  /** The message as a line of an event stream. */
  get line(): Bytes {
    this.#line ??= latin1(this.parts.join(','))
    return this.#line
  }
}

/** Reader of an event stream, or a connection, as the store sees it. */
export interface Subscriber {
  /** Receives a message. Never waits and never throws, but may unsubscribe. */
  receive(message: PubSubMessage): void
  /**
   * Returns whether the user still has permission for all subscriptions of this subscriber. Called after every change
   * of users and tokens.
   */
  isWelcome(): boolean
  /** Ends the stream or connection from the side of the server. */
  dismiss(): void
}

/** All subscriptions of one subscriber. With this list, the subscriber can be removed without a search. */
interface Subscriptions {
  readonly channels: Set<Bytes>
  readonly patterns: Set<Bytes>
  /** Shard channels, which are counted separately. The double is a single node, so all shard channels belong to it. */
  readonly shards: Set<Bytes>
  /** Bytes of the names of the subscriber's channels and patterns. */
  kept: number
}

type Kind = 'channels' | 'patterns' | 'shards'

/** Names to which a subscriber is subscribed. */
export type SubscribedNames = Readonly<Record<Kind, readonly Bytes[]>>

function hear(heard: Subscriptions, kind: Kind, name: Bytes): void {
  if (heard[kind].has(name)) return
  heard[kind].add(name)
  heard.kept += costOfName(name)
}

/**
 * Returns the number of shard channels for the kind `shards`, otherwise the number of channels and patterns together.
 */
function sizeOf({ channels, patterns, shards }: Subscriptions, kind: Kind): number {
  return kind === 'shards' ? shards.size : channels.size + patterns.size
}

interface Pattern {
  readonly matches: Glob
  readonly subscribers: Set<Subscriber>
}

/** Error for a channel whose comparison with patterns takes more work than the budget for the events of one request. */
class PatternTooCostly extends Error {}

/** Subscriptions to channels, patterns and the feed of all commands. [store.md 5] */
export class PubSub {
  readonly #channels = new Map<Bytes, Set<Subscriber>>()
  readonly #patterns = new Map<Bytes, Pattern>()
  readonly #shards = new Map<Bytes, Set<Subscriber>>()
  /** Subscribers to the feed of all commands. */
  readonly monitors: Set<Subscriber> = new Set()
  readonly #everybody = new Map<Subscriber, Subscriptions>()

  /** Subscribes to channels and confirms each with the number of subscriptions so far. */
  subscribe(subscriber: Subscriber, names: readonly Bytes[], kind: 'channels' | 'shards' = 'channels'): void {
    const heard = this.#welcome(subscriber)
    const all = kind === 'shards' ? this.#shards : this.#channels
    for (const name of names) {
      const subscribers = all.get(name) ?? new Set()
      all.set(name, subscribers.add(subscriber))
      hear(heard, kind, name)
      subscriber.receive(new PubSubMessage(kind === 'shards' ? 'ssubscribe' : 'subscribe', name, sizeOf(heard, kind)))
    }
  }

  /** @param work is charged for parsing the patterns */
  subscribeToPatterns(subscriber: Subscriber, patterns: readonly Bytes[], work?: Work): void {
    const heard = this.#welcome(subscriber)
    for (const pattern of patterns) {
      const entry = this.#patterns.get(pattern) ?? { matches: globOf(pattern, work), subscribers: new Set() }
      entry.subscribers.add(subscriber)
      this.#patterns.set(pattern, entry)
      hear(heard, 'patterns', pattern)
      subscriber.receive(new PubSubMessage('psubscribe', pattern, sizeOf(heard, 'patterns')))
    }
  }

  /**
   * Ends subscriptions to these channels or patterns, or to all of them. Returns the ended subscriptions and the number
   * of remaining ones.
   */
  unsubscribe(
    subscriber: Subscriber,
    kind: Kind,
    names?: readonly Bytes[],
  ): readonly { readonly name: Bytes | null; readonly left: number }[] {
    const heard = this.#everybody.get(subscriber)
    if (heard === undefined) return (names ?? [null]).map((name) => ({ name, left: 0 }))
    const all = names ?? [...heard[kind]]
    const ended = all.map((name) => {
      if (heard[kind].delete(name)) {
        heard.kept -= costOfName(name)
        this.#forget(subscriber, kind, name)
      }
      return { name, left: sizeOf(heard, kind) }
    })
    const isSilent = heard.channels.size + heard.patterns.size + heard.shards.size === 0
    if (isSilent && !this.monitors.has(subscriber)) this.#everybody.delete(subscriber)
    return ended.length === 0 ? [{ name: null, left: sizeOf(heard, kind) }] : ended
  }

  /** Returns the names to which a subscriber is subscribed. */
  namesOf(subscriber: Subscriber): SubscribedNames {
    const { channels = [], patterns = [], shards = [] } = this.#everybody.get(subscriber) ?? {}
    return { channels: [...channels], patterns: [...patterns], shards: [...shards] }
  }

  countOf(subscriber: Subscriber): number {
    const heard = this.#everybody.get(subscriber)
    return heard === undefined ? 0 : sizeOf(heard, 'channels') + heard.shards.size
  }

  keptFor(subscriber: Subscriber): number {
    return this.#everybody.get(subscriber)?.kept ?? 0
  }

  monitor(subscriber: Subscriber): void {
    this.#welcome(subscriber)
    this.monitors.add(subscriber)
    subscriber.receive(new PubSubMessage('"OK"'))
  }

  leave(subscriber: Subscriber): void {
    const hearing = this.#everybody.get(subscriber)
    if (hearing === undefined) return
    this.#everybody.delete(subscriber)
    this.monitors.delete(subscriber)
    for (const channel of hearing.channels) this.#forget(subscriber, 'channels', channel)
    for (const pattern of hearing.patterns) this.#forget(subscriber, 'patterns', pattern)
    for (const shard of hearing.shards) this.#forget(subscriber, 'shards', shard)
  }

  #forget(subscriber: Subscriber, kind: Kind, name: Bytes): void {
    const all = kind === 'channels' ? this.#channels : kind === 'shards' ? this.#shards : this.#patterns
    const found = all.get(name)
    const subscribers = found !== undefined && 'subscribers' in found ? found.subscribers : found
    if (subscribers?.delete(subscriber) && subscribers.size === 0) all.delete(name)
  }

  /**
   * Remaining work for comparing the channels of keyspace events with patterns. These events have their own budget,
   * because no client publishes them.
   */
  readonly #attention = new Work(Number.POSITIVE_INFINITY, () => new PatternTooCostly())

  /**
   * Sets the work budget for the events of a new request.
   * @param units the units of work
   */
  attend(units: number): void {
    this.#attention.left = units
  }

  /**
   * Publishes a message and returns the number of deliveries: a subscriber that matches twice counts twice. If matching
   * costs too much, nothing is delivered.
   */
  publish(channel: Bytes, payload: Bytes, work: Work): number {
    work.charge(this.#patterns.size)
    const heard = [...this.#patterns].filter(([, { matches }]) => matches(channel, work))
    let delivered = this.#tellChannel(channel, payload)
    for (const [pattern, { subscribers }] of heard) {
      delivered += subscribers.size
      tell(subscribers, new PubSubMessage('pmessage', pattern, channel, payload))
    }
    return delivered
  }

  /**
   * Publishes a keyspace event. The command has already run and cannot fail. If a pattern costs too much work, the
   * subscribers of this pattern are disconnected, like subscribers that read too slowly.
   */
  announce(channel: Bytes, payload: Bytes): void {
    this.#tellChannel(channel, payload)
    for (const [pattern, { matches, subscribers }] of this.#patterns) {
      try {
        if (!matches(channel, this.#attention)) continue
        tell(subscribers, new PubSubMessage('pmessage', pattern, channel, payload))
      } catch (error) {
        if (!(error instanceof PatternTooCostly)) throw error
        for (const subscriber of subscribers) subscriber.dismiss()
      }
    }
  }

  #tellChannel(channel: Bytes, payload: Bytes): number {
    const subscribers = this.#channels.get(channel)
    if (subscribers === undefined) return 0
    const { size } = subscribers
    tell(subscribers, new PubSubMessage('message', channel, payload))
    return size
  }

  publishToShard(channel: Bytes, payload: Bytes): number {
    const subscribers = this.#shards.get(channel)
    if (subscribers === undefined) return 0
    const { size } = subscribers
    tell(subscribers, new PubSubMessage('smessage', channel, payload))
    return size
  }

  /** Shows a command to the monitors, without passwords. `origin` is a client's address, or `lua`. */
  show(argv: readonly Bytes[], now: number, origin: string): void {
    // For monitors, an escape can turn one byte into four. The line for a longer command could therefore be too long.
    if (argv.reduce((size, word) => size + word.length, 0) > maxShown) {
      for (const monitor of this.monitors) monitor.dismiss()
      return
    }
    const secrets = passwordWords(argv)
    const words = argv.map((word, index) => ` ${secrets.has(index) ? redacted : quoted(word)}`).join('')
    tell(this.monitors, new PubSubMessage(`${unixSeconds(now)} [0 ${origin}]${words}`))
  }

  /** Returns channels with subscribers, in order of subscription; patterns do not count. */
  channels(work: Work, pattern?: Bytes, kind: 'channels' | 'shards' = 'channels'): Bytes[] {
    const all = kind === 'shards' ? this.#shards : this.#channels
    work.charge(all.size)
    const channels = [...all.keys()]
    return pattern === undefined ? channels : channels.filter(globMatcher(pattern, work))
  }

  subscribersOf(channel: Bytes, kind: 'channels' | 'shards' = 'channels'): number {
    return (kind === 'shards' ? this.#shards : this.#channels).get(channel)?.size ?? 0
  }

  get patternCount(): number {
    return this.#patterns.size
  }

  /** Disconnects subscribers that lost their permission. */
  review(): void {
    for (const subscriber of this.#everybody.keys()) if (!subscriber.isWelcome()) subscriber.dismiss()
  }

  /** Ends all streams. */
  close(): void {
    for (const subscriber of this.#everybody.keys()) subscriber.dismiss()
  }

  #welcome(subscriber: Subscriber): Subscriptions {
    const hearing = this.#everybody.get(subscriber) ?? {
      channels: new Set(),
      patterns: new Set(),
      shards: new Set(),
      kept: 0,
    }
    this.#everybody.set(subscriber, hearing)
    return hearing
  }
}

function tell(subscribers: ReadonlySet<Subscriber>, message: PubSubMessage): void {
  for (const subscriber of subscribers) subscriber.receive(message)
}

/** Formats seconds as `1721284005.242000`. */
function unixSeconds(milliseconds: number): string {
  const microseconds = Math.floor(milliseconds * 1000)
  return `${Math.floor(microseconds / 1_000_000)}.${String(microseconds % 1_000_000).padStart(6, '0')}`
}

const shortEscapes: Record<string, string> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
}

function quoted(word: Bytes): string {
  const escaped = word.replace(
    /["\\]|[^\x20-\x7e]/g,
    (char) => shortEscapes[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `"${escaped}"`
}
