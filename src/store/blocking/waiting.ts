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

/** The store as commands that wait see it. What `lookup` gives is what `executePart` is called with. */
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

/** What goes along with a wait until it ends: its alarm, and the sleep of the work that awaits it. */
interface Companions {
  readonly alarm: Timer | undefined
  readonly rouse: (() => void) | undefined
}

/**
 * Who waits for what: commands that found nothing, by the keys that they want. Whoever has waited longest for a key is
 * served first, after the whole command, transaction or script that brought something. [redis 7.0]
 */
export class BlockedClients {
  /** How many commands wait; a field, because every command looks at it. */
  size = 0
  readonly #store: WaitingStore
  /** In the order in which they began to wait. One alone has no set around it: there may be very many keys. */
  #byKey = new Map<Bytes, Blocked | Set<Blocked>>()
  /**
   * Those that have ended and still stand at their keys: they are taken away little by little, so that many who waited for
   * very many keys can leave at once.
   */
  #leaving: { readonly blocked: Blocked; at: number }[] = []
  readonly #all = new Map<Blocked, Companions>()
  /** How many of them wait in a consumer group: they are told when its stream expires. */
  #inGroups = 0
  /** Keys at which something may be had, in the order in which it came. */
  #ready = new Set<Bytes>()
  #isHeld = false
  #isTransaction = false
  /** Listeners of what has ended, while others are still being served. */
  readonly #untold: (() => void)[] = []
  /** Whether the command that runs now may wait, and what it then wants. */
  #mayWait = false
  #want: BlockingRequest | undefined
  #took: readonly Bytes[] | undefined

  constructor(store: WaitingStore) {
    this.#store = store
  }

  /** Those that wait, longest first. */
  get blocked(): readonly Blocked[] {
    return [...this.#all.keys()]
  }

  /** The same for people. */
  get names(): readonly { readonly name: string; readonly hasTimer: boolean }[] {
    return [...this.#all].map(([blocked, { alarm }]) => ({ name: nameOf(blocked), hasTimer: alarm !== undefined }))
  }

  /** The command that took something in the place of the last one that began; `undefined` where that did it itself. */
  get took(): readonly Bytes[] | undefined {
    return this.#took
  }

  /** Whether somebody can perhaps be served. */
  get isDue(): boolean {
    return this.#ready.size > 0 && !this.#isHeld
  }

  /** Runs a command that was looked up and permitted and may wait; it does where it found nothing. */
  begin(command: CommandDescription, argv: readonly Bytes[], user: User, client: CommandClient): Reply | Blocked {
    this.#took = undefined
    // What a script calls does not wait.
    this.#mayWait = !this.#isTransaction && !command.flags.includes('scripting')
    try {
      const reply = this.#store.executePart(command, argv, user, client.address ?? anybody)
      return this.#want === undefined ? reply : this.#enqueue(argv, user, this.#want, client)
    } finally {
      this.#mayWait = false
      this.#want = undefined
    }
  }

  /** Whether the commands of a transaction are run. */
  get isTransaction(): boolean {
    return this.#isTransaction
  }

  /** For the body of a command: takes what is there, key by key, and else waits where it may. */
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

  /** For the body of a command that found nothing. */
  waitFor(want: BlockingRequest): Reply {
    if (this.#mayWait) {
      this.#store.work.charge(unitsPerWait * want.keys.length)
      this.#want = want
    }
    return want.atOnce === undefined ? want.nothing : want.atOnce
  }

  /** Runs something between whose commands nobody is served. */
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

  /** The same for a transaction, in which nobody waits: who finds nothing is answered as if the time were over. */
  transaction<T>(run: () => T): T {
    const outer = this.#isTransaction
    this.#isTransaction = true
    try {
      return this.after(run)
    } finally {
      this.#isTransaction = outer
    }
  }

  /** Something happened at a key. */
  record(eventClass: EventClass, event: string, key: Bytes): void {
    if (!this.#byKey.has(key) || this.#ready.has(key)) return
    // Nothing else that happens to a stream brings entries, or takes a group away.
    if (eventClass === 't' && event !== 'xadd' && event !== 'xgroup-destroy') return
    const type = this.#store.db.typeNow(key)
    for (const { want } of this.#waitersAt(key)) {
      if (want.type !== type && want.group === undefined) continue
      this.#ready.add(key)
      return
    }
  }

  /** Everything was removed at once. */
  cleared(): void {
    if (this.#inGroups === 0) return
    for (const key of this.#byKey.keys()) {
      for (const { want } of this.#waitersAt(key)) if (want.group !== undefined) this.#ready.add(key)
    }
  }

  /** Gives whoever waits what there is. */
  serve(): void {
    if (!this.isDue) return
    this.#isHeld = true
    try {
      // What is made ready by serving, as by BLMOVE, comes after all that was ready before.
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

  /** The world is over, or goes on without its clients. */
  close(error: Error): void {
    for (const blocked of this.blocked) blocked.finish({ error })
  }

  /** A connection is gone. */
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
    // What is billed is the command that was sent.
    const reply = store.meter.pause(() => store.executePart(store.lookup(argv), argv, user))
    return want.told(reply, key)
  }

  #enqueue(argv: readonly Bytes[], user: User, want: BlockingRequest, client: CommandClient): Blocked {
    const size = costOfNames(want.keys)
    if ((client.kept ?? 0) + size > maxConnectionBytes) throw replyError('outOfMemory')
    const blocked = new Blocked(argv, user, want, client, size, this)
    // What has ended goes faster than new ones come.
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
    // A clock never gets to what lies behind its end.
    if (timeout === 0 || at > endOfTime) return undefined
    // Who waits again and again, as workers do, must not keep a drain going for ever.
    const awaited = !(clock.isDraining === true && clock.mode !== 'auto')
    const timeIsUp = (): void => void blocked.finish({ reply: blocked.want.nothing })
    return clock.schedule?.(at, `${nameOf(blocked)} waits until ${iso(at)}`, timeIsUp, { awaited })
  }

  /** One of them has ended. */
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

  /** Takes those that have ended away from so many keys. */
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

  /** What it leads to comes when everybody has been served. */
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

/** The address that MONITOR shows for every client without one. [store.md 5.1] */
const anybody = '0.0.0.0:0'

const maxKey = 40

/** Keys from which those that have ended are taken away at a time. */
const tidied = 1_000

/** To look at a key, and to begin and to end waiting for it. [measured] */
const unitsPerKey = 4
const unitsPerWait = 28

/** `BLPOP jobs, mails`: for the eyes of people. */
function nameOf({ argv, want }: Blocked): string {
  const keys = want.keys.slice(0, 3).map((key) => {
    const shown = text(key).replace(/[\p{Cc}\p{Cf}]/gu, '�')
    return shown.length > maxKey ? `${shown.slice(0, maxKey)}…` : shown
  })
  if (want.keys.length > keys.length) keys.push('…')
  return [argv[0]!.toUpperCase(), keys.join(', ')].filter(Boolean).join(' ')
}
