import { Account } from './account.js'
import type { Duration } from './duration.js'
import { milliseconds } from './duration.js'
import { type HeaderList, LatestHeaders } from './http.js'
import type { Task } from './time.js'
import { weightOf, weightOfHeaders, weightOfWords } from './weight.js'

/** How far a world had come when an input met it. */
export interface JournalPosition {
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  /** `seq` of the latest entry of its log. */
  readonly log: number
  /** Entries that had ended. */
  readonly ended: number
  /** Timers that had been set. */
  readonly timers: number
}

/** A request as it was, its body read. */
export interface JournaledRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: string
}

/** Words of one char a byte. */
export interface JournaledCommand {
  readonly rows: readonly (readonly string[])[]
  readonly isTransaction: boolean
  readonly user: string
  readonly via: string
  readonly cause: number | undefined
}

/** As CLIENT UNBLOCK says it, or because the connection is gone. */
export type Unblocking = 'TIMEOUT' | 'ERROR' | 'closed'

/** A call of a public method. */
export type JournaledCall<Args extends readonly unknown[] = readonly unknown[]> = readonly [method: string, ...Args]

/** The way from a sandbox to what is called: properties by name, and calls, the last of which is the input. */
export type CallPath = readonly (string | JournaledCall)[]

/** Everything that comes into a world, by kind. */
export interface InputKinds {
  /** To one of the services. */
  readonly request: JournaledRequest
  /** Somebody gave up the request of this number, or left its stream. */
  readonly aborted: number
  /** Whoever made the request of this number was gone before it began. */
  readonly gone: number
  readonly left: number
  /** To a foreign host, and who was taken for its caller; and why the app had given it up before it began, if it had. */
  readonly call: JournaledRequest & { readonly caller: object; readonly gone?: { readonly reason: unknown } }
  /** The app gave up the call of this number. */
  readonly gaveUp: { readonly call: number; readonly reason: unknown }
  /** A method of a public object that changes something. */
  readonly direct: CallPath
  /** A command of a connection, which may wait; or the rows of a transaction. */
  readonly command: JournaledCommand
  /** The wait of this command, by its number, was ended from outside. */
  readonly unblocked: { readonly command: number; readonly how: Unblocking }
  /** What this package did to an engine, past the public objects; it is done to the sandbox that it is given. */
  readonly acted: (sandbox: never) => unknown
  /** Somebody looked for a key, and found that it had expired. */
  readonly looked: string
  /** A timer, by its number. */
  readonly fired: number
  /** The same while time moved until nothing was left. */
  readonly drained: number
  /** A call that moves time began, or ended. */
  readonly moving: 'advance' | 'advanceTo' | 'drain'
  readonly moved: undefined
  /** The work that had begun last has returned: what, or `undefined` for a promise. What it did before came before. */
  readonly returned: unknown
  /** The promise of work, by its number, has settled. */
  readonly settled: { readonly work: number; readonly value: unknown }
  /** It sleeps in virtual time. */
  readonly slept: { readonly work: number; readonly wait: number }
  /** It, by its number, awaits something that happens in the world, or does no longer. */
  readonly asleep: number
  readonly awake: number
  /** The world before is another one, and the fork goes on from here as this says. */
  readonly forked: ForkChanges
  /** Work that was under way there goes on as it did there. */
  readonly resumed: undefined
  /** Somebody else has the world from here on: the move of time that was under way is over, work outside begins anew. */
  readonly takenOver: undefined
  /** The host's clock had a say in what a task, by its number, counts as. */
  readonly rested: { readonly task: number; readonly as: 'given up' | 'dozing' | 'roused' }
}

/** What work outside does later: it sleeps so many milliseconds, or answers. */
export type KnownOutcome = { readonly at: number } & ({ readonly wait: number } | { readonly value: unknown })

/** What is different in a fork. */
export interface ForkChanges {
  /** By which rules know it. */
  readonly name: string | undefined
  /** Takes what nobody has registered, as far as it may reach. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly deliver: 'loopback' | 'none' | 'any' | readonly string[] | undefined
  /** What work that was under way is going to do, by its number. What never answered there does not answer here. */
  readonly foretold: ReadonlyMap<number, readonly KnownOutcome[]>
}

/** How work ended that failed. */
export class ThrownError {
  constructor(readonly error: unknown) {}
}

export type InputKind = keyof InputKinds
export type JournalInput = {
  readonly [K in InputKind]: JournalPosition & { readonly kind: K; readonly what: InputKinds[K] }
}[InputKind]

/** Work outside of the world: a handler, the network. */
export type OutsideWork = (task: Task) => unknown

/** What plays a journal again. */
export interface JournalPlayer {
  /** Work begins: plays what it did until it returned. */
  startWork(work: number, task: Task, run: OutsideWork): unknown
}

/** Hears of inputs as they come. */
export interface InputListener {
  input(input: JournalInput): void
  /** The last ones, so many, came within one step of the world, which is not to be parted. */
  held(count: number): void
}

/** What a world stands at. */
export interface ClockPosition {
  now(): number
  /**
   * The same for something that comes in, and for all that follows from it: time of the host stands still until its turn
   * is over, so that a replay reaches the same instant.
   */
  standStill(): number
  /** Timers that have been set. */
  timers(): number
}

/** What a log stands at. */
export interface LogPosition {
  readonly latest: number
  readonly ended: number
}

/** Inputs in order. Columns instead of objects: a delivery brings two, and costs little more. */
export class InputColumns {
  /** What the first ones are shared with, and how many. */
  #base: InputColumns | undefined
  #shared = 0
  #kinds: InputKind[] = []
  #whats: unknown[] = []
  #at: number[] = []
  #log: number[] = []
  #ended: number[] = []
  #timers: number[] = []
  /** Where work outside came in the middle of what the world did: the first input of it, and the one behind the last. */
  #within = new Map<number, number>()

  get length(): number {
    return this.#shared + this.#kinds.length
  }

  push(kind: InputKind, what: unknown, at: number, log: number, ended: number, timers: number): void {
    this.#kinds.push(kind)
    this.#whats.push(what)
    this.#at.push(at)
    this.#log.push(log)
    this.#ended.push(ended)
    this.#timers.push(timers)
  }

  /** `undefined` behind the last. */
  get(place: number): JournalInput | undefined {
    if (place < this.#shared) return this.#base?.get(place)
    const index = place - this.#shared
    const kind = this.#kinds[index]
    if (kind === undefined) return undefined
    const [at, log, ended, timers] = [this.#at[index], this.#log[index], this.#ended[index], this.#timers[index]]
    return { kind, what: this.#whats[index], at, log, ended, timers } as JournalInput
  }

  #kindOf(place: number): InputKind | undefined {
    if (place >= this.#shared) return this.#kinds[place - this.#shared]
    return this.#base === undefined ? undefined : this.#base.#kindOf(place)
  }

  /** What has been pushed since there were so many came within one step of the world, which is not to be parted. */
  markAtomic(from: number): void {
    if (this.length - from > 1) this.#within.set(from, this.length)
  }

  /** The same while the step is not over: work forks the world in the middle of it. */
  markAtomicOpen(from: number): void {
    if (this.length > from) this.#within.set(from, this.length)
  }

  /** Whether an input is the first that work outside brings: it comes when that begins, and not before. */
  isFromWork(place: number): boolean {
    return this.#kindOf(place) === 'returned' || this.#within.has(place)
  }

  /** The first place from this one on that is between two steps of the world. */
  between(place: number): number {
    let end = place
    for (const [from, to] of this.#within) if (from <= end && end < to) end = to
    while (this.#kindOf(end) === 'returned') end++
    return end === place ? place : this.between(end)
  }

  /** What came of one kind. */
  of<K extends InputKind>(kind: K): InputKinds[K][] {
    const found: InputKinds[K][] = []
    for (let place = 0; place < this.length; place++) {
      if (this.#kindOf(place) === kind) found.push(this.get(place)!.what as InputKinds[K])
    }
    return found
  }

  /** The first ones, to go on from. Both share them: nothing that was pushed ever changes. */
  first(count: number): InputColumns {
    const copy = new InputColumns()
    const own = count - this.#shared
    // A chain of forks stays short: each link has at least as many of its own as it shares.
    if (own <= 0 && this.#base !== undefined) return this.#base.first(count).#holding(this.#within, count)
    if (this.#base !== undefined && own < this.#shared) {
      copy.#base = this.#base
      copy.#shared = this.#shared
      copy.#kinds = this.#kinds.slice(0, own)
      copy.#whats = this.#whats.slice(0, own)
      copy.#at = this.#at.slice(0, own)
      copy.#log = this.#log.slice(0, own)
      copy.#ended = this.#ended.slice(0, own)
      copy.#timers = this.#timers.slice(0, own)
    } else {
      copy.#base = this
      copy.#shared = count
    }
    return copy.#holding(this.#within, count)
  }

  #holding(within: ReadonlyMap<number, number>, count: number): this {
    this.#within = new Map([...within].filter(([, to]) => to <= count))
    return this
  }
}

/** An input beside what came with it, in the columns. */
const inputBytes = 100

/**
 * What came into a world, in order, raw and in memory only: requests, direct calls, moves of time, answers from outside.
 * Played again, they make the same world.
 */
export class InputJournal {
  #inputs = new InputColumns()
  #requests = 0
  #calls = 0
  #works = 0
  #commands = 0
  #begunAt: number
  /** Since when it was too much to keep. */
  #fullAt: number | undefined
  #player: JournalPlayer | undefined
  listener: InputListener | undefined
  /** Work outside begins only when this has resolved, and never when it is refused. */
  gate: (() => Promise<void>) | undefined
  /** Work that has begun and not returned: where its inputs begin. */
  readonly #entered: number[] = []
  readonly #clock: ClockPosition
  readonly #log: LogPosition
  readonly #kept: Account
  readonly #headers = new LatestHeaders()
  /** Headers that many requests share weigh once. */
  #weighed: HeaderList | undefined
  /** What is kept beside the inputs is of no use without them. */
  onFull: (() => void) | undefined

  /** @param kept what it may hold: when it would be more, all is given up */
  constructor(clock: ClockPosition, log: LogPosition, kept: Account = new Account(Number.POSITIVE_INFINITY)) {
    this.#clock = clock
    this.#log = log
    this.#kept = kept
    this.#begunAt = clock.now()
  }

  /** When the world began, virtual time. */
  get begunAt(): number {
    return this.#begunAt
  }

  get inputs(): InputColumns {
    return this.#inputs
  }

  /** Bytes that it holds. */
  get held(): number {
    return this.#kept.held
  }

  /** When it was given up because it was too long, virtual time. */
  get fullAt(): number | undefined {
    return this.#fullAt
  }

  get attach(): JournalPosition {
    const { latest, ended } = this.#log
    return { at: this.#clock.now(), log: latest, ended, timers: this.#clock.timers() }
  }

  /** Work outside that has begun and not returned, which happens where that work asks. */
  get entered(): number {
    return this.#entered.length
  }

  /** Everything up to now. */
  copy(): InputColumns {
    const copy = this.#inputs.first(this.#inputs.length)
    for (const from of this.#entered) copy.markAtomicOpen(from)
    return copy
  }

  /** The world is whole: what comes from here on is an input. */
  begin(): void {
    this.#inputs = new InputColumns()
    this.#kept.release()
    this.#begunAt = this.#clock.now()
  }

  /** What follows is played, and already written. */
  play(player: JournalPlayer): void {
    this.#player = player
  }

  /** It was played: from here on it is written again, behind what was. */
  resume(inputs: InputColumns): void {
    this.#player = undefined
    this.#inputs = inputs
    for (let index = 0; index < inputs.length; index++) {
      const { kind, what } = inputs.get(index)!
      this.hold(inputBytes + this.#weigh(kind, what))
    }
  }

  /** Holds bytes beside the inputs, or gives everything up: without one the other is of no use. */
  hold(bytes: number): void {
    if (this.#fullAt !== undefined) return
    this.#kept.put(bytes)
    if (this.#kept.held > this.#kept.limit) this.#giveUp()
  }

  note<K extends InputKind>(kind: K, what: InputKinds[K]): void {
    if (this.#player !== undefined || (this.#fullAt !== undefined && this.listener === undefined)) return
    const { latest, ended } = this.#log
    const clock = this.#clock
    const [at, timers] = [clock.standStill(), clock.timers()]
    this.listener?.input({ kind, what, at, log: latest, ended, timers } as JournalInput)
    if (this.#fullAt !== undefined) return
    this.#inputs.push(kind, what, at, latest, ended, timers)
    this.hold(inputBytes + this.#weigh(kind, what))
  }

  /** @returns its number */
  request({ method, url, headers }: Omit<JournaledRequest, 'body'>, body: string): number {
    this.note('request', { method, url, headers: this.#headers.once(headers), body })
    return this.#requests++
  }

  /** @returns its number */
  command(kept: JournaledCommand): number {
    this.note('command', kept)
    return this.#commands++
  }

  /** @param bytes of what it brings */
  act(run: InputKinds['acted'], bytes: number): void {
    this.note('acted', run)
    this.hold(bytes)
  }

  /** @returns its number */
  call(kept: InputKinds['call']): number {
    this.note('call', kept)
    return this.#calls++
  }

  /**
   * Work outside of the world: a handler, the network. It is written how it returned, and how it ended; played again it
   * ends the same way, and is not called.
   */
  outside<T>(task: Task, work: (task: Task) => T | Promise<T>): T | Promise<T> {
    const number = this.#works++
    if (this.#player !== undefined) {
      const ended = this.#player.startWork(number, task, work)
      if (ended instanceof ThrownError) throw ended.error
      return ended as T | Promise<T>
    }
    const { gate } = this
    if (gate !== undefined) {
      this.note('returned', undefined)
      return this.#settles(number, this.#admitted(gate, number, task, work))
    }
    let result: T | Promise<T>
    const from = this.#inputs.length
    this.#entered.push(from)
    const returned = (what: unknown): void => {
      this.#entered.pop()
      this.note('returned', what)
      this.#inputs.markAtomic(from)
      this.listener?.held(this.#inputs.length - from)
    }
    try {
      result = work(new OutsideTask(task, number, this))
    } catch (error) {
      returned(new ThrownError(error))
      throw error
    }
    if (!(result instanceof Promise)) {
      returned(result)
      return result
    }
    returned(undefined)
    return this.#settles(number, result)
  }

  /** Does work again that had begun, and whose end nobody knows any more. It is written how it ends. */
  again(number: number, task: Task, work: OutsideWork): Promise<unknown> {
    const { gate = () => Promise.resolve() } = this
    return this.#settles(number, this.#admitted(gate, number, task, work))
  }

  async #admitted<T>(
    gate: () => Promise<void>,
    number: number,
    task: Task,
    work: (task: Task) => T | Promise<T>,
  ): Promise<T> {
    // The world of somebody who is not let in is another one's now: nothing comes of it.
    await gate().catch(() => new Promise<never>(() => {}))
    return work(new OutsideTask(task, number, this))
  }

  #settles<T>(work: number, result: Promise<T>): Promise<T> {
    return result.then(
      (value) => {
        this.note('settled', { work, value })
        return value
      },
      (error) => {
        this.note('settled', { work, value: new ThrownError(error) })
        throw error
      },
    )
  }

  /** What comes with an input. Moves, timers and numbers bring nothing that is not in the columns. */
  #weigh(kind: InputKind, what: unknown): number {
    switch (kind) {
      case 'request':
      case 'call': {
        const { url, headers, body } = what as JournaledRequest
        const weight = inputBytes + url.length + body.length
        if (headers === this.#weighed) return weight
        this.#weighed = headers
        return weight + weightOfHeaders(headers)
      }
      case 'command': {
        let weight = inputBytes
        for (const row of (what as JournaledCommand).rows) weight += weightOfWords(row)
        return weight
      }
      case 'direct':
      case 'looked':
      case 'returned':
      case 'settled':
        return weightOf(what)
      default:
        return 0
    }
  }

  /** Gives up now, where there is no memory. */
  forget(): void {
    if (this.#fullAt === undefined) this.#giveUp()
  }

  #giveUp(): void {
    this.#fullAt = this.#clock.now()
    this.#inputs = new InputColumns()
    this.#kept.release()
    this.onFull?.()
  }
}

/** The task of a handler: its sleeps are inputs, those of the engine are not. */
class OutsideTask implements Task {
  constructor(
    readonly task: Task,
    readonly work: number,
    readonly journal: InputJournal,
  ) {}

  get label(): string {
    return this.task.label
  }

  sleep(wait: Duration, signal?: AbortSignal): Promise<void> {
    const length = milliseconds(wait)
    this.journal.note('slept', { work: this.work, wait: length })
    return this.task.sleep(length, signal)
  }

  beside<T>(label: string, work: (task: Task) => Promise<T>): Promise<T> {
    return this.task.beside!(label, work)
  }

  fallAsleep(): () => void {
    this.journal.note('asleep', this.work)
    const rouse = this.task.fallAsleep!()
    return () => {
      this.journal.note('awake', this.work)
      rouse()
    }
  }
}
