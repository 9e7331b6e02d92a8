import type { QueuePlan, ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'

const day = 86_400_000
const megabyte = 1_048_576

/** Limits of each plan. [queue.md 5.6] */
export const plans: Readonly<Record<QueuePlan, ResolvedQueueLimits>> = {
  free: {
    messagesPerDay: 1000,
    maxMessageSize: megabyte,
    maxDelay: 7 * day,
    maxTimeout: 900_000,
    maxRetries: 5,
    schedules: 10,
    queues: 10,
    queueParallelism: 2,
    globalParallelism: 10,
    urlGroups: 1,
    endpointsPerGroup: 100,
    logRetention: 3 * day,
    dlqRetention: 3 * day,
  },
  payg: {
    messagesPerDay: undefined,
    maxMessageSize: 10 * megabyte,
    maxDelay: 365 * day,
    maxTimeout: 2 * 3_600_000,
    maxRetries: 5,
    schedules: 1000,
    queues: 100,
    queueParallelism: 10,
    globalParallelism: 100,
    urlGroups: 100,
    endpointsPerGroup: 100,
    logRetention: 7 * day,
    dlqRetention: 7 * day,
  },
  'fixed-1m': {
    messagesPerDay: 1_000_000,
    maxMessageSize: 50 * megabyte,
    maxDelay: undefined,
    maxTimeout: 6 * 3_600_000,
    maxRetries: 999,
    schedules: 10_000,
    queues: 1000,
    queueParallelism: 10,
    globalParallelism: 200,
    urlGroups: 1000,
    endpointsPerGroup: 1000,
    logRetention: 14 * day,
    dlqRetention: 30 * day,
  },
  'fixed-10m': {
    messagesPerDay: 10_000_000,
    maxMessageSize: 50 * megabyte,
    maxDelay: undefined,
    maxTimeout: 12 * 3_600_000,
    maxRetries: 999,
    schedules: 50_000,
    queues: 1000,
    queueParallelism: 10,
    globalParallelism: 1000,
    urlGroups: 2000,
    endpointsPerGroup: 2000,
    logRetention: 14 * day,
    dlqRetention: 90 * day,
  },
}

/** Returns the limits that apply: those of the plan, unless the policy overrides them. */
export function planOf(policy: ResolvedPolicy): ResolvedQueueLimits {
  const limits = plans[policy.queuePlan]
  if (limits === undefined) {
    throw new TypeError(
      `policy.queuePlan: there is no plan ${JSON.stringify(policy.queuePlan)}. Use one of ${Object.keys(plans).join(', ')}.`,
    )
  }
  return { ...limits, ...policy.queueLimits }
}
