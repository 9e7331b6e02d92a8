import type { FaultFacts } from '../../faults/fault.js'
import { defaultPolicy } from '../../policy/policy.js'
import { json } from '../../protocol/respond.js'
import type { ServiceCall, ServiceFaults } from '../../protocol/service.js'
import { rateLimitAnswer } from '../destinations/rate-limit.js'
import { refusals } from '../settings/errors.js'
import { commaList } from '../settings/options.js'
import { planOf } from '../settings/plan.js'
import { readTarget } from '../settings/url.js'
import { splitQuery } from './publishing.js'
import type { QueueApi } from './reading.js'

// What faults need of the queue: its words, and what rules may ask about its requests.

/** Messages a day of the free plan. [queue.md 5.6] */
const freePlan = planOf({ ...defaultPolicy, queuePlan: 'free' }).messagesPerDay ?? 0

export const queueFaults: ServiceFaults<QueueApi> = {
  answer(fault, _call, { queue }) {
    if (fault.kind === 'status') return json({ error: fault.text }, fault.status)
    if (fault.kind === 'rate-limited') return rateLimitAnswer(fault, queue.now())
    const refusal = refusals.quota('maxMessagesPerDay', freePlan, queue.policy.quotaStatus)
    return json({ error: refusal.message }, refusal.status)
  },
  facts: (call, api) => requestFacts(call, api),
  restart: (until, { queue }) => queue.courier.restart(until),
}

const publishing = /^\/v2\/(?:publish|schedules|enqueue\/([^/]+))\/(.+)$/s
const named = /^\/v2\/(messages|queues|schedules|topics|flowControl)\/([^/]+)/

function requestFacts(call: ServiceCall, api: QueueApi): FaultFacts {
  const settings = call.settings
  const facts: { -readonly [Field in keyof FaultFacts]: FaultFacts[Field] } = {
    flowControlKey: settings.get('flow-control-key'),
    labels: commaList(settings.get('label') ?? ''),
    scheduleId: settings.get('schedule-id'),
    queue: settings.get('queue-name'),
  }
  const publish = call.method === 'POST' ? publishing.exec(call.path) : null
  if (publish !== null) {
    if (publish[1] !== undefined) facts.queue = decoded(publish[1])
    const { rest } = splitQuery(call.query, api.vocabulary)
    const { url, group } = readTarget(publish[2]!, rest, { refuseEncodedDestination: false })
    if (url === undefined) facts.urlGroup = group
    else facts.destination = url
    return facts
  }
  const [, what, id] = named.exec(call.path) ?? []
  if (id === undefined) return facts
  if (what === 'messages') facts.messageId = decoded(id)
  if (what === 'queues') facts.queue = decoded(id)
  if (what === 'schedules') facts.scheduleId = decoded(id)
  if (what === 'topics') facts.urlGroup = decoded(id)
  if (what === 'flowControl') facts.flowControlKey = decoded(id)
  return facts
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
