import { connect } from '../../../../fixtures/fixture-sandbox.js'
import { refuseLookups } from '../../../../src/adapters/lookup.js'
import { type Bytes, text, toBase64 } from '../../../../src/kernel/bytes.js'
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

/** What the code did with a list of steps: it submitted steps, ended the workflow run, or did nothing. */
export type DeliveryResult = readonly StepIdentity[] | 'end' | 'nothing'

export interface Delivered {
  readonly done: DeliveryResult
  /** `undefined` if the app did not respond. */
  readonly outcome: AttemptOutcome | undefined
}

/** A function that serves the workflow in a sandbox. */
export type ReplayedApp = (sandbox: Sandbox) => unknown

/** Virtual time that a delivery may take. */
const longest = '15m'
/**
 * The timeout is measured with timers of this many milliseconds. If the code blocks the event loop, the block uses up
 * only one timer, not the whole timeout.
 */
const slice = 50
/** The setup loads modules, so its timeout is longer by this factor. */
const setUpFactor = 10

/**
 * Delivers a list of steps to the app in a new sandbox. The sandbox accepts no submission, and no host is reachable.
 * @param body body of the delivery: the list as JSON
 * @param isFirst whether the delivery starts the run
 * @param patience timeout of the delivery, in milliseconds of host time
 */
export async function deliver(
  history: RunHistory,
  body: string,
  isFirst: boolean,
  app: ReplayedApp,
  patience: number,
): Promise<Delivered> {
  const { configures, ...delivered } = await delivery(history, body, isFirst, app, patience)
  if (configures === undefined) return delivered
  // The code requests settings for its next step. The service then delivers again, with the request in the list.
  const entry = { messageId: 'msg_settings', body: toBase64(configures), callType: 'stepConfig' }
  const again = `${body.slice(0, -1)},${JSON.stringify(entry)}]`
  const { configures: _, ...configured } = await delivery(history, again, false, app, patience, true)
  return configured
}

/**
 * Delivers a list once.
 * @param isConfigured whether the delivery has the settings that the code has requested for its next step
 * @returns what the code did. `configures` is the body of a request for settings of the next step
 */
async function delivery(
  history: RunHistory,
  body: string,
  isFirst: boolean,
  app: ReplayedApp,
  patience: number,
  isConfigured = false,
): Promise<Delivered & { readonly configures?: Bytes | undefined }> {
  using sandbox = createSandbox({
    onWarning: () => {},
    ...(history.createdAt !== undefined && { startAt: history.createdAt }),
  })
  const host = globalThis.fetch
  globalThis.fetch = () => Promise.reject(unreachable())
  // Databases, and clients that use `node:http`, do not use `fetch`. Make their DNS queries fail.
  const allowLookups = refuseLookups(unreachable)
  const restore = connect(sandbox, { intercept: 'fetch' })
  globalThis.fetch = withRealQueue(sandbox, globalThis.fetch)
  // The SDK logs an error for each list that it rejects. The result of the replay already contains that error.
  const speak = silence(() => true)
  let done: DeliveryResult = 'nothing'
  let configures: Bytes | undefined
  const exchange = sandbox.exchange.bind(sandbox)
  const { queue } = sandbox.urls
  sandbox.exchange = async (call: RawRequest) => {
    const endpoint = call.url.startsWith(`${queue}/`) ? call.url.slice(queue.length).split('?')[0]! : undefined
    const given = await call.body()
    if (endpoint === undefined || call.method === 'GET' || !isOfRun(call, endpoint, given, history.runId))
      return exchange(callWith(call, given))
    if (headerEndingIn(call.headers, 'workflow-calltype') === 'stepConfig') configures = given
    else if (call.method === 'DELETE') done = 'end'
    else if (!endpoint.startsWith('/v2/notify/')) done = stepsIn({ endpoint, body: given }).map(identityOf)
    return pretended(endpoint, given)
  }
  try {
    const served = await within(patience * setUpFactor, Promise.resolve(app(sandbox)))
    if (!served)
      throw new Error(
        'replay(): the function that serves the app did not return in time. Raise `timeout`, or let the function return.',
      )
    const headers = {
      ...headersOf(history, isFirst),
      ...(isConfigured && { 'upstash-workflow-step-config': 'true' }),
    }
    sandbox.queue.publish({ to: history.url, body, headers, retries: 0, timeout: longest })
    const outcome = (): AttemptOutcome | undefined => sandbox.traffic.ofType('attempt')[0]?.outcome
    await within(patience, sandbox.clock.advance(longest, { until: () => outcome() !== undefined }))
    if (outcome()?.note?.startsWith('No destination responds at ') === true) {
      throw new TypeError(
        `replay(): the app serves nothing at ${history.url}. Register it with destinations.on(), or replay { ...history, url } with its URL.`,
      )
    }
    return { done, outcome: outcome(), configures }
  } finally {
    speak()
    restore()
    allowLookups()
    globalThis.fetch = host
  }
}

function unreachable(): Error {
  return new TypeError(
    'replay(): the code under test can reach only the sandbox. Register the host with sandbox.outbound.on().',
  )
}

/**
 * Waits until the work has ended or the timeout has passed.
 * @param patience timeout in milliseconds
 * @returns whether the work has ended
 */
async function within(patience: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof hostSetTimeout> | undefined
  const over = new Promise<false>((resolve) => {
    const wait = (left: number): void => {
      timer = hostSetTimeout(() => (left > slice ? wait(left - slice) : resolve(false)), Math.min(slice, left))
    }
    wait(patience)
  })
  // After the timeout, no code awaits the work. Ignore an error that the work throws later.
  work.catch(() => {})
  try {
    return await Promise.race([work.then(() => true), over])
  } finally {
    hostClearTimeout(timer)
  }
}

/**
 * Redirects requests for the vendor's queue to the sandbox. A client that was created before the sandbox set the
 * environment still has the vendor's URL.
 */
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

/** Returns the identity of a submitted step. The identity of a call is in the headers for its callback. */
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
  // A step without these headers is not a call. Check the headers first, because the body of a call could look like a
  // step.
  if (called === undefined) return { stepId, stepName, stepType, concurrent, targetStep } as StepIdentity
  return {
    stepId: Number(told('forward-upstash-workflow-stepid')),
    stepName: called,
    stepType: told('forward-upstash-workflow-steptype') ?? '',
    concurrent: Number(told('forward-upstash-workflow-concurrent')),
  }
}

/** Returns the error message with which the SDK rejected a list. */
export function messageOf({ body, error, note }: AttemptOutcome): string {
  const { message } = (parsedJson(text(body)) ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : (note ?? error ?? text(body))
}

/** Formats a list of steps as the JSON that the queue delivers. */
export function listOf(entries: readonly { messageId: string; body: string; callType: string }[]): string {
  return JSON.stringify(entries.map(({ messageId, body, callType }) => ({ messageId, body, callType })))
}
