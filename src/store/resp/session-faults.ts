import { actionAt } from '../../faults/catalog.js'
import { type FaultSource, type Injection, restartedService } from '../../faults/fault.js'
import type { FaultyResponse, RequestFaultContext, WordedFault } from '../../faults/fault-context.js'
import type { RequestInjectionPoint } from '../../faults/points.js'
import { type Bytes, fromArray } from '../../kernel/bytes.js'
import { letOutsideContinue } from '../../kernel/clock.js'
import { ConnectionBroken } from '../../kernel/http.js'
import { SandboxDisposed } from '../../kernel/running-task.js'
import type { Task } from '../../kernel/time.js'
import { ReplyError } from '../command/reply.js'
import { CommandFaultFacts, quotaError } from '../rest/command-faults.js'
import type { RestStore } from '../rest/store-front.js'
import { wireOfError } from './reply-writer.js'
import type { Session } from './session.js'

/** Callbacks for the response to one command of a session. */
export interface CommandExchange {
  /** Sends the next bytes of the response. */
  send(bytes: Bytes): void
  /** Ends the response, so that the next command can run. */
  done(): void
  /** Breaks the connection. */
  break(): void
}

// Applies request faults to one command of a connection: its response can be delayed, lost or truncated.

interface Struck {
  readonly strikes: readonly Injection[]
  readonly faults: FaultSource
  readonly front: RestStore
}

const streams: ReadonlySet<string> = new Set(['SUBSCRIBE', 'PSUBSCRIBE', 'MONITOR'])

/** Returns the faults injected into a command, or `undefined`. */
export function sessionInjection(
  faults: FaultSource,
  session: Session,
  argv: readonly Bytes[],
  front: RestStore,
): Struck | undefined {
  const { activeByPoint: armed } = faults
  const opens = armed['stream.open'] !== undefined && streams.has(argv[0]!.toUpperCase())
  if (armed['store.request'] === undefined && !opens) return undefined
  const facts = new CommandFaultFacts(argv, session.origin, front.store)
  const first = armed['store.request'] === undefined ? [] : (faults.injections('store.request', facts) ?? [])
  const isOver = first.at(-1)?.answers === true
  const strikes = opens && !isOver ? [...first, ...(faults.injections('stream.open', facts) ?? [])] : first
  return strikes.length === 0 ? undefined : { strikes, faults, front }
}

/** Response in bytes of the Redis protocol. If a fault changes such a response, the result has the same type. */
interface WireAnswer extends FaultyResponse {
  readonly isWire: true
}

function wire(body: Bytes): WireAnswer {
  return { status: 200, headers: [], body, isWire: true }
}

/** Runs a command with faults. Each fault wraps the next one, and the first fault is the outermost. */
export function serveFaulty(struck: Struck, session: Session, argv: readonly Bytes[], turn: CommandExchange): void {
  const { clock } = struck.front
  const fail = (error: unknown): void => {
    if (error instanceof ReplyError) {
      turn.send(wireOfError(error.message))
      turn.done()
    } else turn.break()
    if (!isBreak(error)) throw error
  }
  const work = async (task: Task): Promise<ReadableStream<Uint8Array> | undefined> => {
    try {
      const answer = await play(struck, 0, session, argv, task)
      const { body } = answer
      const isStream = body !== null && typeof body !== 'string'
      if (isStream && !session.hasEnded && 'isWire' in answer) return body
      if (isStream) void body.cancel().catch(ignore)
      if (session.hasEnded) return undefined
      if (!('isWire' in answer)) throw new ConnectionBroken('ECONNRESET', 'the response is not in the Redis protocol')
      if (typeof body === 'string') turn.send(body)
      turn.done()
    } catch (error) {
      fail(error)
    } finally {
      letOutsideContinue(clock)
    }
    return undefined
  }
  // A slow response is sent after the task has ended, so that virtual time can move in the meantime.
  void clock
    .track(`command ${argv[0]!.toUpperCase().slice(0, 40)}`, work)
    .then((body) => body && trickle(body, session, clock, turn).catch(fail))
}

/** Sends a response that arrives in parts. */
async function trickle(
  body: ReadableStream<Uint8Array>,
  session: Session,
  clock: RestStore['clock'],
  turn: CommandExchange,
): Promise<void> {
  const reader = body.getReader()
  session.gone.addEventListener('abort', () => void reader.cancel().catch(ignore), { once: true })
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      turn.send(fromArray(part.value))
      letOutsideContinue(clock)
    }
    if (!session.hasEnded) turn.done()
  } finally {
    letOutsideContinue(clock)
  }
}

function ignore(): void {}

function isBreak(error: unknown): boolean {
  if (error instanceof ReplyError || error instanceof ConnectionBroken || error instanceof SandboxDisposed) return true
  return error instanceof TypeError && error.cause instanceof ConnectionBroken
}

async function play(
  struck: Struck,
  from: number,
  session: Session,
  argv: readonly Bytes[],
  task: Task,
): Promise<FaultyResponse> {
  const { strikes, faults, front } = struck
  const strike = strikes[from]
  if (strike === undefined) return served(session, argv, task)
  const { fault, phase } = strike
  const record = strike.log(undefined, argv[0]!.toUpperCase())
  const moment: RequestFaultContext = {
    phase,
    task,
    clock: front.clock,
    signal: session.gone,
    draw: (below) => strike.draw(below),
    tell: (effect) => {
      record.effect = effect
    },
    onwards: () => play(struck, from + 1, session, argv, task),
    worded: (given) => wire(wireOfError(worded(given, session))),
    refusedToken: () => wire(wireOfError('NOAUTH Authentication required.')),
    restart(downMs) {
      faults.markDown(restartedService('store', front.store.options.database), front.clock.now() + downMs)
      front.store.pubsub.close()
    },
  }
  return actionAt(strike.point as RequestInjectionPoint, fault)(fault, moment)
}

/** Runs the command as a part of the task. The command may wait for other clients. */
function served(session: Session, argv: readonly Bytes[], task: Task): Promise<FaultyResponse> {
  return new Promise((resolve, reject) => {
    let rouse: (() => void) | undefined
    const waits = session.run(argv, (bytes) => {
      rouse?.()
      resolve(wire(bytes))
    })
    if (waits) rouse = task.fallAsleep?.()
    else if (session.hasEnded) reject(new ConnectionBroken('ECONNRESET', 'the response exceeds its limit'))
  })
}

function worded(fault: WordedFault, session: Session): string {
  if (fault.kind === 'quota-exceeded') return quotaError(session.origin).message
  if (fault.kind === 'status') return /^[A-Z]+ /.test(fault.text) ? fault.text : `ERR ${fault.text}`
  return 'ERR max requests limit exceeded'
}
