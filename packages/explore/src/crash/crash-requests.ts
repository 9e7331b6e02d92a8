import { text } from '../../../../src/kernel/bytes.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { stepMessageOf } from '../../../../src/workflow/run-messages.js'
import { effectText, happened, storeEffect } from './crash-effects.js'
import type { CrashSandbox } from './crash-sandbox.js'
import type { DeliveryWork } from './crash-work.js'
import { type Submission, submitted } from './run-delivery.js'
import { callWith, fetchesList, isOfRun, jsonResponse, pretended } from './run-requests.js'

/** Maximum number of sleeps of 0 ms while a wait is held back until its event has arrived. */
const maxTurns = 1_000

type Exchange = Sandbox['exchange']

/** Watches the requests that deliveries send to the sandbox. As the crash plan says, the process dies at a request. */
export function guardRequests(world: CrashSandbox): void {
  const { sandbox, works } = world
  const exchange = sandbox.exchange.bind(sandbox)
  sandbox.exchange = (call) => {
    const work = works.getStore()
    return work?.dead ? new Promise(() => {}) : exchanged(world, work, call, exchange)
  }
}

async function exchanged(
  world: CrashSandbox,
  work: DeliveryWork | undefined,
  call: RawRequest,
  exchange: Exchange,
): Promise<RawResponse> {
  const endpoint = endpointOf(world, call)
  if (endpoint === undefined) return ownRequest(world, work, call, exchange)
  const skip = world.count(`${call.method} ${endpoint}`)
  if (work?.delivery === undefined) return exchange(call)
  const { delivery } = work
  if (fetchesList(call, endpoint)) {
    // The delivery is repeated in a temporary sandbox whose queue does not know the workflow run. So return the steps
    // of the run here.
    if (work.submitsNothing) return jsonResponse(listOf(delivery.attempt))
    return world.disturbance('lazy-fetch', delivery.ordinal) === undefined ? exchange(call) : world.die(work)
  }
  const body = await call.body()
  const again = callWith(call, body)
  if (!isOfRun(call, endpoint, body, delivery.runId)) return ownRequest(world, work, again, exchange, endpoint)
  const { method, headers } = call
  return submit(world, work, { method, endpoint, headers, body, skip }, () => exchange(again))
}

/**
 * Handles a request of the app that is not about its workflow run.
 * @param endpoint path below the base URL of the queue, or `undefined` for other services
 */
async function ownRequest(
  world: CrashSandbox,
  work: DeliveryWork | undefined,
  call: RawRequest,
  exchange: Exchange,
  endpoint?: string,
): Promise<RawResponse> {
  if (work?.delivery === undefined) return exchange(call)
  const { method } = call
  const mark = world.sandbox.traffic.mark()
  const answer = await exchange(call)
  const dies = happened(world, work, () =>
    endpoint === undefined
      ? storeEffect(world.sandbox, mark)
      : { what: effectText(`${method} ${endpoint}`), isSeen: method !== 'GET' },
  )
  return dies ? new Promise(() => {}) : answer
}

async function submit(
  world: CrashSandbox,
  work: DeliveryWork,
  given: Omit<Submission, 'what' | 'at'>,
  exchange: () => RawResponse | Promise<RawResponse>,
): Promise<RawResponse> {
  const { ordinal, submissions } = work.delivery!
  const { endpoint, method, body } = given
  const nth = work.made++
  const submission: Submission = { ...given, what: submitted(endpoint, method, body), at: world.sandbox.clock.now() }
  ;(submissions as Submission[]).push(submission)
  if (work.submitsNothing) return pretended(endpoint, body)
  const held = world.disturbance('early-event', ordinal, nth)
  if (held !== undefined) await untilEvent(world, work, held.heldMs)
  if (world.disturbance('before-submission', ordinal, nth) !== undefined) return world.die(work)
  const answer = await exchange()
  return world.disturbance('after-submission', ordinal, nth) === undefined ? answer : world.die(work)
}

/**
 * Holds back the submission of a wait until its event has arrived.
 * @param ms virtual time until the event is expected
 */
async function untilEvent({ sandbox }: CrashSandbox, { task }: DeliveryWork, ms: number): Promise<void> {
  const events = (): number => sandbox.traffic.ofType('notify').length
  const before = events()
  await task?.sleep(ms + 1)
  for (let turn = 0; turn < maxTurns && events() === before; turn++) await task?.sleep(0)
}

/** Returns the path below the base URL of the queue, or `undefined` for other services. */
function endpointOf({ sandbox }: CrashSandbox, { url }: RawRequest): string | undefined {
  const { queue } = sandbox.urls
  return url.startsWith(`${queue}/`) ? url.slice(queue.length).split('?')[0] : undefined
}

/** Returns the steps of the workflow run up to a delivery, as JSON. */
function listOf({ message }: Attempt): string {
  const part = stepMessageOf(message)
  return part !== undefined ? text(part.run.listUpTo(part.index)) : '[]'
}
