import type { Duration } from '../kernel/duration.js'

/**
 * What a price plan of the queue allows. Durations as texts such as `'7d'` or in milliseconds, sizes in bytes; `undefined` is
 * unlimited. [queue.md 5.6]
 */
export interface QueueLimits {
  readonly messagesPerDay: number | undefined
  readonly maxMessageSize: number
  readonly maxDelay: Duration | undefined
  /** Longest time a destination may take to answer. */
  readonly maxTimeout: Duration
  readonly maxRetries: number
  readonly schedules: number
  readonly queues: number
  readonly queueParallelism: number
  readonly globalParallelism: number
  readonly urlGroups: number
  readonly endpointsPerGroup: number
  readonly logRetention: Duration
  readonly dlqRetention: Duration
}

/** The name of a plan of the queue, which sets its limits. */
export type QueuePlan = 'free' | 'payg' | 'fixed-1m' | 'fixed-10m'

/**
 * Every number and choice that the public sources leave open or contradict, by name, with its default and source.
 * `createSandbox({ policy: { … } })` overrides any of them.
 */
export interface Policy {
  /** Entries that the traffic log keeps, `undefined` for all, 0 for no capturing at all; beyond it the older half is dropped. */
  maxTrafficEntries: number | undefined
  /**
   * Bytes that a sandbox keeps of what came and happened, `undefined` for all: requests and answers, commands and replies,
   * messages, every entry of the log with what it takes by itself. Beyond it the older half of the log is dropped. The journal,
   * from which the past is played again, has at most three eighths of it; beyond that it ends, and there is no going back any more.
   */
  maxTrafficBytes: number | undefined
  /**
   * Bytes that all forks of a sandbox, and their forks, keep together, counted as `maxTrafficBytes` counts; `undefined` for
   * no limit. Beyond it `fork()` is refused until one of them is disposed of, and their logs drop their older halves.
   */
  maxForkBytes: number | undefined
  /**
   * Which commands the store has. `all`: also those of redis-server 7.0 that the service has no page for, such as `OBJECT`,
   * `SORT` and `LCS`; a diagnostic names each that runs. `documented`: refuses these. [service.md B, command groups]
   */
  commands: 'all' | 'documented'
  /**
   * Which rules ACL SETUSER takes. `service`: those of the service's page. `redis`: also passwords, hashes, `nopass`, rules
   * for subcommands and selectors. [store.md 6.3]
   */
  aclRules: 'service' | 'redis'
  /** Bytes that one command's arguments, or its reply, may have. [store.md 10] */
  maxRequestSize: number
  /**
   * Bytes of the answer to one request to the store, all results of a pipeline or a transaction together; a guard of this
   * package, not a fact about the service. Results beyond it are errors, and in a pipeline their commands are not run.
   */
  maxResponseSize: number
  /**
   * Units of work that one request to the store may cost; a guard of this package, not a fact about the service. A unit is
   * some 25 nanoseconds, see docs/decisions/work-budget.md. What would cost more is refused, before it does anything
   * where that can be known.
   */
  maxWork: number
  /** Commands per virtual day, `undefined` for no limit. [store.md 10] */
  dailyRequestLimit: number | undefined
  /** Commands per virtual month, `undefined` for no limit. [store.md 10] */
  monthlyRequestLimit: number | undefined
  /** Bytes of all keys and values, `undefined` for no limit. [store.md 10] */
  maxStorageSize: number | undefined
  /** Bytes of one key. [store.md 10] */
  maxKeySize: number
  /** Bytes of one key's value, `undefined` for no limit. [store.md 10] */
  maxRecordSize: number | undefined
  /** Entries that a consumer of a stream may have pending, `undefined` for no limit. [store.md 7.2, 10] */
  maxPendingPerConsumer: number | undefined
  /** Keys, fields or members that one call of SCAN and its variants looks at without COUNT. [store.md 7.2, 10] */
  scanPageSize: number
  /** Bytes that may wait for a slow reader of an event stream before it is dropped. [store.md 5.2: 1 MB a line] */
  maxStreamBuffer: number
  /** Loop turns and calls, and what these touch, that one script may take before it is stopped; never more than `maxWork`. [store.md 9: not public] */
  maxScriptSteps: number
  /** How long a write waits before searches find it; 0 for not at all. `SEARCH.WAITINDEXING` ends the wait. [search.md 14: not public] */
  searchIndexingDelay: Duration
  /**
   * Bytes of one document, all fields of the schema together, that a search index reads, as long as two novels; a guard of this package, not a fact
   * about the service. A longer text is found by its beginning, other values beyond are left out, and so are STRING values that
   * are longer. What is stored does not change. [search.md 11: not public]
   */
  maxSearchDocument: number
  /** Search indexes that there may be, `undefined` for no limit. [search.md 1: 10 were seen] */
  maxSearchIndexes: number | undefined
  /** What found documents are ordered by: the relevance of their words, or the order in which they came, each being worth the same. [search.md 12: not public] */
  searchScore: 'bm25' | 'constant'
  /** Whether one plain word is also found with a typo, and as a beginning, as the operator's page says, or only as it is. [search.md 12] */
  searchSingleWord: 'fuzzy' | 'term'
  /** What a `$mustNot` finds that stands alone: nothing, as its page says, or the rest, as an example has it. [search.md 12] */
  searchLoneMustNot: 'nothing' | 'rest'
  /** How the values of `SCOREFUNC` become one score where its words do not say: both pages differ. [search.md 7] */
  searchScoreMode: 'multiply' | 'sum'
  /** Whether BOOL and DATE fields are FAST without the word, as the page of schemas says. [search.md 11] */
  searchFastByDefault: boolean
  /** Whether KEYWORD fields may have the word FAST, as the page of schemas says, although the command's syntax has no place for it. They are fast without it. [search.md 1] */
  searchKeywordFast: 'reject' | 'accept'
  /** Retries of a message that does not set them. [queue.md 2.2] */
  retries: number
  /** Plan whose retention, time-out and sizes apply. [queue.md 5.6] */
  queuePlan: QueuePlan
  /** Single limits instead of the plan's. [queue.md 5.6] */
  queueLimits: Partial<QueueLimits>
  /** Refuse what the plan does not allow; without it only retention, time-out and truncation follow the plan. [queue.md 5.6] */
  enforceQuotas: boolean
  /** Bytes of one batch call, refused beyond when quotas are enforced. [queue.md 1.4] */
  maxBatchSize: number
  /** Status of a refusal over quota. [queue.md 16] */
  quotaStatus: number
  /** Status of a change asked for with the read-only token. [queue.md 10] */
  readOnlyStatus: number
  /** Calls a second beyond publishing, `undefined` for no limit. [queue.md 10] */
  queueBurstLimit: number | undefined
  /** Publish calls per virtual day, `undefined` for no limit. [queue.md 10] */
  queueDailyLimit: number | undefined
  /** The only region that knows the token, `undefined` for both. [queue.md 1.13] */
  homeRegion: 'us-east-1' | 'eu-central-1' | undefined
  /** Factor f of the default back-off e^(f·n) seconds. [queue.md 5.2, 16] */
  backoffFactor: number
  /** Whether the default back-off is truncated to whole seconds. [queue.md 5.2] */
  roundBackoff: boolean
  /** Longest wait before a retry. [queue.md 5.2] */
  maxRetryDelay: Duration
  /** Whether Retry-After and similar headers win over the message's own retry delay. [queue.md 5.2] */
  retryHeadersOverrideExpression: boolean
  /** How long a deduplication id is remembered. [queue.md 2.4, 16] */
  deduplicationWindow: Duration
  /**
   * How long a message can be read after its delivery, 0 for not at all; `undefined` for as long as the log
   * knows it. [queue.md 1.5]
   */
  deliveredRetention: Duration | undefined
  /** How the end of a cancelled message is spelled. [queue.md 4.1, 16] */
  canceledSpelling: 'CANCELLED' | 'CANCELED'
  /** `due`: the entry is written when the next delivery would have been due. `immediate`: at once. [queue.md 4.2] */
  cancelTiming: 'due' | 'immediate'
  /** JSON type of `notBefore` and `createdAt` in callback bodies. [queue.md 5.4, 16] */
  callbackTimestampType: 'string' | 'number'
  /** Refuse delayed callbacks with 400, as a changelog entry says. [queue.md 2.2, 16] */
  rejectCallbackDelay: boolean
  /** Whether a redirect of a destination is followed (at most 10) instead of counting as a failure. [queue.md 5.1] */
  followRedirects: boolean
  /** Refuse destinations on this machine, as the live service does. [queue.md 1.13] */
  rejectLoopback: boolean
  /** Refuse percent-encoded destinations, as two reports say. [queue.md 1.3] */
  rejectEncodedDestination: boolean
  /** What an attempt meets when no handler is registered and no `fetch` is given: an error, or this status. */
  unhandledDestination: 'error' | number
  /**
   * Host time that a handler in this process may run without ending or sleeping before its delivery counts as
   * unanswered, `undefined` for no limit. [a guard of ours]
   */
  handlerStallTimeout: Duration | undefined
  /** Address of a publisher whose request does not name one in `X-Forwarded-For`. */
  callerIp: string
  /** Entries of a page of the log: default and maximum. [queue.md 1.10, 16] */
  logPageSize: number
  maxLogPageSize: number
  /** Entries of a page of the dead-letter queue: default and maximum. [queue.md 1.9] */
  dlqPageSize: number
  /** Messages that one bulk cancel may name in `count`. [queue.md 1.5] */
  maxCancelCount: number
  /** Longest rate period of flow control. [queue.md 2.2] */
  maxRatePeriod: Duration
  /** When the callback of a workflow's call goes out: after its last attempt, or after every one. [workflow.md 0] */
  workflowCallCallbacks: 'last' | 'every'
  /** Bytes of a run's list of steps beyond which deliveries are empty and the SDK fetches it, `undefined` for never. [workflow.md 3.2] */
  workflowLazyBodyAbove: number | undefined
  /**
   * Steps of one run, finished or planned; one more is refused with 429 and fails the run. `undefined` for no limit.
   * [the documentation's 1,000 on every plan; that planned ones count: choice]
   */
  maxRunSteps: number | undefined
  /**
   * Bytes of the payload of one run and of all that its steps submitted; more is refused with 429 and fails the run.
   * `undefined` for no limit. [the documentation's 100 MB on every plan]
   */
  maxRunContext: number | undefined
  /** Whether a step that a run has submitted before is recognised and not delivered again. [workflow.md 0] */
  workflowDeduplicateSteps: boolean
  /** Whether deliveries of runs carry the retries, retry delay and flow control in force. [workflow.md 12] */
  workflowEchoConfiguration: boolean
  /** Whether a step may bring a configuration of its own, as a coming version of the SDK submits it. [workflow.md 12] */
  workflowStepConfiguration: boolean
  /** When `/v2/trigger` asks the SDK to begin the run: for urls that were never seen to be workflows, always, or when the header asks. [workflow.md 2.4] */
  workflowTwoPhaseTrigger: 'unknown-url' | 'always' | 'header'
  /** Whom an event reaches first. [workflow.md 13] */
  workflowNotifyOrder: 'oldest' | 'newest'
  /** Who leaves the wait list of a flow-control key: who came first, or anybody, as the service hands on. [workflow.md 0] */
  flowControlOrder: 'fifo' | 'shuffled'
  /**
   * How the fields of a cron expression are read: as the Go library robfig/cron does, with `5/15` and without `7`, or as a
   * crontab, the other way round. [queue.md 7: standard crontab]
   */
  cronDialect: 'go' | 'crontab'
  /** Whether `@every 90s` is a cron expression, as for the Go library, although schedules have a resolution of a minute. [queue.md 7, choice] */
  cronEvery: 'reject' | 'accept'
  /** Whether a replaced schedule stays paused. [queue.md 7] */
  replacedScheduleStaysPaused: boolean
  /** Whether a replaced schedule keeps its creation time. [queue.md 7] */
  replacedScheduleKeepsCreatedAt: boolean
}

type PolicyDuration =
  | 'searchIndexingDelay'
  | 'maxRetryDelay'
  | 'deduplicationWindow'
  | 'deliveredRetention'
  | 'handlerStallTimeout'
  | 'maxRatePeriod'
type QueueLimitDuration = 'maxDelay' | 'maxTimeout' | 'logRetention' | 'dlqRetention'

/** The policies that are lengths of time, in virtual time but for `handlerStallTimeout`. */
export const policyDurations: readonly PolicyDuration[] = [
  'searchIndexingDelay',
  'maxRetryDelay',
  'deduplicationWindow',
  'deliveredRetention',
  'handlerStallTimeout',
  'maxRatePeriod',
]

/** The limits of a plan that are lengths of time. */
export const queueLimitDurations: readonly QueueLimitDuration[] = [
  'maxDelay',
  'maxTimeout',
  'logRetention',
  'dlqRetention',
]

type InMilliseconds<T, Names extends keyof T> = {
  [Name in keyof T]: Name extends Names ? Exclude<T[Name], string> : T[Name]
}

/** Limits in force: durations are milliseconds. */
export type ResolvedQueueLimits = InMilliseconds<QueueLimits, QueueLimitDuration>

/** The choices in force: durations are milliseconds. */
export interface ResolvedPolicy extends Omit<InMilliseconds<Policy, PolicyDuration>, 'queueLimits'> {
  queueLimits: Partial<ResolvedQueueLimits>
}

/** The policies of a sandbox that sets none. */
export const defaultPolicy: ResolvedPolicy = {
  maxTrafficEntries: 200_000,
  maxTrafficBytes: 268_435_456,
  maxForkBytes: 536_870_912,
  commands: 'all',
  aclRules: 'service',
  maxRequestSize: 10_485_760,
  maxResponseSize: 104_857_600,
  maxWork: 4_000_000,
  dailyRequestLimit: undefined,
  monthlyRequestLimit: undefined,
  maxStorageSize: undefined,
  maxKeySize: 32_768,
  maxRecordSize: undefined,
  maxPendingPerConsumer: undefined,
  scanPageSize: 1000,
  maxStreamBuffer: 1_048_576,
  maxScriptSteps: 4_000_000,
  searchIndexingDelay: 0,
  maxSearchDocument: 1_048_576,
  maxSearchIndexes: 10,
  searchScore: 'bm25',
  searchSingleWord: 'fuzzy',
  searchLoneMustNot: 'nothing',
  searchScoreMode: 'multiply',
  searchFastByDefault: false,
  searchKeywordFast: 'reject',
  retries: 3,
  queuePlan: 'payg',
  queueLimits: {},
  enforceQuotas: false,
  maxBatchSize: 104_857_600,
  quotaStatus: 412,
  readOnlyStatus: 403,
  queueBurstLimit: undefined,
  queueDailyLimit: undefined,
  homeRegion: undefined,
  backoffFactor: 2.5,
  roundBackoff: true,
  maxRetryDelay: 86_400_000,
  retryHeadersOverrideExpression: true,
  deduplicationWindow: 600_000,
  deliveredRetention: undefined,
  canceledSpelling: 'CANCELLED',
  cancelTiming: 'due',
  callbackTimestampType: 'string',
  rejectCallbackDelay: false,
  followRedirects: false,
  rejectLoopback: false,
  rejectEncodedDestination: false,
  unhandledDestination: 'error',
  handlerStallTimeout: 10_000,
  callerIp: '127.0.0.1',
  logPageSize: 100,
  maxLogPageSize: 1000,
  dlqPageSize: 100,
  maxCancelCount: 500,
  maxRatePeriod: 604_800_000,
  workflowCallCallbacks: 'last',
  workflowLazyBodyAbove: undefined,
  maxRunSteps: 1_000,
  maxRunContext: 104_857_600,
  workflowDeduplicateSteps: true,
  workflowEchoConfiguration: false,
  workflowStepConfiguration: false,
  workflowTwoPhaseTrigger: 'unknown-url',
  workflowNotifyOrder: 'oldest',
  flowControlOrder: 'fifo',
  cronDialect: 'go',
  cronEvery: 'reject',
  replacedScheduleStaysPaused: true,
  replacedScheduleKeepsCreatedAt: true,
}
