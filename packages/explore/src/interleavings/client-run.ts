import { type FixtureOptions, intercept, leftovers, sandboxOf } from '../../../../fixtures/fixture-sandbox.js'
import { createRandom } from '../../../../src/kernel/random.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { commandLine, outcomeOfCommand, urlText } from '../../../../src/report/describe.js'
import { standardRedaction } from '../../../../src/report/redaction.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { AsyncCarrier, Chance } from '../crash/step-chance.js'
import { ClientTurns } from './client-turns.js'
import { everything, type Touched, touchedBy } from './touched.js'

/** Function that runs as a client of the services. While it awaits a response, other clients can send requests. */
export type ConcurrentClient = (sandbox: Sandbox) => unknown

/** How a client ended: with a return value or with an error. */
export type ClientOutcome =
  | {
      /** Value that the client returned. If it returned a promise, the result of the promise. */
      readonly value: unknown
    }
  | {
      /** Value that the client threw, usually an `Error`. */
      readonly error: unknown
    }

/** One request of a client, or one command of a pipeline of a client. */
export interface InterleavingStep {
  /** Name of the client that sent the request. */
  readonly client: string
  /** The request as the timeline shows it: `GET stock`, `MULTI: SET a 1; GET a`, `POST https://…`. */
  readonly request: string
  /** The response as the timeline shows it: `"1"`, `202`. */
  readonly reply: string
  /** The entries of the traffic log that the request caused. */
  readonly entries: readonly Entry[]
}

/** Decides which client sends its next request. */
export interface TurnPicker {
  choose(waiting: readonly string[]): string
  executed(touched: Touched): void
}

export interface ClientSubject {
  readonly clients: ReadonlyMap<string, ConcurrentClient>
  readonly prepare?: ((sandbox: Sandbox) => unknown) | undefined
  readonly settle?: ((sandbox: Sandbox) => unknown) | undefined
  readonly sandbox?: FixtureOptions | undefined
  readonly seed: number | string
}

/** Result of running the clients in one order. */
export interface OrderRun {
  readonly sandbox: Sandbox
  readonly steps: readonly InterleavingStep[]
  /** Names of the clients in the order of their requests, for the option `replay`. */
  readonly order: readonly string[]
  readonly results: ReadonlyMap<string, ClientOutcome>
  /** Error of the clock or of the real Redis. Also set if the run did not end. */
  readonly error?: unknown
}

/** Thrown if the clients cannot send their requests in a given order. */
export class Unplayable extends TypeError {
  override readonly name = 'TypeError'
}

/** Maximum number of requests of all clients in one order. */
const maxSteps = 400
const budget = 20_000
/**
 * If a client gets the same response to the same request this many times in a row, it may be waiting for another
 * client. Then the other clients send their next request first.
 */
const spins = 3

/**
 * Clock and random numbers of the clients. They are deterministic, so the result depends only on the order of the
 * requests.
 */
export interface ClientContext {
  readonly names: AsyncCarrier<string>
  /** Clock and random numbers of each client in the current run, by client name. */
  chances: ReadonlyMap<string, Chance>
}

export async function runClients(subject: ClientSubject, usher: TurnPicker, context: ClientContext): Promise<OrderRun> {
  const options: FixtureOptions = { ...subject.sandbox, realHosts: 'block' }
  const sandbox = sandboxOf(options)
  const disconnect = intercept(sandbox, options)
  const clients = [...subject.clients.keys()]
  const results = new Map<string, ClientOutcome>()
  const steps: InterleavingStep[] = []
  const order: string[] = []
  context.chances = new Map(
    clients.map((name) => [name, { random: createRandom(`${subject.seed}/${name}`), now: () => sandbox.clock.now() }]),
  )
  let error: unknown
  try {
    await subject.prepare?.(sandbox)
    const gate = new ClientTurns(sandbox, clients, context.names)
    for (const [name, client] of subject.clients) {
      const done = (result: ClientOutcome): void => {
        results.set(name, result)
        gate.finished(name)
      }
      const work = async (): Promise<unknown> => client(sandbox)
      context.names.run(name, work).then(
        (value) => done({ value }),
        (thrown) => done({ error: thrown }),
      )
      // The clients start one after the other. Otherwise shared code could collect their first requests into one
      // pipeline.
      await gate.quiet((who) => who === name)
    }
    await takeTurns(gate, sandbox, usher, steps, order)
    const stuck = [...gate.unfinished]
    gate.open()
    if (stuck.length > 0)
      throw new Error(`${stuck.join(' and ')} never ended: in this order, no other client ends the wait`)
    await (subject.settle === undefined ? sandbox.clock.drain({ maxTimers: budget }) : subject.settle(sandbox))
    error = leftovers(sandbox, { strict: false })
  } catch (thrown) {
    if (thrown instanceof Unplayable) throw thrown
    error = thrown
  } finally {
    disconnect()
  }
  return { sandbox, steps, order, results, ...(error !== undefined && { error }) }
}

async function takeTurns(
  gate: ClientTurns,
  sandbox: Sandbox,
  usher: TurnPicker,
  steps: InterleavingStep[],
  order: string[],
) {
  const { traffic } = sandbox
  const isMeddled = sandbox.faults.rules.length > 0
  for (;;) {
    await gate.quiet()
    if (gate.unfinished.size === 0) return
    const waiting = gate.names
    if (waiting.length === 0) {
      if (!(await gate.moveTime())) return
      continue
    }
    if (steps.length === maxSteps) throw new Error(`the clients have made ${maxSteps} requests and have not ended`)
    const name = usher.choose(preferred(waiting, steps, order))
    const before = traffic.entries.length
    const part = gate.letThrough(name)
    await gate.quiet()
    const entries = traffic.entries.slice(before)
    order.push(name)
    steps.push({ client: name.split('#')[0]!, entries, ...stepTexts(entries, part) })
    usher.executed(isMeddled ? everything : touchedBy(entries))
  }
}

/**
 * Sorts the waiting clients by preference. The client that went last is first, unless it seems to poll for another
 * client.
 */
function preferred(waiting: readonly string[], steps: readonly InterleavingStep[], order: readonly string[]): string[] {
  const latest = order.at(-1)
  const last = steps.slice(-spins)
  const [one] = last
  const spinning =
    last.length === spins &&
    last.every(
      ({ client: who, request, reply }) => who === one!.client && request === one!.request && reply === one!.reply,
    )
  const rank = (name: string): number => (name !== latest ? 1 : spinning ? 2 : 0)
  return [...waiting].sort((a, b) => rank(a) - rank(b))
}

/**
 * Returns the request and the response of a step as texts.
 * @param part position in a pipeline, such as `pipeline 1/2: `, or empty for other requests
 */
export function stepTexts(entries: readonly Entry[], part: string): Pick<InterleavingStep, 'request' | 'reply'> {
  const commands = entries.filter((entry) => entry.type === 'command' && entry.via !== 'direct')
  const request = entries.find((entry) => entry.type === 'request')
  if (commands.length > 0) {
    const isTransaction = commands.some((entry) => entry.type === 'command' && entry.via === 'transaction')
    const lines = commands.map((entry) => (entry.type === 'command' ? commandLine(entry.argv, standardRedaction) : ''))
    const replies = commands.map((entry) =>
      entry.type === 'command' ? outcomeOfCommand(entry, standardRedaction) : '',
    )
    return { request: `${isTransaction ? 'MULTI: ' : part}${lines.join('; ')}`, reply: replies.join('; ') }
  }
  if (request?.type !== 'request') return { request: 'a request', reply: '' }
  return {
    request: `${request.method} ${urlText(request.url)}`,
    reply: String(request.response?.status ?? 'no response'),
  }
}
