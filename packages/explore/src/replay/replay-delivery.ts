import { connect } from '../../../../fixtures/fixture-sandbox.js'
import { refuseLookups } from '../../../../src/adapters/lookup.js'
import { text } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { AttemptOutcome } from '../../../../src/kernel/traffic-log.js'
import { isRealHost } from '../../../../src/protocol/dialect.js'
import type { RawRequest } from '../../../../src/protocol/service.js'
import { createSandbox, type Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { RunHistory, StepIdentity } from '../../../../src/workflow/run-history.js'
import { headerEndingIn, stepsIn } from '../crash/run-delivery.js'
import { callWith, isOfRun, pretended } from '../crash/run-requests.js'
import { silence } from '../crash/step-chance.js'

/** What code did with a list: steps it submitted, the end of the run, or nothing. */
export type DeliveryResult = readonly StepIdentity[] | 'end' | 'nothing'

export interface Delivered {
  readonly done: DeliveryResult
  /** `undefined` when the route did not answer. */
  readonly outcome: AttemptOutcome | undefined
}

/** Serves the workflow in a sandbox. */
export type ReplayedApp = (sandbox: Sandbox) => unknown

/** Virtual time that a route may take for a delivery. */
const longest = '15m'
/** Patience is counted in slices of so many milliseconds: code that keeps the processor busy uses up one at a time. */
const slice = 50
/** Modules are loaded while the app is set up. */
const setUpFactor = 10

/**
 * Delivers the list up to an entry in a world of its own, where nothing is accepted and no host is reachable.
 * @param body of the delivery
 * @param patience milliseconds of the host's time
 */
export async function deliver(
  history: RunHistory,
  body: string,
  isFirst: boolean,
  app: ReplayedApp,
  patience: number,
): Promise<Delivered> {
  using sandbox = createSandbox({
    onWarning: () => {},
    ...(history.createdAt !== undefined && { startAt: history.createdAt }),
  })
  const host = globalThis.fetch
  globalThis.fetch = () => Promise.reject(unreachable())
  // Data bases and clients over node:http do not use `fetch`.
  const allowLookups = refuseLookups(unreachable)
  const restore = connect(sandbox, { realHosts: 'allow', intercept: 'fetch' })
  globalThis.fetch = withRealQueue(sandbox, globalThis.fetch)
  // The SDK says of every list that it refuses what is in the result too.
  const speak = silence(() => true)
  let done: DeliveryResult = 'nothing'
  const exchange = sandbox.exchange.bind(sandbox)
  const { queue } = sandbox.urls
  sandbox.exchange = async (call: RawRequest) => {
    const endpoint = call.url.startsWith(`${queue}/`) ? call.url.slice(queue.length).split('?')[0]! : undefined
    const given = await call.body()
    if (endpoint === undefined || call.method === 'GET' || !isOfRun(call, endpoint, given, history.runId))
      return exchange(callWith(call, given))
    if (call.method === 'DELETE') done = 'end'
    else if (!endpoint.startsWith('/v2/notify/')) done = stepsIn({ endpoint, body: given }).map(identityOf)
    return pretended(endpoint, given)
  }
  try {
    const served = await within(patience * setUpFactor, Promise.resolve(app(sandbox)))
    if (!served) throw new Error('replay(): the function that serves the app did not come to its end.')
    const headers = headersOf(history, isFirst)
    sandbox.queue.publish({ to: history.url, body, headers, retries: 0, timeout: longest })
    const outcome = (): AttemptOutcome | undefined => sandbox.traffic.ofType('attempt')[0]?.outcome
    await within(patience, sandbox.clock.advance(longest, { until: () => outcome() !== undefined }))
    if (outcome()?.note?.startsWith('No destination responds at ') === true) {
      throw new TypeError(
        `replay(): the app serves nothing at ${history.url}. Register it with destinations.on(), or replay { ...history, url } with the url that it has.`,
      )
    }
    return { done, outcome: outcome() }
  } finally {
    speak()
    restore()
    allowLookups()
    globalThis.fetch = host
  }
}

function unreachable(): Error {
  return new TypeError('replay(): no host is reachable but the sandbox.')
}

/** Waits for work, but not for ever: what hangs is left behind. @returns whether it has come to its end */
async function within(patience: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof hostSetTimeout> | undefined
  const over = new Promise<false>((resolve) => {
    const wait = (left: number): void => {
      timer = hostSetTimeout(() => (left > slice ? wait(left - slice) : resolve(false)), Math.min(slice, left))
    }
    wait(patience)
  })
  // It may fail when nobody listens any more.
  work.catch(() => {})
  try {
    return await Promise.race([work.then(() => true), over])
  } finally {
    hostClearTimeout(timer)
  }
}

/** A client that was made before the sandbox had set the environment means the vendor's queue; it gets the sandbox's. */
function withRealQueue(sandbox: Sandbox, inner: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, 'http://nowhere.test')
    if (!isRealHost(url.hostname) || !url.pathname.startsWith('/v2/')) return inner(input, init)
    const ours = sandbox.urls.queue + url.pathname + url.search
    return sandbox.fetch(input instanceof Request ? new Request(ours, input) : ours, init)
  }
}

function headersOf({ runId, url, createdAt = 0, headers }: RunHistory, isFirst: boolean): Record<string, string> {
  return {
    ...headers,
    'content-type': 'application/json',
    'upstash-workflow-runid': runId,
    'upstash-workflow-url': url,
    'upstash-workflow-init': String(isFirst),
    'upstash-workflow-createdat': String(createdAt),
    'upstash-workflow-sdk-version': '1',
  }
}

/** What identifies a step that code submits; one that asks a third party says so in the headers of its callback. */
function identityOf({
  stepId,
  stepName,
  stepType,
  concurrent,
  targetStep,
  item,
}: Record<string, unknown>): StepIdentity {
  const headers = Object.entries((item as { headers?: Record<string, string> } | undefined)?.headers ?? {})
  const told = (name: string): string | undefined => headerEndingIn(headers, name)
  const called = told('forward-upstash-workflow-stepname')
  // What a third party is asked may look like a step, too.
  if (called === undefined) return { stepId, stepName, stepType, concurrent, targetStep } as StepIdentity
  return {
    stepId: Number(told('forward-upstash-workflow-stepid')),
    stepName: called,
    stepType: told('forward-upstash-workflow-steptype') ?? '',
    concurrent: Number(told('forward-upstash-workflow-concurrent')),
  }
}

/** Why a list was refused, out of the answer. */
export function messageOf({ body, error, note }: AttemptOutcome): string {
  const { message } = (parsedJson(text(body)) ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : (note ?? error ?? text(body))
}

/** JSON of a list, with its entries as they are delivered. */
export function listOf(entries: readonly { messageId: string; body: string; callType: string }[]): string {
  return JSON.stringify(entries.map(({ messageId, body, callType }) => ({ messageId, body, callType })))
}
