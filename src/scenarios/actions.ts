import { type Bytes, fromBase64, utf8 } from '../kernel/bytes.js'
import type { DeadLetter } from '../queue/delivery/callbacks-and-dead-letters.js'
import type { Message } from '../queue/message/message.js'
import { engineOf } from '../queue/queue-internals.js'
import { targetOf } from '../queue/settings/url.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { recordInternal } from '../sandbox/sandbox-internals.js'
import type { StepContext } from './stage.js'
import type { PublishStep, RequestStep, ScheduleStep } from './step-values.js'
import { type MessageContent, type MessageOptions, type ScenarioHeaders, settingsOf } from './values.js'

// Steps of scenarios whose implementation is too long for the table of steps.

/** Publishes the message of a step. If the step has `times`, publishes it that often. */
export function publish(given: PublishStep, stage: StepContext): void {
  const { times } = given
  const ids: string[] = []
  for (let n = 1; n <= (times ?? 1); n++)
    ids.push(...publishOne(times === undefined ? given : numbered(given, n), stage.sandbox))
  if (given.as !== undefined) stage.messages.set(given.as, [...(stage.messages.get(given.as) ?? []), ...ids])
}

function publishOne(given: PublishStep, sandbox: Sandbox): string[] {
  const { to, as: _as, times: _times, queue, body, bodyBase64, headers, ...options } = given
  const call = messageCall(
    to,
    { body, ...(bodyBase64 !== undefined && { bodyBase64 }), ...(headers && { headers }) },
    options,
    sandbox,
  )
  const results = recordInternal(sandbox, ({ queue: face }) =>
    engineOf(face).publisher.publish({ ...call, settings: new Map(call.settings), queue }),
  )
  return results.map(({ message }) => message.id)
}

function numbered<T>(value: T, n: number): T {
  if (typeof value === 'string') return value.replaceAll('{n}', String(n)) as T
  if (Array.isArray(value)) return value.map((item) => numbered(item, n)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, numbered(item, n)])) as T
}

export function createSchedule(given: ScheduleStep, sandbox: Sandbox): void {
  const { id, cron, to, queue, paused, body, bodyBase64, headers, ...options } = given
  const call = messageCall(
    to,
    { body, ...(bodyBase64 !== undefined && { bodyBase64 }), ...(headers && { headers }) },
    options,
    sandbox,
  )
  call.settings.set('cron', cron).set('schedule-id', id)
  recordInternal(sandbox, ({ queue: face }) => {
    const engine = engineOf(face)
    const { schedule } = engine.publisher.schedule({ ...call, settings: new Map(call.settings), queue })
    if (paused !== undefined) engine.schedules.setPaused(schedule, paused)
  })
}

function messageCall(destination: string, content: MessageContent, options: MessageOptions, sandbox: Sandbox) {
  const settings = settingsOf(options)
  let contentType: string | undefined
  for (const [header, value] of Object.entries(content.headers ?? {})) {
    if (header.toLowerCase() === 'content-type') contentType = value
    else settings.set(`forward-${header}`, value)
  }
  const { body, bodyBase64 } = content
  if (body !== undefined && typeof body !== 'string') contentType ??= 'application/json'
  return {
    target: targetOf(destination),
    settings,
    headers: { contentType },
    body: bodyBase64 === undefined ? bytesOf(body) : (fromBase64(bodyBase64) ?? utf8('')),
    callerIp: sandbox.policy.callerIp,
    region: engineOf(sandbox.queue).region,
    words: engineOf(sandbox.queue).words,
  }
}

function bytesOf(body: unknown): Bytes {
  return utf8(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
}

/** Returns the pending messages that publish steps with the name `who` have published. */
export function messagesOf(who: string, { sandbox, messages }: StepContext): readonly Message[] {
  return (messages.get(who) ?? []).flatMap((id) => sandbox.queue.getMessage(id) ?? [])
}

function lettersOf(who: string, { sandbox, messages }: StepContext): readonly DeadLetter[] {
  const ids = who === 'all' ? undefined : new Set(messages.get(who))
  return sandbox.queue.deadLetters.filter(({ message }) => ids === undefined || ids.has(message.id))
}

export function deleteDeadLetters(who: string, stage: StepContext): void {
  for (const { id } of lettersOf(who, stage)) {
    recordInternal(stage.sandbox, ({ queue }) => {
      const { deadLetters } = engineOf(queue).courier
      const letter = deadLetters.get(id)
      if (letter !== undefined) deadLetters.delete(letter)
    })
  }
}

export function retryDeadLetters(who: string, stage: StepContext): void {
  for (const letter of lettersOf(who, stage)) {
    const { id } = stage.sandbox.queue.retryDeadLetter(letter.id)
    if (who !== 'all') stage.messages.get(who)?.push(id)
  }
}

export function setPaused(id: string, paused: boolean, sandbox: Sandbox): void {
  recordInternal(sandbox, ({ queue }) => {
    const { schedules } = engineOf(queue)
    const schedule = schedules.get(id)
    if (schedule === undefined) throw new RangeError(`there is no schedule ${JSON.stringify(id)}.`)
    schedules.setPaused(schedule, paused)
  })
}

/** Sends an HTTP request like an app and checks the response. While it waits for the response, virtual time moves. */
export async function request(given: RequestStep, stage: StepContext): Promise<void> {
  const { sandbox } = stage
  const { body, path, database } = given
  const store = database === undefined ? sandbox.urls.store : sandbox.urls.databases[database]!
  const address = { store, queue: sandbox.urls.queue, stats: sandbox.urls.mgmt }
  const method = given.method ?? (body === undefined ? 'GET' : 'POST')
  const isJson = body !== undefined && typeof body !== 'string'
  const answer = sandbox
    .fetch(`${address[given.service]}${path}`, {
      method,
      headers: {
        ...authorization(given, sandbox),
        ...(isJson && { 'content-type': 'application/json' }),
        ...given.headers,
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string) }),
    })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch((error: Error) => ({ status: 0, text: error.message }))
  const got = await untilSettled(answer, sandbox)
  if (got === undefined) stage.differs(`${method} ${path} got no response within a day of virtual time.`)
  else compareAnswer(given, got, `${method} ${path}`, stage)
}

function compareAnswer(
  { status, response: answer }: RequestStep,
  got: { readonly status: number; readonly text: string },
  shown: string,
  stage: StepContext,
): void {
  if (got.status === 0) {
    if (status !== 0) stage.differs(`${shown} got no response: ${got.text}`)
  } else if (status !== undefined && status !== got.status) {
    stage.differs(`${shown} returned status ${got.status}, expected ${status}: ${got.text.slice(0, 200)}`)
  } else if (answer !== undefined && !holds(parsed(got.text), answer)) {
    stage.differs(`${shown} returned ${got.text.slice(0, 200)}, expected ${JSON.stringify(answer)}.`)
  }
}

export const maxWait = 86_400_000
export const maxTimers = 10_000

/**
 * Moves time to one timer after another until the work is done. Returns `undefined` if the work takes more than a day
 * of virtual time.
 */
async function untilSettled<T>(work: Promise<T>, { clock }: Sandbox): Promise<T | undefined> {
  let isDone = false
  const done = work.then(() => {
    isDone = true
  })
  const latest = clock.now() + maxWait
  for (let timers = 0; timers < maxTimers; timers++) {
    await Promise.race([done, clock.settle()])
    if (isDone) return work
    const [next] = clock.pending
    if (next === undefined || next.at > latest) return undefined
    await clock.advanceTo(Math.max(next.at, clock.now()))
  }
  return undefined
}

function authorization({ service, token = 'standard', database }: RequestStep, sandbox: Sandbox): ScenarioHeaders {
  if (token === 'none') return {}
  const { tokens } = sandbox
  const own = database === undefined ? tokens : tokens.databases[database]!
  if (service === 'stats') return { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` }
  const readOnly = token === 'read-only'
  const chosen =
    service === 'store' ? (readOnly ? own.storeReadonly : own.store) : readOnly ? tokens.queueReadonly : tokens.queue
  return { authorization: `Bearer ${chosen}` }
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return answer
  }
}

/** Returns whether a value is equal to what is expected. Objects may have additional fields. */
function holds(received: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(received) &&
      received.length === expected.length &&
      expected.every((item, index) => holds(received[index], item))
    )
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(received, expected)
  if (typeof received !== 'object' || received === null) return false
  return Object.entries(expected).every(
    ([key, item]) => Object.hasOwn(received, key) && holds((received as Record<string, unknown>)[key], item),
  )
}
