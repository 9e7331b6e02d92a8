import { bindMethods } from '../kernel/bind-methods.js'
import { type Bytes, latin1, text, toBase64 } from '../kernel/bytes.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { Random } from '../kernel/random.js'
import type { StoreDiff, TrafficLog } from '../kernel/traffic-log.js'
import type { Tokens } from './access/access-control.js'
import { type ConnectionOptions, StoreConnection } from './connection.js'
import { differenceOf, dumpOf, loadInto } from './dump/snapshot.js'
import type { DumpedKey, StoreDump } from './dump/store-dump.js'
import type { LoggedStore } from './logged-store.js'
import type { StoreCost } from './meter.js'
import { bytesOfWord, type CommandArgs, type PlainReply, plainReply } from './plain.js'
import type { RestStore } from './rest/store-front.js'
import { calledTooEarly, searchLoading } from './search/load-search.js'
import { SearchNotLoaded } from './search/stems.js'
import { storeInternals } from './store-internals.js'
import type { Language } from './values/search-definition.js'

export { type CommandArg, type CommandArgs, type PlainReply, plainReply } from './plain.js'

export type StoreEffects = MethodEffects<
  Store,
  {
    run: 'changes'
    loadSearch: 'reads'
    connect: 'reads'
    get: 'reads'
    dump: 'reads'
    load: 'changes'
    diff: 'reads'
    snapshot: 'reads'
    cost: 'reads'
    resetPassword: 'changes'
  }
>

/** Direct access to the store from a test, without HTTP, tokens, limits or billing. */
export class Store {
  static {
    bindMethods(Store)
  }

  /** Traffic log of the sandbox, which the matchers read. */
  readonly traffic: TrafficLog
  readonly #journal: LoggedStore
  readonly #inputs: InputRecorder<Changes<StoreEffects>>
  readonly #tokens: Random

  /**
   * @param front the limits and faults that apply to requests over REST
   * @param draws the random source for new tokens
   * @internal
   */
  constructor(
    journal: LoggedStore,
    front: RestStore,
    inputs: InputRecorder = unrecorded,
    draws: Random = journal.store.options.random,
  ) {
    this.#journal = journal
    this.#inputs = inputs
    storeInternals.attach(this, {
      engine: journal.store,
      commands: journal,
      front,
      inputs: inputs.journal,
      peek: (...words) => {
        const { access, meter } = journal.store
        return plainReply(meter.pause(() => journal.store.executeUnseen(words, access.standardUser)))
      },
    })
    this.traffic = journal.traffic
    this.#tokens = draws.fork('tokens')
  }

  /**
   * Runs one command and returns its reply.
   * @throws ReplyError when the reply is an error
   * @example sandbox.store.run('SET', 'greeting', 'hello', 'EX', 60) // 'OK'
   */
  run(...argv: CommandArgs): PlainReply {
    const call = this.#inputs.recordCall('run', argv)
    const { access, meter } = this.#journal.store
    const bytes: Bytes[] = []
    for (let at = 1; at < call.length; at++) bytes.push(bytesOfWord(call[at]!, at - 1))
    try {
      return plainReply(meter.pause(() => this.#journal.execute(bytes, access.standardUser, 'direct')))
    } catch (error) {
      if (error instanceof SearchNotLoaded) calledTooEarly.add(call)
      throw error
    }
  }

  /**
   * Loads the code that `run()` needs for SEARCH commands in these languages (default English). Also loads the code for
   * the indexes of a loaded dump. REST and connections load the code automatically.
   * @example
   * await sandbox.store.loadSearch('german')
   * sandbox.store.run('SEARCH.CREATE', 'books', 'ON', 'JSON', 'PREFIX', 1, 'book:', 'LANGUAGE', 'german', 'SCHEMA', 'title', 'TEXT')
   */
  async loadSearch(...languages: readonly Language[]): Promise<void> {
    await searchLoading(['search.', ...languages], this.#journal.store)
  }

  /**
   * Opens a connection, on which commands such as `BLPOP` and `XREAD BLOCK` may wait. A wait ends when another client
   * adds an element, or after a virtual timeout. `run()` and REST never wait.
   * @param options `task`: if a handler calls this, pass the task that the handler received. Virtual time can then move
   *   while a command waits.
   * @example
   * const worker = sandbox.store.connect()
   * const job = worker.run('BLPOP', 'jobs', 0)
   * sandbox.store.run('RPUSH', 'jobs', 'send mail')
   * await job // ['jobs', 'send mail']
   */
  connect(options: ConnectionOptions = {}): StoreConnection {
    checkOptionNames('store.connect()', options, { task: true })
    this.#inputs.warnIfOutdated('connect')
    return new StoreConnection(this.#journal, options)
  }

  /**
   * Returns the value of a string key as text, or `null` if the key does not exist. Writes no entry to the traffic log.
   * @example
   * sandbox.store.run('SET', 'greeting', 'hello')
   * expect(sandbox.store.get('greeting')).toBe('hello')
   */
  get(key: string | Uint8Array): string | null {
    this.#inputs.warnIfOutdated('get')
    const value = this.#journal.store.db.string(bytesOfWord(key))
    return value === undefined ? null : text(value)
  }

  /**
   * Returns the whole content of the store as plain JSON.
   * @example writeFileSync('store.json', JSON.stringify(sandbox.store.dump()))
   */
  dump(): StoreDump {
    return dumpOf(this.#journal.store.db)
  }

  /**
   * Replaces the content of the store with a dump, which may come from another sandbox.
   * @throws TypeError when `dump` is not the result of `dump()`
   * @example
   * const dump = sandbox.store.dump()
   * sandbox.store.run('SET', 'greeting', 'hello')
   * sandbox.store.load(dump)
   * expect(sandbox.store.get('greeting')).toBeNull()
   */
  load(dump: StoreDump): void {
    const [given] = this.#inputs.record('load', dump)
    this.#journal.store.waiting.after(() => {
      loadInto(this.#journal.store.db, given)
      this.#journal.loaded(given)
    })
  }

  /**
   * Returns what has changed since a dump.
   * @example
   * const before = sandbox.store.dump()
   * await checkout()
   * expect(sandbox.store.diff(before).added).toHaveLength(1)
   */
  diff(before: StoreDump): StoreDiff<DumpedKey> {
    return differenceOf(before, this.dump())
  }

  /**
   * Returns the store itself. A remote sandbox has a `snapshot()` that copies the store, so the same test code works
   * with both.
   * @example expect(await sandbox.store.snapshot()).not.toHaveKey('cart:1')
   */
  snapshot(): this {
    return this
  }

  /**
   * Notes about commands that were accepted although the service may reject them: undocumented commands, and `BLOCK`
   * over REST.
   */
  get diagnostics(): readonly string[] {
    return this.#journal.store.diagnostics.sentences
  }

  /**
   * Returns what the service would have billed so far.
   * @example
   * await redis.set('greeting', 'hello')
   * expect(sandbox.store.cost().commands).toBe(1)
   */
  cost(): StoreCost {
    return this.#journal.store.meter.spend()
  }

  /**
   * Resets the password, as the service's console does: revokes both tokens and returns the new ones.
   * @example
   * const { standard } = sandbox.store.resetPassword()
   * const client = new Redis({ url: sandbox.urls.store, token: standard })
   */
  resetPassword(): Tokens {
    this.#inputs.record('resetPassword')
    const tokens: Tokens = { standard: this.#token(), readOnly: this.#token() }
    this.#journal.store.access.replaceTokens(tokens)
    return tokens
  }

  /** Returns a new token. The token looks like tokens of the service: base64 of 48 bytes. */
  #token(): string {
    return toBase64(latin1(Array.from({ length: 48 }, () => String.fromCharCode(this.#tokens.int(256))).join('')))
  }
}
