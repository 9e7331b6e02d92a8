import { detachable } from '../kernel/detachable.js'
import type { PastInstant } from '../sandbox/past.js'
import type { PlainReply, Word } from '../store/direct.js'
import type { StoreDifference, StoreDump } from '../store/dump/snapshot.js'
import { differenceOf } from '../store/dump/snapshot.js'
import type { RemoteForkOptions, RemoteSandbox } from './connect.js'
import type { ControlWire } from './wire.js'
import { replyOfWire, type WireReply, wireWord } from './wire-value.js'

/** What a tenant was at an instant, to be looked at. What the sandbox of a test gives at once, this promises. */
export class RemotePast {
  static {
    detachable(RemotePast)
  }

  /** The data store as it was. */
  readonly store: RemotePastStore
  readonly #fork: (options: Omit<RemoteForkOptions, 'at'>) => Promise<RemoteSandbox>

  /** Use `sandbox.at()`. */
  constructor(wire: ControlWire, instant: PastInstant, fork: (options: RemoteForkOptions) => Promise<RemoteSandbox>) {
    // Now: time goes on until somebody reads.
    const place = wire.post('/place', { at: instant }) as Promise<{ readonly at: PastInstant }>
    place.catch(() => {})
    this.store = new RemotePastStore(wire, place)
    this.#fork = async (options) => fork({ ...options, ...(await place) })
  }

  /** A tenant of its own that begins here. @throws Error when the tenant was reset or loaded since */
  fork(options: Omit<RemoteForkOptions, 'at'> = {}): Promise<RemoteSandbox> {
    return this.#fork(options)
  }
}

/** A data store as it was: whatever reads. */
export class RemotePastStore {
  static {
    detachable(RemotePastStore)
  }

  readonly #wire: ControlWire
  readonly #place: Promise<{ readonly at: PastInstant }>

  constructor(wire: ControlWire, place: Promise<{ readonly at: PastInstant }>) {
    this.#wire = wire
    this.#place = place
  }

  /** The value of a string key as text, `null` when there was none. */
  async get(key: string | Uint8Array): Promise<string | null> {
    return (await this.run('GET', key)) as string | null
  }

  /** Runs one command that only reads. */
  async run(...words: readonly Word[]): Promise<PlainReply> {
    const answer = await this.#wire.post('/store/at', { ...(await this.#place), command: words.map(wireWord) })
    return replyOfWire((answer as { readonly reply: WireReply }).reply)
  }

  /** Everything that was stored, as plain JSON. */
  async dump(): Promise<StoreDump> {
    return ((await this.#wire.post('/store/at', { ...(await this.#place) })) as { readonly dump: StoreDump }).dump
  }

  /** What was different from a dump, which came before. */
  async diff(before: StoreDump): Promise<StoreDifference> {
    return differenceOf(before, await this.dump())
  }
}
