import type { FaultFacts } from '../../faults/fault.js'
import { defaultPolicy } from '../../policy/policy.js'
import { json } from '../../protocol/call.js'
import type { ServiceFaults, ServiceRequest } from '../../protocol/service.js'
import { rateLimitResponse } from '../destinations/rate-limit.js'
import { commaList } from '../settings/publish-options.js'
import { planOf } from '../settings/queue-plan.js'
import { refusals } from '../settings/queue-rejections.js'
import type { QueueApi } from './reading.js'

// Error responses that the queue sends for faults, and the facts about queue requests that fault rules can match.

/** Maximum number of messages per day in the free plan. [queue.md 5.6] */
const freePlan = planOf({ ...defaultPolicy, queuePlan: 'free' }).messagesPerDay ?? 0

export const queueFaults: ServiceFaults<QueueApi> = {
  answer(fault, _call, { queue }) {
    if (fault.kind === 'status') return json({ error: fault.text }, fault.status)
    if (fault.kind === 'rate-limited') return rateLimitResponse(fault, queue.now())
    const refusal = refusals.quota('maxMessagesPerDay', freePlan, queue.policy.quotaStatus)
    return json({ error: refusal.message }, refusal.status)
  },
  facts: settingFacts,
  restart: (until, { queue }) => queue.courier.restart(until),
}

function settingFacts({ settings }: ServiceRequest): FaultFacts {
  return {
    flowControlKey: settings.get('flow-control-key'),
    labels: commaList(settings.get('label') ?? ''),
    scheduleId: settings.get('schedule-id'),
    queue: settings.get('queue-name'),
  }
}
