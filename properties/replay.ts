import { connect } from '../fixtures/world.js'
import { text } from '../src/kernel/bytes.js'
import type { AttemptOutcome } from '../src/kernel/traffic.js'
import { createSandbox, type Sandbox } from '../src/sandbox/sandbox.js'
import { followers, type History, type StepIdentity } from './history.js'
import { headerEndingIn, json, stepsIn } from './run-delivery.js'
import { callWith, isOfRun, pretended, refusalOf } from './run-requests.js'
import { silence } from './step-chance.js'

/** Something that a run which is under way could not go on with. */
export interface Incompatibility {
  /** Entries of the list that was delivered. */
  readonly prefix: number
  /** What the history says comes next. */
  readonly expected: string
  /** What the code did instead. */
  readonly actual: string
}

export interface Replay {
  /** Lists that were delivered. */
  readonly prefixes: number
  readonly incompatible: readonly Incompatibility[]
}

type Done = readonly StepIdentity[] | 'end' | 'nothing'

/**
 * Delivers every prefix of a history to today's code and tells where it would go on otherwise. Nothing that the code
 * submits is accepted, and no host is reachable but what the app registers in the sandbox.
 * @param app serves the workflow in a sandbox, at the url of the history
 * @example expect((await replay(history, ({ destinations }) => destinations.on(url, POST))).incompatible).toEqual([])
 */
export async function replay(history: History, app: (sandbox: Sandbox) => unknown): Promise<Replay> {
  checkHistory(history)
  const incompatible: Incompatibility[] = []
  let prefixes = 0
  for (const [at, { callType }] of history.entries.entries()) {
    if (callType === 'toCallback') continue
    prefixes++
    const expected = followers(history, at)
    if (expected === undefined) continue
    const { done, outcome } = await delivered(history, at, app)
    const told = wrongWith(expected, done, outcome)
    if (told !== undefined) incompatible.push({ prefix: at + 1, expected: inWords(expected), actual: told })
  }
  return { prefixes, incompatible }
}

function wrongWith(expected: Done, done: Done, outcome: AttemptOutcome | undefined): string | undefined {
  if (outcome === undefined) return 'the route never answered'
  if (outcome.status !== 200) {
    const step = headerEndingIn(outcome.headers, 'error-step-name')
    // The body of the right step ran: what it needs is not there, which is nothing that the history could tell.
    const refusal = refusalOf(outcome)
    if (refusal === undefined && Array.isArray(expected) && expected.some(({ stepName }) => stepName === step))
      return undefined
    const { message } = (json(text(outcome.body)) ?? {}) as { message?: string }
    return `answered ${outcome.status}: ${refusal ?? message ?? outcome.error ?? text(outcome.body)}`
  }
  // What comes behind the end of the history breaks nothing.
  if (expected === 'end' || inWords(expected) === inWords(done)) return undefined
  return inWords(done)
}

async function delivered(
  history: History,
  at: number,
  app: (sandbox: Sandbox) => unknown,
): Promise<{ readonly done: Done; readonly outcome: AttemptOutcome | undefined }> {
  using sandbox = createSandbox({ vocabulary: 'upstash', startAt: history.createdAt, warn: () => {} })
  const host = globalThis.fetch
  globalThis.fetch = () => Promise.reject(new TypeError('replay(): no host is reachable but the sandbox.'))
  const restore = connect(sandbox, { env: false, realHosts: 'allow', via: 'fetch' })
  // The SDK says of every list that it refuses what is in the result too.
  const speak = silence(() => true)
  let done: Done = 'nothing'
  const exchange = sandbox.exchange.bind(sandbox)
  const { queue } = sandbox.addresses
  sandbox.exchange = async (call) => {
    const endpoint = call.url.startsWith(`${queue}/`) ? call.url.slice(queue.length).split('?')[0]! : undefined
    const body = await call.body()
    if (endpoint === undefined || call.method === 'GET' || !isOfRun(call, endpoint, body, history.runId))
      return exchange(callWith(call, body))
    if (call.method === 'DELETE') done = 'end'
    else if (!endpoint.startsWith('/v2/notify/')) done = stepsIn({ endpoint, body }).map(identityOf)
    return pretended(endpoint, body)
  }
  try {
    await app(sandbox)
    sandbox.queue.publish({
      to: history.url,
      body: JSON.stringify(history.entries.slice(0, at + 1)),
      headers: headersOf(history, at),
      retries: 0,
    })
    await sandbox.clock.advance(0)
    const [attempt] = sandbox.traffic.of('attempt')
    return { done, outcome: attempt?.outcome }
  } finally {
    speak()
    restore()
    globalThis.fetch = host
  }
}

function headersOf({ runId, url, createdAt, headers }: History, at: number): Record<string, string> {
  return {
    ...headers,
    'content-type': 'application/json',
    'upstash-workflow-runid': runId,
    'upstash-workflow-url': url,
    'upstash-workflow-init': String(at === 0),
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
  if (stepName !== undefined) return { stepId, stepName, stepType, concurrent, targetStep } as StepIdentity
  const headers = Object.entries((item as { headers: Record<string, string> }).headers)
  const told = (name: string): string => headerEndingIn(headers, name) ?? ''
  return {
    stepId: Number(told('workflow-stepid')),
    stepName: told('workflow-stepname'),
    stepType: told('workflow-steptype'),
    concurrent: Number(told('workflow-concurrent')),
  }
}

/** Branches as a set: their order says nothing. */
function inWords(done: Done): string {
  if (done === 'end') return 'the end of the run'
  if (done === 'nothing' || done.length === 0) return 'nothing'
  return done
    .map(({ stepId, stepName, stepType, concurrent, targetStep }) => {
      const place = targetStep === undefined ? `step ${stepId}` : `the plan of step ${targetStep}`
      return `${place} '${stepName}' (${stepType}${concurrent > 1 ? `, one of ${concurrent}` : ''})`
    })
    .sort()
    .join(', ')
}

function checkHistory(history: History): void {
  if (history?.format === 'stuntdouble/history' && Array.isArray(history.entries) && history.entries.length > 0) return
  throw new TypeError(
    'replay() takes a history, as historyOf(sandbox, runId) gives it, and a function that serves the app.',
  )
}
