import * as v from 'valibot'
import { type Duration, milliseconds } from '../kernel/duration.js'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import { once } from '../kernel/once.js'
import { shownValue } from '../kernel/shown-value.js'
import type { Policy, QueueLimits, ResolvedPolicy } from './policy.js'
import { defaultPolicy, policyDurations, queueLimitDurations } from './policy.js'

const atLeast = (least: number): v.GenericSchema<number> => v.pipe(v.number(), v.minValue(least))
const amount = atLeast(0)
/** Probability from 0 to 1. */
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
/** Pages with 0 entries are not allowed, because a client would read empty pages forever. */
const page = atLeast(1)
const limit = v.optional(amount)
const duration = v.union([
  v.pipe(
    v.string(),
    v.regex(
      /^(?:\d+(?:\.\d+)?(?:ms|mo|[smhdwy]))+$/,
      'must be a duration such as 90s, 5m or 1d10h30m, or milliseconds as a number',
    ),
  ),
  amount,
]) as v.GenericSchema<unknown, Duration> as v.GenericSchema<Duration>
const durationLimit = v.optional(duration)

type Schemas<T> = { readonly [name in keyof T]-?: v.GenericSchema<T[name]> }

const queueLimits: Schemas<QueueLimits> = {
  messagesPerDay: limit,
  maxMessageSize: amount,
  maxDelay: durationLimit,
  maxTimeout: duration,
  maxRetries: amount,
  schedules: amount,
  queues: amount,
  queueParallelism: amount,
  globalParallelism: amount,
  urlGroups: amount,
  endpointsPerGroup: amount,
  logRetention: duration,
  dlqRetention: duration,
}

const recalls: Schemas<Exclude<Policy['vectorRecall'], number>> = { fast: share, balanced: share, precise: share }

const policies = (): Schemas<Policy> => ({
  maxTrafficEntries: limit,
  maxTrafficBytes: limit,
  maxForkBytes: limit,
  commands: v.picklist(['all', 'documented']),
  aclRules: v.picklist(['service', 'redis']),
  nestedStatus: v.picklist(['encoded', 'raw']),
  maxRequestSize: amount,
  maxResponseSize: amount,
  maxWork: amount,
  dailyRequestLimit: limit,
  monthlyRequestLimit: limit,
  maxStorageSize: limit,
  eviction: v.picklist(['off', 'optimistic-volatile']),
  maxKeySize: amount,
  maxRecordSize: limit,
  maxPendingPerConsumer: limit,
  scanPageSize: page,
  maxStreamBuffer: amount,
  maxScriptSteps: amount,
  arrayScanReverse: v.picklist(['empty', 'error', 'reverse']),
  arrayLastItems: v.picklist(['length', 'values']),
  arrayRing: v.picklist(['inferred', 'stored']),
  searchIndexingDelay: duration,
  maxSearchDocument: amount,
  maxSearchIndexes: limit,
  maxSearchDocuments: limit,
  searchJsonArrays: v.picklist(['all', 'streams', 'never']),
  searchEmptyAggregate: v.picklist(['null', 'values']),
  streamRename: v.picklist(['refuse-indexed', 'refuse', 'allow']),
  searchScore: v.picklist(['bm25', 'constant']),
  searchSingleWord: v.picklist(['fuzzy', 'term']),
  searchLoneMustNot: v.picklist(['nothing', 'rest']),
  searchScoreMode: v.picklist(['multiply', 'sum']),
  searchFastByDefault: v.boolean(),
  searchKeywordFast: v.picklist(['reject', 'accept']),
  vectorScore: v.picklist(['normalized', 'raw']),
  vectorDot: v.picklist(['clamp', 'plain']),
  vectorRecall: v.union([share, someOf(recalls)]) as never,
  retries: amount,
  queuePlan: v.picklist(['free', 'payg', 'fixed-1m', 'fixed-10m']),
  queueLimits: someOf(queueLimits),
  enforceQuotas: v.boolean(),
  maxBatchSize: amount,
  quotaStatus: amount,
  readOnlyStatus: amount,
  queueBurstLimit: limit,
  queueDailyLimit: limit,
  homeRegion: v.optional(v.picklist(['us-east-1', 'eu-central-1'])),
  backoffFactor: amount,
  roundBackoff: v.boolean(),
  maxRetryDelay: duration,
  retryHeadersOverrideExpression: v.boolean(),
  deduplicationWindow: duration,
  deliveredRetention: durationLimit,
  canceledSpelling: v.picklist(['CANCELLED', 'CANCELED']),
  cancelTiming: v.picklist(['due', 'immediate']),
  cancelStatus: v.picklist([202, 200]),
  cancelCount: v.picklist(['ignored', 'honored']),
  bulkActionTime: duration,
  runNowBusy: v.picklist([404, 400]),
  callbackTimestampType: v.picklist(['string', 'number']),
  rejectCallbackDelay: v.boolean(),
  followRedirects: v.boolean(),
  rejectLoopback: v.boolean(),
  rejectEncodedDestination: v.boolean(),
  unhandledDestination: v.union([v.literal('error'), amount]),
  handlerStallTimeout: durationLimit,
  callerIp: v.string(),
  logPageSize: page,
  maxLogPageSize: page,
  dlqPageSize: page,
  maxCancelCount: page,
  maxRatePeriod: duration,
  workflowCallCallbacks: v.picklist(['last', 'every']),
  workflowLazyBodyAbove: limit,
  workflowMaxSteps: limit,
  workflowMaxContext: limit,
  workflowMaxEntriesPerStep: v.optional(atLeast(1)),
  workflowDeduplicateSteps: v.boolean(),
  workflowEchoConfiguration: v.picklist(['runs', 'all', 'off']),
  workflowStepConfiguration: v.boolean(),
  workflowSingletonRuns: v.picklist(['free-after-end', 'never-again', 'window']),
  workflowTwoPhaseTrigger: v.picklist(['unknown-url', 'always', 'header']),
  workflowNotifyOrder: v.picklist(['oldest', 'newest']),
  flowControlOrder: v.picklist(['fifo', 'shuffled']),
  cronDialect: v.picklist(['go', 'crontab']),
  cronEvery: v.picklist(['reject', 'accept']),
  replacedScheduleStaysPaused: v.boolean(),
  replacedScheduleKeepsCreatedAt: v.boolean(),
})

function someOf<T>(schemas: Schemas<T>): v.GenericSchema<Partial<T>> {
  const entries = Object.entries<v.GenericSchema>(schemas as never)
  return v.strictObject(
    Object.fromEntries(
      entries.map(([name, schema]) => [name, schema.type === 'optional' ? schema : v.exactOptional(schema)]),
    ),
  ) as unknown as v.GenericSchema<Partial<T>>
}

/** The schema of a policy object, in which every field is optional. */
export const policySchema: () => v.GenericSchema<Partial<Policy>> = once(() => someOf(policies()))

/**
 * Returns the default policies with some of them replaced.
 * @throws TypeError when a name is unknown or a value is invalid
 */
export function policyWith(changes: Partial<Policy> = {}): ResolvedPolicy {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw new TypeError(`policy must be an object such as { retries: 1 } (got ${shownValue(changes)}).`)
  }
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
  if (typeof changes.vectorRecall === 'object')
    checkOptionNames('policy.vectorRecall', changes.vectorRecall, Object.keys(recalls))
  const resolved = resolvedPolicy(changes)
  const [issue] = v.safeParse(policySchema(), resolved).issues ?? []
  if (issue !== undefined) {
    throw new TypeError(
      `policy.${v.getDotPath(issue)} must be ${expectedText(issue.expected)} (got ${issue.received}).`,
    )
  }
  return { ...defaultPolicy, ...resolved }
}

/** Converts the type that a schema expects to a readable text: `("go" | "crontab")` becomes `"go" or "crontab"`. */
function expectedText(expected: string | null): string {
  if (expected === 'number') return 'a number'
  if (expected === 'boolean') return 'true or false'
  return `${expected}`
    .replace(/^\((.*)\)$/, '$1')
    .replaceAll(' | ', ' or ')
    .replace('>=', 'at least ')
}

/**
 * Converts the durations among the given policies to milliseconds.
 * @throws TypeError when a text is not a duration
 */
export function resolvedPolicy(changes: Partial<Policy>): Partial<ResolvedPolicy> {
  const { queueLimits } = changes
  return {
    ...inMilliseconds(changes, policyDurations, 'policy'),
    ...(typeof queueLimits === 'object' &&
      queueLimits !== null && {
        queueLimits: inMilliseconds(queueLimits, queueLimitDurations, 'policy.queueLimits'),
      }),
  } as Partial<ResolvedPolicy>
}

function inMilliseconds<T extends object>(given: T, names: readonly (keyof T & string)[], called: string): T {
  const spans = names.filter((name) => given[name] !== undefined)
  if (spans.length === 0) return given
  const read = (name: keyof T & string): number => {
    try {
      return milliseconds(given[name] as Duration)
    } catch (error) {
      throw new TypeError(`${called}.${name}: ${(error as Error).message}`)
    }
  }
  return { ...given, ...Object.fromEntries(spans.map((name) => [name, read(name)])) }
}
