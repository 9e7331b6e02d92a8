import * as v from 'valibot'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import { once } from '../kernel/once.js'
import type { Policy, QueueLimits } from './policy.js'
import { defaultPolicy } from './policy.js'

const atLeast = (least: number): v.GenericSchema<number> => v.pipe(v.number(), v.minValue(least))
const amount = atLeast(0)
/** Never 0: paging by nothing would never end. */
const page = atLeast(1)
const limit = v.optional(amount)

type Schemas<T> = { readonly [name in keyof T]-?: v.GenericSchema<T[name]> }

const queueLimits: Schemas<QueueLimits> = {
  messagesPerDay: limit,
  maxMessageSize: amount,
  maxDelay: limit,
  maxTimeout: amount,
  maxRetries: amount,
  schedules: amount,
  queues: amount,
  queueParallelism: amount,
  globalParallelism: amount,
  urlGroups: amount,
  endpointsPerGroup: amount,
  logRetention: amount,
  dlqRetention: amount,
}

const policies: Schemas<Policy> = {
  trafficLimit: limit,
  maxTrafficBytes: limit,
  maxForkBytes: limit,
  commands: v.picklist(['all', 'documented']),
  aclRules: v.picklist(['service', 'redis']),
  maxRequestSize: amount,
  maxAnswerSize: amount,
  maxWork: amount,
  dailyRequestLimit: limit,
  monthlyRequestLimit: limit,
  maxStorage: limit,
  maxKeySize: amount,
  maxRecordSize: limit,
  maxPendingPerConsumer: limit,
  scanPageSize: page,
  maxStreamBuffer: amount,
  maxScriptSteps: amount,
  searchLag: amount,
  maxSearchDocument: amount,
  maxSearchIndexes: limit,
  searchScore: v.picklist(['bm25', 'constant']),
  searchSingleWord: v.picklist(['fuzzy', 'term']),
  searchLoneMustNot: v.picklist(['nothing', 'rest']),
  searchScoreMode: v.picklist(['multiply', 'sum']),
  searchFastByDefault: v.boolean(),
  searchKeywordFast: v.picklist(['refuse', 'accept']),
  retries: amount,
  queuePlan: v.picklist(['free', 'payg', 'fixed-1m', 'fixed-10m']),
  queueLimits: someOf(queueLimits),
  enforceQuotas: v.boolean(),
  maxBatchSize: amount,
  quotaStatus: amount,
  readOnlyStatus: amount,
  queueBurstLimit: limit,
  queueDailyLimit: limit,
  homeRegion: v.optional(v.string()),
  backoffFactor: amount,
  roundBackoff: v.boolean(),
  maxRetryDelay: amount,
  retryHeadersOverrideExpression: v.boolean(),
  deduplicationWindow: amount,
  deliveredReadableFor: limit,
  cancelledSpelling: v.picklist(['CANCELLED', 'CANCELED']),
  cancelledAt: v.picklist(['due', 'now']),
  callbackTimes: v.picklist(['string', 'number']),
  refuseCallbackDelay: v.boolean(),
  followRedirects: v.boolean(),
  refuseLoopback: v.boolean(),
  refuseEncodedDestination: v.boolean(),
  unhandledDestination: v.union([v.literal('error'), amount]),
  handlerPatience: limit,
  callerIp: v.string(),
  logPageSize: page,
  maxLogPageSize: page,
  dlqPageSize: page,
  maxCancelCount: page,
  maxRatePeriod: amount,
  callReports: v.picklist(['last', 'every']),
  lazyAbove: limit,
  maxRunSteps: limit,
  maxRunContext: limit,
  deduplicateSteps: v.boolean(),
  echoConfiguration: v.boolean(),
  stepConfiguration: v.boolean(),
  twoPhaseTrigger: v.picklist(['unknown-url', 'always', 'header']),
  notifyOrder: v.picklist(['oldest', 'newest']),
  waitList: v.picklist(['fifo', 'shuffled']),
  cronDialect: v.picklist(['go', 'crontab']),
  cronEvery: v.picklist(['refuse', 'accept']),
  replacedScheduleStaysPaused: v.boolean(),
  replacedScheduleKeepsCreatedAt: v.boolean(),
}

function someOf<T>(schemas: Schemas<T>): v.GenericSchema<Partial<T>> {
  const entries = Object.entries<v.GenericSchema>(schemas as never)
  return v.strictObject(
    Object.fromEntries(
      entries.map(([name, schema]) => [name, schema.type === 'optional' ? schema : v.exactOptional(schema)]),
    ),
  ) as unknown as v.GenericSchema<Partial<T>>
}

/** What each policy may be set to; none has to be. */
export const policySchema: () => v.GenericSchema<Partial<Policy>> = once(() => someOf(policies))

/** The defaults with some choices replaced; an unknown name or an impossible value throws. */
export function policyWith(changes: Partial<Policy> = {}): Policy {
  const names = Object.keys(changes)
  if (names.length === 0) return { ...defaultPolicy }
  const unknown = names.find((name) => !Object.hasOwn(defaultPolicy, name))
  if (unknown !== undefined) {
    const known = Object.keys(defaultPolicy)
    throw new TypeError(
      `There is no policy ${JSON.stringify(unknown)}.${didYouMean(unknown, known)} The policies are ${known.join(', ')}.`,
    )
  }
  if (changes.queueLimits !== undefined)
    checkOptionNames('policy.queueLimits', changes.queueLimits, Object.keys(queueLimits))
  const [issue] = v.safeParse(policySchema(), changes).issues ?? []
  if (issue !== undefined) {
    throw new TypeError(`policy.${v.getDotPath(issue)} takes ${issue.expected}, not ${issue.received}.`)
  }
  return { ...defaultPolicy, ...changes }
}
