import { Account } from './account.js'
import type { Duration } from './duration.js'
import { milliseconds } from './duration.js'
import { type HeaderList, LatestHeaders } from './http.js'
import type { Task } from './time.js'
import { weightOf, weightOfHeaders, weightOfWords } from './weight.js'

/** Position of an input in the history of a sandbox: what had already happened when the input arrived. */
export interface JournalPosition {
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the latest log entry. */
  readonly log: number
  /** Number of times that a log entry was completed, for example by the response to a request. */
  readonly ended: number
  /** Number of timers that had been added to the clock. */
  readonly timers: number
}

export interface JournaledRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: string
}

export interface JournaledCommand {
  readonly rows: readonly (readonly string[])[]
  readonly isTransaction: boolean
  readonly user: string
  readonly via: string
  readonly cause: number | undefined
  /** Name of the added database that the command ran on; absent for the first database. */
  readonly database?: string
}

/** Why a blocked command ended: `CLIENT UNBLOCK` with `TIMEOUT` or `ERROR` ended it, or its connection closed. */
export type Unblocking = 'TIMEOUT' | 'ERROR' | 'closed'

/** A call of a public method, with its name and arguments. */
export type JournaledCall<Args extends readonly unknown[] = readonly unknown[]> = readonly [method: string, ...Args]

/**
 * Path from the sandbox to a call of a public method, by which a replay repeats the call. A text is the name of a
 * property. A list is a method with its arguments. For example, `['store', ['load', dump]]` is
 * `sandbox.store.load(dump)`. The last call is the recorded input; earlier calls only return its object.
 */
export type CallPath = readonly (string | JournaledCall)[]

export interface InputKinds {
  readonly request: JournaledRequest
  /** Number of a request that its client aborted. */
  readonly aborted: number
  /** Number of a request whose client had disconnected before processing began. */
  readonly gone: number
  readonly left: number
  /**
   * Outbound request, and the task that probably sent it. If the app aborted the request before it was sent, `gone`
   * contains the reason of the abort.
   */
  readonly call: JournaledRequest & { readonly caller: object; readonly gone?: { readonly reason: unknown } }
  /** Outbound request, by number, that the app aborted after the request had begun. */
  readonly gaveUp: { readonly call: number; readonly reason: unknown }
  /** Call of a public method that changes something. */
  readonly direct: CallPath
  /** Command of a connection, or the commands of a transaction. The command may block. */
  readonly command: JournaledCommand
  /** Blocked command, by number. `CLIENT UNBLOCK` ended its wait, or its connection closed. */
  readonly unblocked: { readonly command: number; readonly how: Unblocking }
  /**
   * Change that code of this package made without a public method. A replay calls the function with its own sandbox.
   */
  readonly acted: (sandbox: never) => unknown
  /** Key that had expired when a command read it. */
  readonly looked: string
  /** Key of an added database that had expired when a command read it. */
  readonly lookedIn: { readonly database: string; readonly key: string }
  /** Timer that fired, by number. */
  readonly fired: number
  /** Timer that fired while time was draining, by number. */
  readonly drained: number
  /** Name of the method that begins to move the clock. The input `moved` records the end of this move. */
  readonly moving: 'advance' | 'advanceTo' | 'drain'
  readonly moved: undefined
  /**
   * Value that outside work returned, or `undefined` if it returned a promise. The work is the latest one that has
   * begun and not returned. Inputs that arrived before the work returned are before this input.
   */
  readonly returned: unknown
  /** Result of a promise that outside work had returned, by number of the work. */
  readonly settled: { readonly work: number; readonly value: unknown }
  /** Sleep of outside work, by number of the work, in milliseconds of virtual time. */
  readonly slept: { readonly work: number; readonly wait: number }
  /**
   * Number of the outside work that now begins to wait for something in the sandbox. The wait ends with the input
   * `awake`.
   */
  readonly asleep: number
  readonly awake: number
  /** Start of a fork. Earlier inputs belong to the original sandbox. */
  readonly forked: ForkChanges
  /** The work that was in flight at the start of a fork continues now. */
  readonly resumed: undefined
  /**
   * Another process has taken over the sandbox. The running clock move ends, and outside work that has not ended starts
   * again.
   */
  readonly takenOver: undefined
  /**
   * Task, by number, that from now on counts as asleep or awake. This change depends on host time, for example on a
   * stall timeout, so it must be recorded.
   */
  readonly rested: { readonly task: number; readonly as: 'given up' | 'dozing' | 'roused' }
}

/** What outside work does after the start of a fork: it sleeps for `wait` milliseconds, or ends with `value`. */
export type KnownOutcome = { readonly at: number } & ({ readonly wait: number } | { readonly value: unknown })

/** Settings in which a fork differs from the original sandbox. */
export interface ForkChanges {
  /** Name of the fork, for fault rules. */
  readonly name: string | undefined
  /** Function that receives deliveries to URLs without a destination, if `deliver` allows their hosts. */
  readonly fetch: typeof globalThis.fetch | undefined
  readonly deliver: 'loopback' | 'none' | 'any' | readonly string[] | undefined
  /**
   * For outside work that is in flight when the fork begins: its later sleeps and its result, by number of the work.
   * Work whose result was not recorded never ends in the fork.
   */
  readonly foretold: ReadonlyMap<number, readonly KnownOutcome[]>
}

/** Error that outside work threw, as a recorded result. */
export class ThrownError {
  constructor(readonly error: unknown) {}
}

export type InputKind = keyof InputKinds
export type JournalInput = {
  readonly [K in InputKind]: JournalPosition & { readonly kind: K; readonly what: InputKinds[K] }
}[InputKind]

/** Work outside the sandbox: it runs a handler or sends a network request. */
export type OutsideWork = (task: Task) => unknown

export interface JournalPlayer {
  /** Begins the outside work with this number. Replays its recorded inputs until the recorded work returned. */
  startWork(work: number, task: Task, run: OutsideWork): unknown
}

/** Receives each input when it is recorded. */
export interface InputListener {
  input(input: JournalInput): void
  /**
   * Reports that the last `count` inputs belong to one step of the sandbox. A reader of the journal must not separate
   * these inputs.
   */
  held(count: number): void
}

export interface ClockPosition {
  now(): number
  /**
   * Returns the time to record for an input, in milliseconds. Everything that results from the input has the same time.
   * In mode `real`, the result therefore stays the same within one turn of the host's event loop. So a replay of the
   * input can reach exactly this time.
   */
  standStill(): number
  /** Returns the number of timers that have been added so far. */
  timers(): number
}

export interface LogPosition {
  readonly latest: number
  readonly ended: number
}

/**
 * List of inputs. Each field of the inputs has its own array. One object per input would use more memory, and each
 * delivery adds two inputs.
 */
export class InputColumns {
  /**
   * List of another sandbox that begins with the same inputs. Its first `#shared` inputs are also the first inputs of
   * this list.
   */
  #base: InputColumns | undefined
  #shared = 0
  /** Kind of each input. For a call of a public method, the path to its object, which the calls of the object share. */
  #kinds: (InputKind | CallPath)[] = []
  #whats: unknown[] = []
  /** The four numbers of each position, one after another: `at`, `log`, `ended`, `timers`. */
  #positions: number[] = []
  /**
   * Ranges of inputs that belong to one step of the sandbox. Key: index of the first input. Value: index after the last
   * input.
   */
  #within = new Map<number, number>()

  get length(): number {
    return this.#shared + this.#kinds.length
  }

  /** @param kind the kind, or the path to the object whose method `what` calls */
  push(kind: InputKind | CallPath, what: unknown, at: number, log: number, ended: number, timers: number): void {
    this.#kinds.push(kind)
    this.#whats.push(what)
    this.#positions.push(at, log, ended, timers)
  }

  /** Returns the input at a position, or `undefined` after the last. */
  get(place: number): JournalInput | undefined {
    if (place < this.#shared) return this.#base?.get(place)
    const index = place - this.#shared
    const kind = this.#kinds[index]
    if (kind === undefined) return undefined
    const [at, log, ended, timers] = this.#positions.slice(4 * index, 4 * index + 4)
    const what = this.#whats[index]
    if (typeof kind === 'string') return { kind, what, at, log, ended, timers } as JournalInput
    return { kind: 'direct', what: [...kind, what], at, log, ended, timers } as JournalInput
  }

  #kindOf(place: number): InputKind | undefined {
    if (place >= this.#shared) {
      const kind = this.#kinds[place - this.#shared]
      return kind === undefined || typeof kind === 'string' ? kind : 'direct'
    }
    return this.#base === undefined ? undefined : this.#base.#kindOf(place)
  }

  /** Marks all inputs from index `from` on as one step of the sandbox. */
  markAtomic(from: number): void {
    if (this.length - from > 1) this.#within.set(from, this.length)
  }

  /**
   * Marks all inputs from index `from` on as one step of the sandbox, although the step has not ended. This is needed
   * if outside work forks the sandbox: the step of this work ends only after the fork.
   */
  markAtomicOpen(from: number): void {
    if (this.length > from) this.#within.set(from, this.length)
  }

  /**
   * Returns whether an input is the first one that was recorded during outside work. A replay processes such an input
   * when it begins the same work.
   */
  isFromWork(place: number): boolean {
    return this.#kindOf(place) === 'returned' || this.#within.has(place)
  }

  /** Returns the first position at or after `place` that is not within a step. */
  between(place: number): number {
    let end = place
    for (const [from, to] of this.#within) if (from <= end && end < to) end = to
    while (this.#kindOf(end) === 'returned') end++
    return end === place ? place : this.between(end)
  }

  of<K extends InputKind>(kind: K): InputKinds[K][] {
    const found: InputKinds[K][] = []
    for (let place = 0; place < this.length; place++) {
      if (this.#kindOf(place) === kind) found.push(this.get(place)!.what as InputKinds[K])
    }
    return found
  }

  /**
   * Returns a new object with the first `count` inputs, to which inputs can be added. The new object and this one share
   * these inputs, which never change.
   */
  first(count: number): InputColumns {
    const copy = new InputColumns()
    const own = count - this.#shared
    // A chain of forks must stay short. If this list has fewer own inputs than shared inputs, copy the own inputs and
    // share only the base.
    if (own <= 0 && this.#base !== undefined) return this.#base.first(count).#holding(this.#within, count)
    if (this.#base !== undefined && own < this.#shared) {
      copy.#base = this.#base
      copy.#shared = this.#shared
      copy.#kinds = this.#kinds.slice(0, own)
      copy.#whats = this.#whats.slice(0, own)
      copy.#positions = this.#positions.slice(0, 4 * own)
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

/** Bytes that an input takes in the arrays, without its values. */
const inputBytes = 100

/**
 * The recorded inputs of a sandbox, in order and only in memory: requests, direct calls, clock moves and results of
 * outside work.
 * A replay of these inputs leads to the same state.
 */
export class InputJournal {
  #inputs = new InputColumns()
  #requests = 0
  #calls = 0
  #works = 0
  #commands = 0
  #begunAt: number
  /** Instant at which the journal reached its size limit. */
  #fullAt: number | undefined
  #player: JournalPlayer | undefined
  listener: InputListener | undefined
  /**
   * Function that is called before outside work begins. The work begins when the returned promise resolves. If that
   * promise rejects, the work never begins.
   */
  gate: (() => Promise<void>) | undefined
  /** Index of the first input of each call of outside work that has begun and not returned. */
  readonly #entered: number[] = []
  readonly #clock: ClockPosition
  readonly #log: LogPosition
  readonly #kept: Account
  readonly #headers = new LatestHeaders()
  /**
   * The last headers whose bytes were counted. If the next request has the same list of headers, its bytes are not
   * counted again.
   */
  #weighed: HeaderList | undefined
  readonly #whenFull: (() => void)[] = []

  /** @param kept memory account of the journal; if the account exceeds its limit, the whole journal is discarded */
  constructor(clock: ClockPosition, log: LogPosition, kept: Account = new Account(Number.POSITIVE_INFINITY)) {
    this.#clock = clock
    this.#log = log
    this.#kept = kept
    this.#begunAt = clock.now()
  }

  /** Registers a function that frees data that is useless without the journal. It is called if the journal is discarded. */
  whenFull(free: () => void): void {
    this.#whenFull.push(free)
  }

  /** Virtual time, in milliseconds, at which recording began. */
  get begunAt(): number {
    return this.#begunAt
  }

  get inputs(): InputColumns {
    return this.#inputs
  }

  /** Number of bytes that the journal uses in memory. */
  get held(): number {
    return this.#kept.held
  }

  /** Virtual time at which the journal was discarded because of its size. */
  get fullAt(): number | undefined {
    return this.#fullAt
  }

  get attach(): JournalPosition {
    const { latest, ended } = this.#log
    return { at: this.#clock.now(), log: latest, ended, timers: this.#clock.timers() }
  }

  /**
   * Number of calls of outside work that have begun and not returned. An input that is recorded now arrives during
   * these calls.
   */
  get entered(): number {
    return this.#entered.length
  }

  copy(): InputColumns {
    const copy = this.#inputs.first(this.#inputs.length)
    for (const from of this.#entered) copy.markAtomicOpen(from)
    return copy
  }

  begin(): void {
    this.#inputs = new InputColumns()
    this.#kept.release()
    this.#begunAt = this.#clock.now()
  }

  /** Stops recording and begins a replay. Outside work then does not run: `player` returns the recorded results. */
  play(player: JournalPlayer): void {
    this.#player = player
  }

  /** Continues recording after a replay. @param inputs the replayed inputs; new inputs follow them */
  resume(inputs: InputColumns): void {
    this.#player = undefined
    this.#inputs = inputs
    for (let index = 0; index < inputs.length; index++) {
      const { kind, what } = inputs.get(index)!
      this.hold(inputBytes + this.#weigh(kind, what))
    }
  }

  /**
   * Counts bytes of other data that is useless without the journal. If the limit is exceeded, the journal and that data
   * are discarded.
   */
  hold(bytes: number): void {
    if (this.#fullAt !== undefined) return
    this.#kept.put(bytes)
    if (this.#kept.held > this.#kept.limit) this.#giveUp()
  }

  note<K extends InputKind>(kind: K, what: InputKinds[K]): void {
    this.#add(kind, what)
  }

  /**
   * Records a call of a public method.
   * @param path path to the object of the method; the journal keeps this array and not a copy
   */
  direct(path: CallPath, call: JournaledCall): void {
    this.#add('direct', call, path)
  }

  #add(kind: InputKind, what: unknown, path?: CallPath): void {
    if (this.#player !== undefined || (this.#fullAt !== undefined && this.listener === undefined)) return
    const { latest, ended } = this.#log
    const clock = this.#clock
    const [at, timers] = [clock.standStill(), clock.timers()]
    if (this.listener !== undefined) {
      const whole = path === undefined ? what : [...path, what]
      this.listener.input({ kind, what: whole, at, log: latest, ended, timers } as JournalInput)
    }
    if (this.#fullAt !== undefined) return
    this.#inputs.push(path ?? kind, what, at, latest, ended, timers)
    // Equal to the size of `[...path, what]`.
    this.hold(inputBytes + (path === undefined ? this.#weigh(kind, what) : weightOf(path) + weightOf(what, 1)))
  }

  /** Records a request. @returns the number of the request */
  request({ method, url, headers }: Omit<JournaledRequest, 'body'>, body: string): number {
    this.note('request', { method, url, headers: this.#headers.once(headers), body })
    return this.#requests++
  }

  /** Records a command. @returns the number of the command */
  command(kept: JournaledCommand): number {
    this.note('command', kept)
    return this.#commands++
  }

  /**
   * Records a change that a function makes.
   * @param bytes size of the data that the function uses
   */
  act(run: InputKinds['acted'], bytes: number): void {
    this.note('acted', run)
    this.hold(bytes)
  }

  /** Records an outbound request. @returns the number of the outbound request */
  call(kept: InputKinds['call']): number {
    this.note('call', kept)
    return this.#calls++
  }

  /**
   * Runs outside work, such as a handler or a network request. Records when the work returns, and its result. A replay
   * uses the recorded result and does not run the work.
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

  /**
   * Runs outside work that another process began, because the result of that run is unknown. Records the result of this
   * run.
   */
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
    // If `gate()` rejects, another process has taken over the sandbox. The work must then never begin in this process.
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

  /** Returns the bytes that the values of an input take, in addition to the arrays. */
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
      case 'lookedIn':
      case 'returned':
      case 'settled':
        return weightOf(what)
      default:
        return 0
    }
  }

  forget(): void {
    if (this.#fullAt === undefined) this.#giveUp()
  }

  #giveUp(): void {
    this.#fullAt = this.#clock.now()
    this.#inputs = new InputColumns()
    this.#kept.release()
    for (const free of this.#whenFull) free()
  }
}

/** Task that a handler receives. Its sleeps are recorded as inputs. */
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
