import { type Bytes, text } from '../../kernel/bytes.js'
import { endOfTime, iso } from '../../kernel/instant.js'
import type { Timer } from '../../kernel/time.js'
import type { Work } from '../../kernel/work.js'
import type { User } from '../access/user.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import type { CommandDescription } from '../command/command-description.js'
import { costOfNames, maxConnectionBytes } from '../command/connection-memory.js'
import { replyError } from '../command/errors.js'
import { type Reply, ReplyError } from '../command/reply.js'
import type { Database, EventClass } from '../keyspace/database.js'
import type { StoreClock } from '../keyspace/store-clock.js'
import { Stream } from '../values/stream-value.js'
import { Blocked, type CommandClient, type WaitEnd } from './blocked.js'

/** Part of the store that blocked commands use. `executePart` receives the command that `lookup` returned. */
interface WaitingStore {
  readonly db: Database
  readonly work: Work
  readonly meter: { pause<T>(run: () => T): T }
  readonly options: {
    readonly clock: StoreClock
    readonly answered?: () => void
    readonly awaited?: (command: string, isWaiting: () => boolean) => void
  }
  lookup(argv: readonly Bytes[]): CommandDescription
  executePart(command: CommandDescription, argv: readonly Bytes[], user: User, origin?: string): Reply
  atOwnCost<T>(run: () => T): T
  awaitExpiry(isAwaited: boolean): void
}

/**
 * Resources of a wait: its timer, and the sleep of the task that awaits the reply. They are released when the wait
 * ends.
 */
interface Companions {
  readonly alarm: Timer | undefined
  readonly rouse: (() => void) | undefined
}

/**
 * Blocked commands by the keys that they wait for. The client that has waited longest for a key is served first.
 * Clients are served after the command, transaction or script that added elements has finished. [redis 7.0]
 */
export class BlockedClients {
  /** Number of blocked commands. It is a plain field instead of a getter, because every command reads it. */
  size = 0
  readonly #store: WaitingStore
  /**
   * Blocked commands by key, longest wait first. If only one command waits for a key, the command is stored without a
   * set. This saves memory when there are very many keys.
   */
  #byKey = new Map<Bytes, Blocked | Set<Blocked>>()
  /**
   * Ended waits that `#byKey` still lists. Each step removes only a few of them, so no step takes long, even after many
   * waits for very many keys have ended at the same time.
   */
  #leaving: { readonly blocked: Blocked; at: number }[] = []
  readonly #all = new Map<Blocked, Companions>()
  /**
   * Number of blocked commands that read a consumer group. When the stream expires, such a command must be served as
   * well.
   */
  #inGroups = 0
  /** Keys that may have elements for blocked commands, in the order of the changes. */
  #ready = new Set<Bytes>()
  #isHeld = false
  #isTransaction = false
  /** Listeners to call after all clients were served. */
  readonly #untold: (() => void)[] = []
  /**
   * Whether the running command may wait. If the command finds no element, the command stores its request in `#want`.
   */
  #mayWait = false
  #want: BlockingRequest | undefined
  #took: readonly Bytes[] | undefined

  constructor(store: WaitingStore) {
    this.#store = store
  }

  /** Blocked commands, longest wait first. */
  get blocked(): readonly Blocked[] {
    return [...this.#all.keys()]
  }

  /** Readable descriptions of the blocked commands. */
  get names(): readonly { readonly name: string; readonly hasTimer: boolean }[] {
    return [...this.#all].map(([blocked, { alarm }]) => ({ name: nameOf(blocked), hasTimer: alarm !== undefined }))
  }

  /**
   * Non-blocking command that took an element on behalf of the last blocking command. `undefined` if no such command
   * ran.
   */
  get took(): readonly Bytes[] | undefined {
    return this.#took
  }

  /** Whether a blocked client can possibly be served. */
  get isDue(): boolean {
    return this.#ready.size > 0 && !this.#isHeld
  }

  /**
   * Runs a command that may wait. The caller has already looked up the command and checked the permissions. If the
   * command finds no element, it waits.
   */
  begin(command: CommandDescription, argv: readonly Bytes[], user: User, client: CommandClient): Reply | Blocked {
    this.#took = undefined
    // Commands called by a script do not wait.
    this.#mayWait = !this.#isTransaction && !command.flags.includes('scripting')
    try {
      const reply = this.#store.executePart(command, argv, user, client.address ?? anybody)
      return this.#want === undefined ? reply : this.#enqueue(argv, user, this.#want, client)
    } finally {
      this.#mayWait = false
      this.#want = undefined
    }
  }

  get isTransaction(): boolean {
    return this.#isTransaction
  }

  /**
   * Takes an element from the first key that has one. If no key has an element, the running command waits, or returns
   * its empty reply if the command cannot wait. Called by commands.
   */
  takeOrWait(want: BlockingRequest, user: User): Reply {
    const { db, work } = this.#store
    work.charge(unitsPerKey * want.keys.length)
    for (const key of want.keys) {
      if (!db.has(key)) continue
      const reply = this.#take(want, key, user)
      if (reply === undefined) continue
      this.#took = want.take(key)
      return reply
    }
    return this.waitFor(want)
  }

  /**
   * Makes the running command wait after it found no element. If the command cannot wait, returns its empty reply.
   * Called by commands.
   */
  waitFor(want: BlockingRequest): Reply {
    if (this.#mayWait) {
      this.#store.work.charge(unitsPerWait * want.keys.length)
      this.#want = want
    }
    return want.atOnce === undefined ? want.nothing : want.atOnce
  }

  /** Runs a function, and serves blocked clients only after it has returned. */
  after<T>(run: () => T): T {
    if (this.#isHeld) return run()
    this.#isHeld = true
    try {
      return run()
    } finally {
      this.#isHeld = false
      this.serve()
      if (this.#leaving.length > 0) this.#tidy(tidied)
      this.#tellAll()
    }
  }

  /**
   * Runs a transaction. A command of the transaction that finds no element does not wait. Its reply is `atOnce` of its
   * request if set, otherwise the reply after its timeout.
   */
  transaction<T>(run: () => T): T {
    const outer = this.#isTransaction
    this.#isTransaction = true
    try {
      return this.after(run)
    } finally {
      this.#isTransaction = outer
    }
  }

  /** Records an event that may have added an element to a key. */
  record(eventClass: EventClass, event: string, key: Bytes): void {
    if (!this.#byKey.has(key) || this.#ready.has(key)) return
    // Other events of a stream neither add entries nor delete a group.
    if (eventClass === 't' && event !== 'xadd' && event !== 'xgroup-destroy') return
    const type = this.#store.db.typeNow(key)
    for (const { want } of this.#waitersAt(key)) {
      if (want.type !== type && want.group === undefined) continue
      this.#ready.add(key)
      return
    }
  }

  /** Records that all keys were deleted by one command. */
  cleared(): void {
    if (this.#inGroups === 0) return
    for (const key of this.#byKey.keys()) {
      for (const { want } of this.#waitersAt(key)) if (want.group !== undefined) this.#ready.add(key)
    }
  }

  serve(): void {
    if (!this.isDue) return
    this.#isHeld = true
    try {
      // Serving a client can make further keys ready, for example by BLMOVE. Those keys are served after all keys that
      // were ready before.
      while (this.#ready.size > 0) {
        const keys = this.#ready
        this.#ready = new Set()
        for (const key of keys) this.#serveKey(key)
      }
    } finally {
      this.#isHeld = false
      this.#tellAll()
    }
  }

  /**
   * Ends all waits with an error. Called when the sandbox is disposed, or when it continues without its clients.
   * @param error creates the error of one wait; an error is expensive, and most sandboxes have no waits
   */
  close(error: () => Error): void {
    for (const blocked of this.blocked) blocked.finish({ error: error() })
  }

  /** Ends the waits of a client whose connection was closed. */
  leave(client: CommandClient): void {
    for (const blocked of this.blocked) if (blocked.client === client) blocked.cancel()
  }

  #waitersAt(key: Bytes): Iterable<Blocked> {
    const waiters = this.#byKey.get(key)
    if (waiters === undefined) return []
    return waiters instanceof Set ? waiters : [waiters]
  }

  #serveKey(key: Bytes): void {
    for (const blocked of this.#waitersAt(key)) {
      const type = this.#store.db.typeNow(key)
      const { want } = blocked
      if (blocked.end !== undefined) continue
      if (want.type !== type) {
        if (want.group !== undefined) blocked.finish({ error: replyError('streamGone') })
        continue
      }
      if (want.group !== undefined && !this.#hasGroup(key, want.group))
        blocked.finish({ error: replyError('groupGone') })
      else this.#serveAt(key, blocked)
    }
  }

  #hasGroup(key: Bytes, group: Bytes): boolean {
    const stream = this.#store.db.value(key)
    return stream instanceof Stream && stream.groups.has(group)
  }

  #serveAt(key: Bytes, blocked: Blocked): void {
    const { want, user, witness } = blocked
    const take = (): WaitEnd | undefined => {
      try {
        const reply = this.#take(want, key, user)
        return reply === undefined ? undefined : { reply }
      } catch (error) {
        if (error instanceof ReplyError) return { error }
        throw error
      }
    }
    const end = this.#store.atOwnCost(() => (witness === undefined ? take() : witness.during(take)))
    if (end !== undefined) blocked.finish(end, 'reply' in end ? want.take(key) : undefined)
  }

  #take(want: BlockingRequest, key: Bytes, user: User): Reply | undefined {
    const store = this.#store
    const argv = want.take(key)
    // Only the blocking command that the client sent is billed, not this one.
    const reply = store.meter.pause(() => store.executePart(store.lookup(argv), argv, user))
    return want.told(reply, key)
  }

  #enqueue(argv: readonly Bytes[], user: User, want: BlockingRequest, client: CommandClient): Blocked {
    const size = costOfNames(want.keys)
    if ((client.kept ?? 0) + size > maxConnectionBytes) throw replyError('outOfMemory')
    const blocked = new Blocked(argv, user, want, client, size, this)
    // Each new wait removes ended waits from twice as many keys as it adds. The list of ended waits therefore stays
    // short.
    this.#tidy(2 * want.keys.length)
    for (const key of want.keys) {
      const waiters = this.#byKey.get(key)
      if (waiters === undefined) this.#byKey.set(key, blocked)
      else if (waiters instanceof Set) waiters.add(blocked)
      else if (waiters !== blocked) this.#byKey.set(key, new Set([waiters, blocked]))
    }
    this.#all.set(blocked, { alarm: this.#alarmOf(blocked), rouse: client.task?.fallAsleep?.() })
    this.size = this.#all.size
    if (want.group !== undefined && ++this.#inGroups === 1) this.#store.awaitExpiry(true)
    if (want.timeout > 0) {
      this.#store.options.awaited?.(`a command (${argv[0]!.toUpperCase()})`, () => blocked.end === undefined)
    }
    return blocked
  }

  #alarmOf(blocked: Blocked): Timer | undefined {
    const { clock } = this.#store.options
    const { timeout } = blocked.want
    const at = clock.now() + timeout
    // The clock ends at `endOfTime`, so it never reaches a later timeout.
    if (timeout === 0 || at > endOfTime) return undefined
    // Workers may begin a new wait after each timeout. A drain must end nevertheless, so it does not wait for this
    // timer.
    const awaited = !(clock.isDraining === true && clock.mode !== 'auto')
    const timeIsUp = (): void => void blocked.finish({ reply: blocked.want.nothing })
    return clock.schedule?.(at, `${nameOf(blocked)} waits until ${iso(at)}`, timeIsUp, { awaited })
  }

  forget(blocked: Blocked): void {
    const companions = this.#all.get(blocked)
    this.#all.delete(blocked)
    this.size = this.#all.size
    this.#leaving.push({ blocked, at: 0 })
    if (this.size > 0) this.#tidy(tidied)
    else {
      this.#byKey = new Map()
      this.#leaving = []
    }
    if (blocked.want.group !== undefined && --this.#inGroups === 0) this.#store.awaitExpiry(false)
    companions?.alarm?.cancel()
    companions?.rouse?.()
  }

  /** Removes ended waits from the lists of at most this many keys. */
  #tidy(keys: number): void {
    let left = keys
    for (let last = this.#leaving.at(-1); last !== undefined && left > 0; last = this.#leaving.at(-1)) {
      const { blocked } = last
      const { keys: all } = blocked.want
      for (; last.at < all.length && left > 0; left--) {
        const key = all[last.at++]!
        const waiters = this.#byKey.get(key)
        const isLast = waiters === blocked || (waiters instanceof Set && waiters.delete(blocked) && waiters.size === 0)
        if (isLast) this.#byKey.delete(key)
      }
      if (last.at === all.length) this.#leaving.pop()
    }
  }

  /** Calls the listener after all clients were served, or immediately if no client is being served. */
  tell(listener: () => void): void {
    this.#untold.push(listener)
    if (!this.#isHeld) this.#tellAll()
  }

  #tellAll(): void {
    while (!this.#isHeld && this.#untold.length > 0) {
      this.#store.options.answered?.()
      this.#untold.shift()!()
    }
  }
}

/** Address that MONITOR shows for clients without one. [store.md 5.1] */
const anybody = '0.0.0.0:0'

const maxKey = 40

/** Number of keys from which ended waits are removed in one step. */
const tidied = 1_000

/**
 * Units of work for checking one key for an element. `unitsPerWait` is for beginning and ending a wait for one key.
 * [measured]
 */
const unitsPerKey = 4
const unitsPerWait = 28

/** Returns a readable name such as `BLPOP jobs, mails`. */
function nameOf({ argv, want }: Blocked): string {
  const keys = want.keys.slice(0, 3).map((key) => {
    const shown = text(key).replace(/[\p{Cc}\p{Cf}]/gu, '�')
    return shown.length > maxKey ? `${shown.slice(0, maxKey)}…` : shown
  })
  if (want.keys.length > keys.length) keys.push('…')
  return [argv[0]!.toUpperCase(), keys.join(', ')].filter(Boolean).join(' ')
}
