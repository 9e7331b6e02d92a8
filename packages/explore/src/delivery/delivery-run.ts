import { connect, type FixtureOptions, intercept, leftovers, sandboxOf } from '../../../../fixtures/fixture-sandbox.js'
import { catalog, faultKinds } from '../../../../src/faults/catalog.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Task } from '../../../../src/kernel/time.js'
import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import {
  type HandledOutbound,
  handledOutboundOf,
  type OutboundHandlers,
  respondToOutbound,
} from './handled-outbound.js'

/**
 * Handles one delivery. It can be the request handler of the app, or a function that also uses the task and the
 * sandbox.
 */
export type DeliveryHandler = (request: Request, task: Task, sandbox: Sandbox) => Response | Promise<Response>

/** The code under test: a publisher and a handler. */
export interface DeliveryUnderTest {
  /** Publishes messages. Called once per run, in a new sandbox. */
  readonly publish: (sandbox: Sandbox) => unknown
  /** Handler for all deliveries, or handlers by URL pattern. In a pattern, `*` matches any characters. */
  readonly handler: DeliveryHandler | Readonly<Record<string, DeliveryHandler>>
  /**
   * Responses to the global `fetch` of the handler, by URL of the external host. In `publish`, you can instead call
   * `sandbox.outbound.on(url, handler)`. Each request that reaches such a host is an effect.
   */
  readonly outbound?: OutboundHandlers
  /** Options of the sandbox that each run creates, and of its interception. */
  readonly sandbox?: FixtureOptions
  /**
   * Moves time until the run has ended. Default `clock.drain({ maxTimers: 20_000 })`, which fails if the run does not
   * end.
   */
  readonly drain?: (sandbox: Sandbox) => unknown
}

export interface DeliveryRun {
  /** The sandbox at the end of the run. */
  readonly sandbox: Sandbox
  /** Outbound requests that reached an external host. */
  readonly calls: readonly HandledOutbound[]
  /** Sequence numbers of the `published` entries of messages that were published outside of deliveries. */
  readonly given: ReadonlySet<number>
  /** Error of the publisher or of the clock. */
  readonly error?: unknown
  end(): void
}

/** Maximum number of timers of one run, if `drain` is not set. */
const budget = 20_000

/**
 * Sets the environment once for many runs. All their sandboxes have the same environment, and changing `process.env` is
 * slow.
 */
export async function inEnvironment<T>(
  { sandbox: options = {} }: Pick<DeliveryUnderTest, 'sandbox'>,
  work: () => Promise<T>,
): Promise<T> {
  const { intercept: _, ...rest } = options
  const sandbox = sandboxOf(rest)
  const disconnect = connect(sandbox, rest)
  sandbox.dispose()
  try {
    return await work()
  } finally {
    disconnect()
  }
}

/**
 * Starts with an empty sandbox, injects the faults, and plays the run to its end.
 * @param watch called with the new sandbox, before `publish`
 */
export async function runDelivery(
  subject: DeliveryUnderTest,
  faults: readonly FaultRule[],
  watch?: (sandbox: Sandbox) => void,
): Promise<DeliveryRun> {
  const options: FixtureOptions = { ...subject.sandbox, realHosts: 'block' }
  const sandbox = sandboxOf(options)
  const disconnect = intercept(sandbox, options)
  let given: ReadonlySet<number> = new Set()
  const restoreFetch = respondToOutbound(sandbox, subject.outbound)
  const end = (): void => {
    restoreFetch()
    disconnect()
    sandbox.dispose()
  }
  try {
    register(sandbox, subject.handler)
    watch?.(sandbox)
    if (faults.length > 0) sandbox.faults.add(faults, { location: 'the generated fault plan' })
    await subject.publish(sandbox)
    given = givenBy(sandbox)
    await (subject.drain === undefined ? sandbox.clock.drain({ maxTimers: budget }) : subject.drain(sandbox))
    const assertion = leftovers(sandbox, { strict: false })
    return {
      sandbox,
      calls: handledOutboundOf(sandbox),
      given,
      end,
      ...(assertion !== undefined && { error: assertion }),
    }
  } catch (error) {
    return { sandbox, calls: handledOutboundOf(sandbox), given, end, error }
  }
}

/**
 * Returns the sequence numbers of the messages that were published outside of deliveries. A publisher can move time, so
 * deliveries can run before the publisher has ended.
 */
function givenBy({ traffic }: Sandbox): ReadonlySet<number> {
  const attempts = traffic.ofType('attempt')
  const handled = (seq: number): boolean =>
    attempts.some((attempt) => attempt.seq < seq && seq <= (attempt.endedAfterSeq ?? Number.POSITIVE_INFINITY))
  return new Set(traffic.ofType('published').flatMap(({ seq }) => (handled(seq) ? [] : [seq])))
}

/**
 * Checks the option `handler`.
 * @param caller name of the check, for the error message
 * @throws TypeError if the handler is not a function or a record of functions
 */
export function checkHandler(handler: unknown, caller: string): void {
  if (typeof handler === 'function') return
  const wanted = "a function (request) => Response, or several by URL: { 'https://shop.test/orders': handler }"
  if (typeof handler !== 'object' || handler === null || Object.keys(handler).length === 0)
    throw new TypeError(`${caller}: handler is missing or invalid. Pass ${wanted}.`)
  const [url] = Object.entries(handler).find(([, each]) => typeof each !== 'function') ?? []
  if (url !== undefined) throw new TypeError(`${caller}: the handler of ${url} must be a function. Pass ${wanted}.`)
}

function register(sandbox: Sandbox, handler: DeliveryUnderTest['handler']): void {
  if (typeof handler !== 'function') {
    for (const [url, each] of Object.entries(handler))
      sandbox.destinations.on(url, (request, task) => each(request, task, sandbox))
    return
  }
  sandbox.destinations.on('*', (request, task) =>
    sandbox.owns(request.url) ? sandbox.fetch(request) : handler(request, task, sandbox),
  )
}

/** Groups the injected faults of a run by attempt. */
function strikesOf({ traffic }: Sandbox): Map<number, EntryOf<'fault'>[]> {
  const byAttempt = new Map<number, EntryOf<'fault'>[]>()
  for (const fault of traffic.ofType('fault')) {
    const list = byAttempt.get(fault.cause ?? 0)
    if (list === undefined) byAttempt.set(fault.cause ?? 0, [fault])
    else list.push(fault)
  }
  return byAttempt
}

/**
 * Returns whether faults hit every attempt of a message, so that it has no retries left. The run then has no result.
 */
export function isExhausted(sandbox: Sandbox): boolean {
  const given = sandbox.traffic.ofType('dead-letter').filter(({ kind }) => kind === 'message')
  if (given.length === 0) return false
  const strikes = strikesOf(sandbox)
  return given.some(({ messageId }) => {
    const attempts = sandbox.traffic.forMessage(messageId).filter((entry) => entry.type === 'attempt')
    return attempts.every((attempt) => strikes.has(attempt.seq) && attempts.length > attempt.maxRetries)
  })
}

/** Kinds of faults that take effect before the attempt begins. */
const holding: ReadonlySet<string> = new Set(faultKinds.filter((kind) => catalog[kind].effect === 'holds'))

const maxRows = 40

/** Returns a table of the attempts, with the faults and the outcome of each. */
export function attemptTable(sandbox: Sandbox): string {
  const strikes = strikesOf(sandbox)
  const messages = new Map<string, number>()
  for (const { messageId, kind } of sandbox.traffic.ofType('published'))
    if (kind === 'message' && !messages.has(messageId)) messages.set(messageId, messages.size + 1)
  const rows: string[][] = []
  for (const attempt of sandbox.traffic.ofType('attempt')) {
    const { outcome, messageId, kind, retried } = attempt
    const held = (strikes.get(attempt.cause ?? -1) ?? []).filter(({ fault }) => holding.has(fault))
    const met = [...held, ...(strikes.get(attempt.seq) ?? [])]
    const who = kind === 'message' ? (messages.size > 1 ? `message ${messages.get(messageId)}, ` : '') : `${kind}, `
    const answer = outcome === undefined ? 'never ended' : (outcome.error ?? `responded ${outcome.status}`)
    const told =
      outcome?.note ??
      met
        .map(({ effect }) => effect)
        .filter(Boolean)
        .join(', ')
    rows.push([`${who}attempt ${retried + 1}`, met.map(({ fault }) => fault).join(' + ') || 'ok', told || answer])
  }
  const shown = rows.slice(0, maxRows)
  const widths = [0, 1].map((column) => Math.max(0, ...shown.map((row) => row[column]!.length)))
  const lines = shown.map(([who, met, told]) =>
    `  ${who!.padEnd(widths[0]!)}  ${met!.padEnd(widths[1]!)}  ${told}`.trimEnd(),
  )
  if (rows.length > maxRows) lines.push(`  and ${rows.length - maxRows} more`)
  return lines.join('\n')
}
