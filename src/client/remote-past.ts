import { bindMethods } from '../kernel/bind-methods.js'
import type { StoreDiff } from '../kernel/traffic-log.js'
import type { PastInstant } from '../sandbox/past.js'
import type { CommandArgs, PlainReply } from '../store/direct-store.js'
import { differenceOf } from '../store/dump/snapshot.js'
import type { DumpedKey, StoreDump } from '../store/dump/store-dump.js'
import type { ControlClient } from './control-client.js'
import { type PortableReply, replyOfWire, wireArgument } from './portable-reply.js'

/** A read-only view of a data store at an earlier instant. */
export class RemotePastStore {
  static {
    bindMethods(RemotePastStore)
  }

  readonly #wire: ControlClient
  readonly #place: Promise<{ readonly at: PastInstant }>

  /** @internal */
  constructor(wire: ControlClient, place: Promise<{ readonly at: PastInstant }>) {
    this.#wire = wire
    this.#place = place
  }

  /**
   * Returns the value of a string key as text, or `null` if the key did not exist.
   * @example await sandbox.asOf('-5m').store.get('stock')
   */
  async get(key: string | Uint8Array): Promise<string | null> {
    return (await this.run('GET', key)) as string | null
  }

  /**
   * Runs one read-only command and returns its reply.
   * @example await sandbox.asOf('-5m').store.run('LRANGE', 'jobs', 0, -1)
   */
  async run(...argv: CommandArgs): Promise<PlainReply> {
    const answer = await this.#wire.post('/store/as-of', { ...(await this.#place), command: argv.map(wireArgument) })
    return replyOfWire((answer as { readonly reply: PortableReply }).reply)
  }

  /**
   * Returns all data that was stored at that instant, as plain JSON.
   * @example const { keys } = await sandbox.asOf('-5m').store.dump()
   */
  async dump(): Promise<StoreDump> {
    return ((await this.#wire.post('/store/as-of', { ...(await this.#place) })) as { readonly dump: StoreDump }).dump
  }

  /**
   * Returns the differences between an earlier dump and the data at this instant.
   * @example
   * const before = await sandbox.asOf('-5m').store.dump()
   * await sandbox.asOf('-1m').store.diff(before)
   */
  async diff(before: StoreDump): Promise<StoreDiff<DumpedKey>> {
    return differenceOf(before, await this.dump())
  }
}
