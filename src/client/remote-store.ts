import { bindMethods } from '../kernel/bind-methods.js'
import type { StoreDiff } from '../kernel/traffic-log.js'
import type { CommandArgs, PlainReply, Store } from '../store/direct-store.js'
import type { DumpedKey, StoreDump } from '../store/dump/store-dump.js'
import type { StoreCost } from '../store/meter.js'
import type { ControlClient } from './control-client.js'
import { type PortableReply, replyOfWire, wireArgument } from './portable-reply.js'
import type { StoreSnapshot } from './remote-snapshot.js'
import type { Remote } from './remote-type.js'

/** The data store of a tenant: `sandbox.store`. */
export class RemoteStore
  implements Remote<Store, 'run' | 'get' | 'dump' | 'load' | 'diff' | 'diagnostics' | 'cost' | 'resetPassword'>
{
  static {
    bindMethods(RemoteStore)
  }

  readonly #wire: ControlClient
  readonly #refresh: () => Promise<void>
  readonly #snapshot: () => Promise<{ readonly store: StoreSnapshot }>

  /** @internal */
  constructor(
    wire: ControlClient,
    refresh: () => Promise<void>,
    snapshot: () => Promise<{ readonly store: StoreSnapshot }>,
  ) {
    this.#wire = wire
    this.#refresh = refresh
    this.#snapshot = snapshot
  }

  /**
   * Runs one command and returns its reply. Rejects with a `ReplyError` when the reply is an error.
   * @example await sandbox.store.run('SET', 'greeting', 'hello', 'EX', 60) // 'OK'
   */
  async run(...argv: CommandArgs): Promise<PlainReply> {
    const { reply } = (await this.#wire.post('/store/run', { command: argv.map(wireArgument) })) as {
      reply: PortableReply
    }
    return replyOfWire(reply)
  }

  /**
   * Returns the value of a string key as text, or `null` if the key does not exist.
   * @example
   * await sandbox.store.run('SET', 'greeting', 'hello')
   * expect(await sandbox.store.get('greeting')).toBe('hello')
   */
  async get(key: string | Uint8Array): Promise<string | null> {
    return ((await this.#wire.post('/store/get', { key: wireArgument(key) })) as { value: string | null }).value
  }

  /**
   * Returns all data in the store, as plain JSON.
   * @example writeFileSync('store.json', JSON.stringify(await sandbox.store.dump()))
   */
  async dump(): Promise<StoreDump> {
    return (await this.#wire.get('/store/dump')) as StoreDump
  }

  /**
   * Replaces all data in the store with a dump.
   * @example
   * const dump = await sandbox.store.dump()
   * await sandbox.store.load(dump)
   */
  async load(dump: StoreDump): Promise<void> {
    await this.#wire.send('PUT', '/store/dump', dump)
  }

  /**
   * Returns the differences between an earlier dump and the present data.
   * @example
   * const before = await sandbox.store.dump()
   * await checkout()
   * expect((await sandbox.store.diff(before)).added).toHaveLength(1)
   */
  async diff(before: StoreDump): Promise<StoreDiff<DumpedKey>> {
    return (await this.#wire.post('/store/diff', { before })) as StoreDiff<DumpedKey>
  }

  /** Messages about commands that the service may treat differently. */
  get diagnostics(): Promise<readonly string[]> {
    return this.#wire.get('/store/diagnostics') as Promise<readonly string[]>
  }

  /**
   * Returns the billed commands and bytes.
   * @example const { commands } = await sandbox.store.cost()
   */
  async cost(): Promise<StoreCost> {
    return (await this.#wire.get('/store/cost')) as StoreCost
  }

  /**
   * Replaces both tokens of the data store and returns the new ones.
   * @example const { standard } = await sandbox.store.resetPassword()
   */
  async resetPassword(): ReturnType<Remote<Store, 'resetPassword'>['resetPassword']> {
    const tokens = (await this.#wire.post('/store/reset-password')) as ReturnType<Store['resetPassword']>
    await this.#refresh()
    return tokens
  }

  /**
   * Returns a copy of the store and its traffic, for matchers.
   * @example
   * await sandbox.store.run('SET', 'cart:1', '{}', 'EX', 3600)
   * expect(await sandbox.store.snapshot()).toHaveKey('cart:1', { ttl: '1h' })
   */
  async snapshot(): Promise<StoreSnapshot> {
    return (await this.#snapshot()).store
  }
}
