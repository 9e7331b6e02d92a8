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
import { beforeLoading, calledTooEarly } from '../store/search/load-search.js'
import { storeInternals } from '../store/store-internals.js'
import type { Past } from './past.js'
import type { SandboxParts } from './sandbox-parts.js'

/** Pauses of the host in a row in which nothing happens in a world that nothing comes into: it has come to rest. */
const quietPauses = 3
/** Microtasks that a world is waited for before the host gets a turn … */
const quickTurns = 100
/** … and turns of the host after which its past counts as one that cannot be told. */
export const maxTurns = 2_000

/** Work outside of the world that has begun and not ended. */
interface OpenWork {
  readonly task: Task
  /** Its sleeps, the latest of which comes last. */
  sleeps: { readonly until: number; readonly over: Promise<unknown> }[]
  /** Ends its sleeps. */
  wake: AbortController
  /** What it does, for whoever does it again. */
  readonly run: OutsideWork
  rouse?: (() => void) | undefined
  end(value: unknown): void
}

/** A request that was made again: whoever made it first may have given it up, or left its stream. */
interface MadeRequest {
  readonly abort: AbortController
  reader?: ReadableStreamDefaultReader<Uint8Array>
  isAnswered?: true
}

/**
 * Makes a world what another one was: plays the inputs of its journal up to a place, each where it met the world before.
 * Handlers are not called: what they did and answered is in the journal.
 */
export class JournalReplay implements JournalPlayer {
  readonly #sandbox: SandboxParts
  readonly #journal: InputJournal
  readonly #inputs: InputColumns
  readonly #clock: Rewind
  readonly #open = new Map<number, OpenWork>()
  /** What open work is going to do where a fork began, and has not begun to do. */
  readonly #foretold = new Map<number, readonly KnownOutcome[]>()
  readonly #goesOn = new Set<number>()
  readonly #requests: MadeRequest[] = []
  /** Numbers of those that nobody waited for any more when they began. */
  readonly #gone: ReadonlySet<number>
  readonly #calls: AbortController[] = []
  /** Commands of connections: those that had to wait. */
  readonly #commands: (Blocked | undefined)[] = []
  #next = 0
  /** Work that may begin and not return. */
  #mayEnter = 0
  /** What went wrong in the middle of what the world does, which may take it for its own. */
  #strayed: unknown

  /** @param journal of the new world: what it makes of the inputs is its own past */
  constructor(sandbox: SandboxParts, journal: InputJournal, inputs: InputColumns) {
    this.#sandbox = sandbox
    this.#journal = journal
    this.#inputs = inputs
    this.#gone = new Set(inputs.of('gone'))
    this.#clock = rewind(sandbox.clock)
    journal.play(this)
  }

  /**
   * @param end the inputs before it are played
   * @param last how far the world had come when there was no further input
   * @param at where time stands in the end
   * @param entries the log of the other world
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
    // A fork of the fork has to know all of it.
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
   * Plays all inputs, and goes on as the world itself, in place of whoever had it. What it was doing for somebody who
   * waited is over; work outside that has not ended is done again, as the same work.
   */
  async adopt(): Promise<void> {
    await this.#playTo(this.#inputs.length)
    // What follows from the last input came to nobody's ears, and is written down as it comes.
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
    const gone = new ConnectionBroken('ECONNRESET', 'the server that had taken the call is gone')
    for (const call of this.#calls) call.abort(gone)
    this.#disconnect()
    for (const [work, open] of this.#open) {
      const ended = this.#journal.again(work, open.task, open.run)
      void ended.catch((error) => new ThrownError(error)).then((value) => this.#end(work, value))
    }
  }

  /** Waits until nothing happens that follows from what came in. */
  async #rest(): Promise<void> {
    for (let quiet = 0, turn = 0; quiet < quietPauses && turn < maxTurns; turn++) {
      const { log, ended, timers } = this.#journal.attach
      await hostPause()
      const now = this.#journal.attach
      quiet = log === now.log && ended === now.ended && timers === now.timers ? quiet + 1 : 0
    }
  }

  /** The move of time and the work outside that were under way were those of somebody who is gone. */
  #changeHands(): void {
    this.#clock.end()
    for (const open of this.#open.values()) {
      open.wake.abort()
      open.rouse?.()
      Object.assign(open, { sleeps: [], wake: new AbortController(), rouse: undefined })
    }
  }

  /** Connections are outside of the world: it begins without them. */
  #disconnect(): void {
    const { engine, connections } = storeInternals.of(this.#sandbox.store)
    connections?.close()
    for (const blocked of engine.waiting.blocked) blocked.cancel(new SandboxDisposed())
  }

  async #playTo(end: number): Promise<void> {
    for (let turn = 0; this.#next < end; turn++) {
      this.#check()
      const input = this.#inputs.get(this.#next)!
      // Nothing may lie between the look at the world and what it meets then.
      if (!this.#inputs.isFromWork(this.#next) && this.#isReached(input, turn)) {
        turn = -1
        this.#next++
        this.#meet(input)
      } else {
        if (turn > maxTurns) throw divergence(`a handler was not called that was called ${positionText(input)}`)
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

  /** What open work does later in the world that is played. */
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

  /** Work began: what it did until it returned happened in the middle of what the world is doing now. */
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
      // It forked the world before it returned.
      if (input?.kind === 'forked') return promise
      if (input === undefined) {
        if (this.#mayEnter-- > 0) return promise
        throw divergence('a handler was called that was not called then')
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

  /** Whether the world stands where it stood. */
  #isReached(stand: JournalInput | JournalPosition, turn: number): boolean {
    const now = this.#journal.attach
    if (now.log === stand.log && now.ended === stand.ended && now.timers === stand.timers) return true
    const isBeyond = now.log > stand.log || now.ended > stand.ended || now.timers > stand.timers
    if (isBeyond && 'kind' in stand && unordered.has(stand.kind)) return true
    if (isBeyond || turn > maxTurns) throw divergence(`${positionText(now)}, where it was ${positionText(stand)}`)
    return false
  }

  /** Work that ends while it sleeps meets time that moves on: the same inputs may end it a little earlier, or later. */
  #compare(entries: readonly Entry[]): void {
    const there = new Map(entries.map((entry) => [entry.seq, entry]))
    for (const entry of this.#sandbox.traffic.entries) {
      const was = there.get(entry.seq)
      // Calls that move time are put together.
      if (was === undefined || entry.type === 'clock' || was.at !== entry.at || endOf(entry) === undefined) continue
      const [now, then] = [endOf(entry), endOf(was)]
      if (now !== then) throw divergence(`entry ${entry.seq} ended at ${now}, where it ended at ${then}`)
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
    // The request began so.
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
        // It failed then, too.
      }
    },
    looked: (key) => void storeInternals.of(this.#sandbox.store).engine.db.find(key as Bytes),
    fired: (timer) => this.#fire(timer, false),
    drained: (timer) => this.#fire(timer, true),
    moving: (call) => this.#clock.begin(call),
    moved: () => this.#clock.end(),
    returned: () => {
      throw divergence('a handler was not called that was called then')
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
      // It failed then, too.
      failed()
    }
  }

  #command({ rows, isTransaction, user: name, via, cause }: JournaledCommand): void {
    const { commands, engine } = storeInternals.of(this.#sandbox.store)
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
      // It was refused then, too.
    }
  }

  #direct(path: CallPath): void {
    const call = (): void => void path.reduce(follow, this.#sandbox)
    const last = path.at(-1)
    try {
      if (typeof last === 'object' && calledTooEarly.has(last)) beforeLoading(call)
      else call()
    } catch {
      // It was refused then, too.
    }
  }

  /** What was under way ends as it did, when it did; what has not ended in the origin does not end. */
  async #goOnWith(work: number, open: OpenWork, steps: readonly KnownOutcome[]): Promise<void> {
    for (const step of steps) {
      await this.#until(step.at, open)
      if ('wait' in step) this.#sleep(open, step.wait)
      else return this.#end(work, step.value)
    }
    open.task.fallAsleep?.()
  }

  /** Without a sleep that ends then nothing would wake it: what it did there in between it does not do here. */
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

/** They come within what the world does: of most the host decides when. */
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

/** Readers of streams take what comes. */
function readAway({ body }: RawResponse): ReadableStreamDefaultReader<Uint8Array> | undefined {
  if (body === null || typeof body === 'string') return undefined
  const reader = body.getReader()
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done) {}
  }
  void read().catch(nothing)
  return reader
}

/** When an entry ended, and after which other one. */
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
  return `at entry ${log} with ${ended} ended and ${timers} timers at ${iso(at)}`
}

function divergence(how: string): Error {
  return new Error(
    `The past of this sandbox cannot be told: played again it took another way (${how}). ` +
      'Something changed the world that the journal does not know, such as a timer of your own on sandbox.clock; please report it if there is none.',
  )
}
