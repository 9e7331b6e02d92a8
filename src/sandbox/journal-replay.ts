import { outboundInternals } from '../calls/outbound.js'
import type { Bytes } from '../kernel/bytes.js'
import { goOn, type Rewind, rewind } from '../kernel/clock.js'
import { hostPause, hostTime, hostTurn } from '../kernel/host.js'
import { ConnectionBroken } from '../kernel/http.js'
import {
  type CallPath,
  type ForkChanges,
  type InputColumns,
  type InputJournal,
  type InputKind,
  type InputKinds,
  type JournaledCommand,
  type JournaledRequest,
  type JournalInput,
  type JournalPlayer,
  type JournalPosition,
  type KnownOutcome,
  type OutsideWork,
  ThrownError,
} from '../kernel/input-journal.js'
import { iso } from '../kernel/instant.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import type { Task } from '../kernel/time.js'
import type { CommandEntry, Entry } from '../kernel/traffic-log.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import { destinationsInternals } from '../queue/destinations/destinations.js'
import { faultsInternals } from '../rules/fault-rules.js'
import { Blocked } from '../store/blocking/blocked.js'
import type { Store } from '../store/direct-store.js'
import { beforeLoading, calledTooEarly } from '../store/search/load-search.js'
import { storeInternals } from '../store/store-internals.js'
import type { Past } from './past.js'
import type { SandboxParts } from './sandbox-parts.js'

/**
 * Number of consecutive host pauses in which nothing happens. After the last recorded input, the sandbox is then
 * assumed to be idle.
 */
const quietPauses = 3
/**
 * Number of microtasks for which a replay waits until the sandbox reaches a position. After them, the host gets a turn.
 */
const quickTurns = 100
/**
 * Maximum number of turns of the host for which a replay waits until the sandbox reaches a position. After them, the
 * replay fails.
 */
export const maxTurns = 2_000

/** Work outside the sandbox, such as a handler, that has begun but not ended. */
interface OpenWork {
  readonly task: Task
  /** Sleeps of the work, oldest first. */
  sleeps: { readonly until: number; readonly over: Promise<unknown> }[]
  /** Ends all sleeps of the work when it is aborted. */
  wake: AbortController
  /** Work to run again, if another process has taken over the sandbox. */
  readonly run: OutsideWork
  rouse?: (() => void) | undefined
  end(value: unknown): void
}

/** A request that was replayed. In the recording, its client may have aborted the request or left its stream. */
interface MadeRequest {
  readonly abort: AbortController
  reader?: ReadableStreamDefaultReader<Uint8Array>
  isAnswered?: true
}

/**
 * Brings a new sandbox to the state of a recorded one: replays each input of the journal at its recorded position.
 * Handlers are not called, because their effects and responses are in the journal.
 */
export class JournalReplay implements JournalPlayer {
  readonly #sandbox: SandboxParts
  readonly #journal: InputJournal
  readonly #inputs: InputColumns
  readonly #clock: Rewind
  readonly #open = new Map<number, OpenWork>()
  /** What work that is in flight at the start of the fork does later in the recording, by number of the work. */
  readonly #foretold = new Map<number, readonly KnownOutcome[]>()
  readonly #goesOn = new Set<number>()
  readonly #requests: MadeRequest[] = []
  /** Numbers of the requests whose clients had disconnected before the requests were processed. */
  readonly #gone: ReadonlySet<number>
  readonly #calls: AbortController[] = []
  /** Blocked commands, by number of the command. `undefined` for a command that did not block. */
  readonly #commands: (Blocked | undefined)[] = []
  #next = 0
  /**
   * Number of calls of outside work whose return need not be recorded: these calls had not returned when the recording
   * ended.
   */
  #mayEnter = 0
  /** First divergence during a call that the sandbox made. The sandbox may catch the error, so it is stored here. */
  #strayed: unknown

  /** @param journal journal of the new sandbox; after the replay, it contains the replayed inputs */
  constructor(sandbox: SandboxParts, journal: InputJournal, inputs: InputColumns) {
    this.#sandbox = sandbox
    this.#journal = journal
    this.#inputs = inputs
    this.#gone = new Set(inputs.of('gone'))
    this.#clock = rewind(sandbox.clock)
    journal.play(this)
  }

  /**
   * Replays the inputs before a past position, and then makes the sandbox a fork.
   * @param end index of the first input after the position
   * @param last position at which the recorded sandbox is now
   * @param at virtual time at the end of the replay
   * @param entries log of the recorded sandbox
   */
  async play({ end, entered, attach: last, at, entries, fork }: Omit<Past, 'start' | 'inputs'>): Promise<void> {
    this.#mayEnter = entered
    await this.#playTo(end)
    for (let turn = 0; !this.#isReached(this.#inputs.get(this.#next) ?? last, turn); turn++) {
      this.#check()
      await (turn < quickTurns ? undefined : hostTurn())
    }
    this.#check()
    this.#compare(entries)
    this.#clock.moveTo(at)
    this.#journal.resume(this.#inputs.first(this.#next))
    // A fork of this fork replays the same work, so the journal must contain the recorded outcomes.
    const forked = { ...fork, foretold: this.#foretell() }
    this.#journal.note('forked', forked)
    this.#fork(forked)
    this.#disconnect()
    this.#clock.finish(() => {
      if (this.#foretold.size === 0) return
      this.#journal.note('resumed', undefined)
      this.#resume()
    })
  }

  /**
   * Replays all inputs and continues in place of the process that had the sandbox. Requests that the other process was
   * serving end. Outside work that has not ended runs again under the same number.
   */
  async adopt(): Promise<void> {
    await this.#playTo(this.#inputs.length)
    // The other process may have stopped before it recorded all effects of the last input. So recording begins before
    // these effects happen.
    this.#journal.resume(this.#inputs)
    await this.#rest()
    this.#check()
    const { clock } = this.#sandbox
    this.#clock.finish(nothing)
    goOn(clock, clock.mode === 'real' ? hostTime() : undefined)
    this.#journal.note('takenOver', undefined)
    this.#changeHands()
    for (const { abort, reader, isAnswered } of this.#requests) {
      if (reader !== undefined) void reader.cancel().catch(nothing)
      else if (isAnswered !== true) abort.abort()
    }
    const gone = new ConnectionBroken('ECONNRESET', 'the server that had accepted the request has stopped')
    for (const call of this.#calls) call.abort(gone)
    this.#disconnect()
    for (const [work, open] of this.#open) {
      const ended = this.#journal.again(work, open.task, open.run)
      void ended.catch((error) => new ThrownError(error)).then((value) => this.#end(work, value))
    }
  }

  /** Waits until the replayed inputs have no more effects. */
  async #rest(): Promise<void> {
    for (let quiet = 0, turn = 0; quiet < quietPauses && turn < maxTurns; turn++) {
      const { log, ended, timers } = this.#journal.attach
      await hostPause()
      const now = this.#journal.attach
      quiet = log === now.log && ended === now.ended && timers === now.timers ? quiet + 1 : 0
    }
  }

  /** Ends the clock move and the sleeps of open work, because the process that started them has lost the sandbox. */
  #changeHands(): void {
    this.#clock.end()
    for (const open of this.#open.values()) {
      open.wake.abort()
      open.rouse?.()
      Object.assign(open, { sleeps: [], wake: new AbortController(), rouse: undefined })
    }
  }

  /** Closes all connections. The clients are outside the sandbox, so their connections cannot continue in a fork. */
  #disconnect(): void {
    for (const store of this.#sandbox.stores) {
      const { engine, connections } = storeInternals.of(store)
      connections?.close()
      for (const blocked of engine.waiting.blocked) blocked.cancel(new SandboxDisposed())
    }
  }

  async #playTo(end: number): Promise<void> {
    for (let turn = 0; this.#next < end; turn++) {
      this.#check()
      const input = this.#inputs.get(this.#next)!
      // No `await` between this check and the replay of the input: the position of the sandbox must not change in
      // between.
      if (!this.#inputs.isFromWork(this.#next) && this.#isReached(input, turn)) {
        turn = -1
        this.#next++
        this.#meet(input)
      } else {
        if (turn > maxTurns)
          throw divergence(`the replay did not call a handler that the recording called ${positionText(input)}`)
        const next = this.#next
        await (turn < quickTurns ? undefined : hostTurn())
        if (this.#next !== next) turn = -1
      }
    }
  }

  #fork({ name, fetch, deliver, foretold }: ForkChanges): void {
    const { destinations, faults } = this.#sandbox
    this.#clock.fork()
    destinationsInternals.of(destinations).reconnect(fetch, deliver)
    faultsInternals.of(faults).rename(name)
    for (const [work, steps] of foretold) this.#foretold.set(work, steps)
  }

  /** Returns what the open work does later in the recording. */
  #foretell(): ForkChanges['foretold'] {
    const foretold = new Map<number, KnownOutcome[]>()
    for (const work of this.#open.keys()) {
      if (!this.#foretold.has(work) && !this.#goesOn.has(work)) foretold.set(work, [])
    }
    const asked = new Map(foretold)
    for (let index = this.#next; index < this.#inputs.length && asked.size > 0; index++) {
      const { kind, what, at } = this.#inputs.get(index)!
      if (kind === 'slept') asked.get(what.work)?.push({ at, wait: what.wait })
      else if (kind === 'settled') {
        asked.get(what.work)?.push({ at, value: what.value })
        asked.delete(what.work)
      } else if (kind === 'forked') {
        for (const [work, steps] of what.foretold) {
          asked.get(work)?.push(...steps)
          asked.delete(work)
        }
      }
    }
    return foretold
  }

  #resume(): void {
    for (const [work, steps] of this.#foretold) {
      this.#goesOn.add(work)
      const open = this.#open.get(work)
      if (open !== undefined) void this.#goOnWith(work, open, steps)
    }
    this.#foretold.clear()
  }

  /** Begins outside work. Replays the inputs that arrived in the recording before the work returned. */
  startWork(work: number, task: Task, run: OutsideWork): unknown {
    try {
      return this.#begins(work, task, run)
    } catch (error) {
      this.#strayed ??= error
      throw error
    }
  }

  #check(): void {
    if (this.#strayed !== undefined) throw this.#strayed
  }

  #begins(work: number, task: Task, run: OutsideWork): unknown {
    let end: OpenWork['end'] = () => {}
    const promise = new Promise<unknown>((resolve, reject) => {
      end = (value) => (value instanceof ThrownError ? reject(value.error) : resolve(value))
    })
    this.#open.set(work, { task, sleeps: [], wake: new AbortController(), run, end })
    for (;;) {
      const input = this.#inputs.get(this.#next)
      // In the recording, the work forked the sandbox before it returned.
      if (input?.kind === 'forked') return promise
      if (input === undefined) {
        if (this.#mayEnter-- > 0) return promise
        throw divergence('the replay called a handler that the recording did not call')
      }
      this.#next++
      if (input.kind !== 'returned') this.#meet(input)
      else if (input.what === undefined) return promise
      else {
        this.#open.delete(work)
        return input.what
      }
    }
  }

  /**
   * Returns whether the sandbox is at a recorded position.
   * @param stand the recorded position
   * @param turn number of turns of the host for which the replay has waited
   * @throws Error when the sandbox is beyond the position, or did not reach the position in time
   */
  #isReached(stand: JournalInput | JournalPosition, turn: number): boolean {
    const now = this.#journal.attach
    if (now.log === stand.log && now.ended === stand.ended && now.timers === stand.timers) return true
    const isBeyond = now.log > stand.log || now.ended > stand.ended || now.timers > stand.timers
    if (isBeyond && 'kind' in stand && unordered.has(stand.kind)) return true
    if (isBeyond || turn > maxTurns)
      throw divergence(`the replay is ${positionText(now)}, the recording was ${positionText(stand)}`)
    return false
  }

  /**
   * Checks that each entry ended at the same instant as in the recording. The number of ended entries can be equal
   * although the instants differ: work that sleeps ends when the clock moves.
   */
  #compare(entries: readonly Entry[]): void {
    const there = new Map(entries.map((entry) => [entry.seq, entry]))
    for (const entry of this.#sandbox.traffic.entries) {
      const was = there.get(entry.seq)
      // Skip clock moves, because a later move can change the entry of an earlier one.
      if (was === undefined || entry.type === 'clock' || was.at !== entry.at || endOf(entry) === undefined) continue
      const [now, then] = [endOf(entry), endOf(was)]
      if (now !== then)
        throw divergence(`entry ${entry.seq} ended at ${now} in the replay and at ${then} in the recording`)
    }
  }

  #meet({ kind, what, at }: JournalInput): void {
    this.#clock.moveTo(at)
    const meet = this.#plays[kind] as (what: unknown) => void
    meet(what)
  }

  readonly #plays: { readonly [K in InputKind]: (what: InputKinds[K]) => void } = {
    request: (kept) => this.#request(kept),
    aborted: (number) => this.#requests[number]?.abort.abort(),
    // The request of this client was already sent when the input `request` was replayed.
    gone: nothing,
    left: (number) => void this.#requests[number]?.reader?.cancel().catch(nothing),
    call: ({ caller, gone, ...kept }) => {
      const abort = new AbortController()
      if (gone !== undefined) abort.abort(gone.reason)
      this.#calls.push(abort)
      void outboundInternals
        .of(this.#sandbox.outbound)
        .exchangeFor(caller, callOf(kept, abort.signal))
        .then(readAway, nothing)
    },
    gaveUp: ({ call, reason }) => this.#calls[call]?.abort(reason),
    command: (kept) => this.#command(kept),
    unblocked: ({ command, how }) => {
      const begun = this.#commands[command]
      if (how === 'closed') begun?.cancel()
      else begun?.unblock(how)
    },
    direct: (path) => this.#direct(path),
    acted: (run) => {
      try {
        run(this.#sandbox as never)
      } catch {
        // The change failed in the recording as well.
      }
    },
    looked: (key) => this.#look(key, this.#sandbox.store),
    lookedIn: ({ database, key }) => this.#look(key, this.#sandbox.storeIn(database)),
    fired: (timer) => this.#fire(timer, false),
    drained: (timer) => this.#fire(timer, true),
    moving: (call) => this.#clock.begin(call),
    moved: () => this.#clock.end(),
    returned: () => {
      throw divergence('the replay did not call a handler that the recording called')
    },
    settled: ({ work, value }) => this.#end(work, value),
    slept: ({ work, wait }) => {
      const open = this.#open.get(work)
      if (open !== undefined) this.#sleep(open, wait)
    },
    asleep: (work) => {
      const open = this.#open.get(work)
      if (open !== undefined) open.rouse = open.task.fallAsleep?.()
    },
    awake: (work) => this.#open.get(work)?.rouse?.(),
    forked: (forked) => this.#fork(forked),
    resumed: () => this.#resume(),
    takenOver: () => this.#changeHands(),
    rested: ({ task, as }) => this.#clock.rest(task, as),
  }

  #fire(timer: number, draining: boolean): void {
    try {
      this.#clock.fire(timer, draining)
    } catch (error) {
      throw divergence((error as Error).message)
    }
  }

  #request(kept: JournaledRequest): void {
    const made: MadeRequest = { abort: new AbortController() }
    const number = this.#requests.push(made) - 1
    if (this.#gone.has(number)) made.abort.abort()
    const failed = (): void => {
      made.isAnswered = true
    }
    const read = (answer: RawResponse): void => {
      made.isAnswered = true
      const reader = readAway(answer)
      if (reader !== undefined) made.reader = reader
    }
    try {
      const answer = this.#sandbox.exchange(callOf(kept, made.abort.signal))
      if (answer instanceof Promise) void answer.then(read, failed)
      else read(answer)
    } catch {
      // In the recording, the request failed in the same way.
      failed()
    }
  }

  /** Looks up a key, which removes the key if it has expired. */
  #look(key: string, store: Store): void {
    storeInternals.of(store).engine.db.find(key as Bytes)
  }

  #command({ rows, isTransaction, user: name, via, cause, database }: JournaledCommand): void {
    const store = database === undefined ? this.#sandbox.store : this.#sandbox.storeIn(database)
    const { commands, engine } = storeInternals.of(store)
    const user = engine.access.userNamed(name) ?? engine.access.standardUser
    const number = this.#commands.push(undefined) - 1
    try {
      const sender = { user, via: via as CommandEntry['via'], cause }
      if (isTransaction) commands.transact(rows as Bytes[][], sender)
      else {
        const begun = commands.start(rows[0] as Bytes[], sender)
        if (begun instanceof Blocked) this.#commands[number] = begun
      }
    } catch {
      // The command was rejected in the recording as well.
    }
  }

  #direct(path: CallPath): void {
    const call = (): void => void path.reduce(follow, this.#sandbox)
    const last = path.at(-1)
    try {
      if (typeof last === 'object' && calledTooEarly.has(last)) beforeLoading(call)
      else call()
    } catch {
      // The call was rejected in the recording as well.
    }
  }

  /** Lets open work sleep and end at the recorded instants. Work without a recorded end never ends. */
  async #goOnWith(work: number, open: OpenWork, steps: readonly KnownOutcome[]): Promise<void> {
    for (const step of steps) {
      await this.#until(step.at, open)
      if ('wait' in step) this.#sleep(open, step.wait)
      else return this.#end(work, step.value)
    }
    open.task.fallAsleep?.()
  }

  /**
   * Waits until an instant at which the work continued in the recording. If none of its sleeps ends at that instant,
   * adds a sleep that does. What the work did in the meantime is not repeated.
   */
  async #until(at: number, open: OpenWork): Promise<void> {
    const { clock } = this.#sandbox
    const own = open.sleeps.findLast(({ until }) => until === at)
    if (own === undefined && at > clock.now()) this.#sleep(open, at - clock.now())
    await (own ?? open.sleeps.findLast(({ until }) => until === at))?.over
  }

  #sleep(open: OpenWork, wait: number): void {
    open.sleeps.push({
      until: this.#sandbox.clock.now() + wait,
      over: open.task.sleep(wait, open.wake.signal).catch(nothing),
    })
  }

  #end(work: number, value: unknown): void {
    const open = this.#open.get(work)
    this.#open.delete(work)
    open?.rouse?.()
    open?.end(value)
  }
}

/**
 * Kinds of inputs that the host can cause at any time, also while the sandbox works. The replay of such an input need
 * not be at exactly the recorded position.
 */
const unordered: ReadonlySet<InputKind> = new Set(['aborted', 'gone', 'left', 'rested', 'awake'])

function follow(target: unknown, step: CallPath[number]): unknown {
  const on = target as Record<string, unknown>
  if (typeof step === 'string') return on[step]
  const [method, ...args] = step
  return (on[method] as (...args: unknown[]) => unknown)(...args)
}

function callOf({ method, url, headers, body }: JournaledRequest, signal: AbortSignal): RawRequest {
  return { method, url, headers, body: () => body as Bytes, signal }
}

/**
 * Reads a response stream and discards its content, as the client in the recording did. Returns the reader, or
 * `undefined` if the body is not a stream.
 */
function readAway({ body }: RawResponse): ReadableStreamDefaultReader<Uint8Array> | undefined {
  if (body === null || typeof body === 'string') return undefined
  const reader = body.getReader()
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done) {}
  }
  void read().catch(nothing)
  return reader
}

/**
 * Returns a text with the instant at which an entry ended and the number of the entry before that end. Returns
 * `undefined` if the entry has not ended.
 */
function endOf(entry: Entry): string | undefined {
  const { endedAfterSeq, response: answer, outcome } = entry as Ended
  const at = answer?.at ?? outcome?.at
  return at === undefined ? undefined : `${iso(at)} after entry ${endedAfterSeq}`
}

interface Ended {
  readonly endedAfterSeq?: number
  readonly response?: { readonly at: number }
  readonly outcome?: { readonly at: number }
}

function nothing(): void {}

function positionText({ at, log, ended, timers }: JournalPosition): string {
  return `at entry ${log}, with ${ended} ended entries and ${timers} timers, at ${iso(at)}`
}

function divergence(how: string): Error {
  return new Error(
    `Can't go back: the replay of this sandbox differs from the recording (${how}). ` +
      'Remove changes that the journal does not record, such as your own timers on sandbox.clock, or report a bug.',
  )
}

/** Creates a JournalReplay. */
export function replayOf(...given: ConstructorParameters<typeof JournalReplay>): JournalReplay {
  return new JournalReplay(...given)
}
