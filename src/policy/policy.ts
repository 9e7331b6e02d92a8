import type { Duration } from '../kernel/duration.js'

/**
 * Limits of a price plan of the queue. Durations are text such as `'7d'` or milliseconds, sizes are bytes; `undefined`
 * is unlimited. [queue.md 5.6]
 */
export interface QueueLimits {
  readonly messagesPerDay: number | undefined
  readonly maxMessageSize: number
  readonly maxDelay: Duration | undefined
  /** Longest response time of a destination. */
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
 * Every number and choice that public sources leave open or contradict, with its default and source.
 * `createSandbox({ policy: { … } })` overrides any of them.
 */
export interface Policy {
  /**
   * Maximum number of entries in the traffic log; `undefined` for all, 0 for no log. Beyond it, the older half is
   * dropped.
   */
  maxTrafficEntries: number | undefined
  /**
   * Maximum number of bytes that a sandbox keeps of requests and responses, commands and replies, messages and log
   * entries; `undefined` for all. Beyond it, the older half of the log is dropped. The journal, which makes `asOf()`
   * and `fork()` possible, gets at most three eighths; beyond that it ends, and both throw.
   */
  maxTrafficBytes: number | undefined
  /**
   * Maximum number of bytes that all forks of a sandbox and their forks keep together, counted as `maxTrafficBytes`
   * counts; `undefined` for no limit. Beyond it, `fork()` throws until a fork is disposed, and the logs of the forks
   * drop their older halves.
   */
  maxForkBytes: number | undefined
  /**
   * Commands that the store has. `all`: also those of redis-server 7.0 that the service does not document, such as
   * `OBJECT`, `SORT` and `LCS`; a diagnostic names each one that runs. `documented`: rejects these.
   * [service.md B, command groups]
   */
  commands: 'all' | 'documented'
  /**
   * Rules that ACL SETUSER accepts. `service`: those that the service documents. `redis`: also passwords, hashes,
   * `nopass`, rules for subcommands, and selectors. [store.md 6.3]
   */
  aclRules: 'service' | 'redis'
  /** Maximum size in bytes of one command's arguments, and of its reply. [store.md 10] */
  maxRequestSize: number
  /**
   * Maximum size in bytes of the response to one store request, including all results of a pipeline or transaction.
   * This is a limit of this package, not of the service. Results beyond it are errors, and their commands in a pipeline
   * do not run.
   */
  maxResponseSize: number
  /**
   * Maximum units of work of one store request. This is a limit of this package, not of the service. A unit is about 25
   * nanoseconds, see docs/decisions/work-budget.md. Requests beyond it are rejected, if possible before they change
   * anything.
   */
  maxWork: number
  /** Maximum number of commands per virtual day, `undefined` for no limit. [store.md 10] */
  dailyRequestLimit: number | undefined
  /** Maximum number of commands per virtual month, `undefined` for no limit. [store.md 10] */
  monthlyRequestLimit: number | undefined
  /** Maximum size in bytes of all keys and values, `undefined` for no limit. [store.md 10] */
  maxStorageSize: number | undefined
  /** Maximum size in bytes of one key. [store.md 10] */
  maxKeySize: number
  /** Maximum size in bytes of one key's value, `undefined` for no limit. [store.md 10] */
  maxRecordSize: number | undefined
  /** Maximum number of pending entries of a stream consumer, `undefined` for no limit. [store.md 7.2, 10] */
  maxPendingPerConsumer: number | undefined
  /** Keys, fields or members that one call of SCAN and its variants examines without COUNT. [store.md 7.2, 10] */
  scanPageSize: number
  /**
   * Maximum number of bytes buffered for a slow client of an event stream, which is then disconnected. [store.md 5.2: 1
   * MB a line]
   */
  maxStreamBuffer: number
  /**
   * Maximum number of loop iterations, calls and the items they touch in one script, which is then stopped; never more
   * than `maxWork`. [store.md 9: not public]
   */
  maxScriptSteps: number
  /**
   * Time until a search finds a write; 0 for immediately. `SEARCH.WAITINDEXING` waits for it. [search.md 14: not
   * public]
   */
  searchIndexingDelay: Duration
  /**
   * Maximum size in bytes of one document's indexed fields that a search index reads: as long as two novels. This is a
   * limit of this package, not of the service. Longer text is indexed by its beginning; other values beyond it, and
   * longer STRING values, are not indexed. Stored values do not change. [search.md 11: not public]
   */
  maxSearchDocument: number
  /** Maximum number of search indexes, `undefined` for no limit. [search.md 1: 10 were seen] */
  maxSearchIndexes: number | undefined
  /** Order of search results: by relevance of their words, or by age with equal scores. [search.md 12: not public] */
  searchScore: 'bm25' | 'constant'
  /**
   * Whether a single plain word also matches with a typo and as a prefix, as the operator's documentation states, or
   * only exactly. [search.md 12]
   */
  searchSingleWord: 'fuzzy' | 'term'
  /**
   * What a `$mustNot` without other conditions matches: nothing, as its documentation states, or all other documents,
   * as in an example. [search.md 12]
   */
  searchLoneMustNot: 'nothing' | 'rest'
  /**
   * How several values of `SCOREFUNC` are combined if the command does not specify it; two pages of the service differ.
   * [search.md 7]
   */
  searchScoreMode: 'multiply' | 'sum'
  /** Whether BOOL and DATE fields are FAST without the keyword, as the schema documentation states. [search.md 11] */
  searchFastByDefault: boolean
  /**
   * Whether KEYWORD fields accept FAST, as the schema documentation states, although the syntax of the command does not
   * allow it. They are fast without it. [search.md 1]
   */
  searchKeywordFast: 'reject' | 'accept'
  /** Number of retries of a message that does not set it. [queue.md 2.2] */
  retries: number
  /** Plan that sets retention, timeout and sizes. [queue.md 5.6] */
  queuePlan: QueuePlan
  /** Overrides of single limits of the plan. [queue.md 5.6] */
  queueLimits: Partial<QueueLimits>
  /**
   * Whether requests beyond the plan are rejected. If false, only retention, timeout and truncation follow the plan.
   * [queue.md 5.6]
   */
  enforceQuotas: boolean
  /** Maximum size in bytes of a batch request, when quotas are enforced. [queue.md 1.4] */
  maxBatchSize: number
  /** Status of the response when a quota is exceeded. [queue.md 16] */
  quotaStatus: number
  /** Status of the response to a change with the read-only token. [queue.md 10] */
  readOnlyStatus: number
  /** Maximum number of requests per second other than publishes, `undefined` for no limit. [queue.md 10] */
  queueBurstLimit: number | undefined
  /** Maximum number of publish requests per virtual day, `undefined` for no limit. [queue.md 10] */
  queueDailyLimit: number | undefined
  /** The only region that accepts the token, `undefined` for both. [queue.md 1.13] */
  homeRegion: 'us-east-1' | 'eu-central-1' | undefined
  /** Factor f of the default backoff e^(f·n) seconds. [queue.md 5.2, 16] */
  backoffFactor: number
  /** Whether the default backoff is truncated to whole seconds. [queue.md 5.2] */
  roundBackoff: boolean
  /** Longest delay before a retry. [queue.md 5.2] */
  maxRetryDelay: Duration
  /** Whether Retry-After and similar headers take precedence over the message's own retry delay. [queue.md 5.2] */
  retryHeadersOverrideExpression: boolean
  /** Time for which a deduplication ID is remembered. [queue.md 2.4, 16] */
  deduplicationWindow: Duration
  /**
   * Time for which a message can be read after its delivery; 0 for not at all, `undefined` for as long as the log has
   * it. [queue.md 1.5]
   */
  deliveredRetention: Duration | undefined
  /** Spelling of the state of a canceled message. [queue.md 4.1, 16] */
  canceledSpelling: 'CANCELLED' | 'CANCELED'
  /**
   * When the log entry of a cancellation is written. `due`: when the next delivery would have been due. `immediate`:
   * with the request. [queue.md 4.2]
   */
  cancelTiming: 'due' | 'immediate'
  /** JSON type of `notBefore` and `createdAt` in callback bodies. [queue.md 5.4, 16] */
  callbackTimestampType: 'string' | 'number'
  /** Whether delayed callbacks are rejected with 400, as a changelog entry states. [queue.md 2.2, 16] */
  rejectCallbackDelay: boolean
  /** Whether redirects of a destination are followed, at most 10, instead of counting as a failure. [queue.md 5.1] */
  followRedirects: boolean
  /** Whether loopback destinations are rejected, as the real service does. [queue.md 1.13] */
  rejectLoopback: boolean
  /** Whether percent-encoded destinations are rejected, as two reports state. [queue.md 1.3] */
  rejectEncodedDestination: boolean
  /** Result of an attempt without a registered handler and without `fetch`: an error, or this status. */
  unhandledDestination: 'error' | number
  /**
   * Host time that a handler in this process may run without ending or sleeping, before its delivery fails without a
   * response; `undefined` for no limit. [limit of this package]
   */
  handlerStallTimeout: Duration | undefined
  /** IP address of a publisher whose request has no `X-Forwarded-For`. */
  callerIp: string
  /** Entries per page of the log: default and maximum. [queue.md 1.10, 16] */
  logPageSize: number
  maxLogPageSize: number
  /** Entries per page of the dead-letter queue: default and maximum. [queue.md 1.9] */
  dlqPageSize: number
  /** Maximum `count` of one bulk cancel. [queue.md 1.5] */
  maxCancelCount: number
  /** Longest rate period of flow control. [queue.md 2.2] */
  maxRatePeriod: Duration
  /** When a workflow call sends its callback: after the last attempt, or after every one. [workflow.md 0] */
  workflowCallCallbacks: 'last' | 'every'
  /**
   * Size in bytes of a run's list of steps beyond which deliveries are empty and the SDK fetches the list; `undefined`
   * for never. [workflow.md 3.2]
   */
  workflowLazyBodyAbove: number | undefined
  /**
   * Maximum number of steps of one run, finished or planned; `undefined` for no limit. One more step is rejected with
   * 429 and fails the run. [the documentation's 1,000 on every plan; that planned ones count: choice]
   */
  maxRunSteps: number | undefined
  /**
   * Maximum size in bytes of the payload of one run and everything that its steps submitted; `undefined` for no limit.
   * More is rejected with 429 and fails the run. [the documentation's 100 MB on every plan]
   */
  maxRunContext: number | undefined
  /** Whether a step that a run has already submitted is recognized and not delivered again. [workflow.md 0] */
  workflowDeduplicateSteps: boolean
  /** Whether deliveries of runs contain the retries, retry delay and flow control in force. [workflow.md 12] */
  workflowEchoConfiguration: boolean
  /** Whether a step can have its own configuration, as an upcoming SDK version submits it. [workflow.md 12] */
  workflowStepConfiguration: boolean
  /**
   * When `/v2/trigger` asks the SDK to begin the run: for URLs that have not been seen as workflows, always, or when
   * the header requests it. [workflow.md 2.4]
   */
  workflowTwoPhaseTrigger: 'unknown-url' | 'always' | 'header'
  /** Which waiting run receives an event first. [workflow.md 13] */
  workflowNotifyOrder: 'oldest' | 'newest'
  /**
   * Order in which messages leave the wait list of a flow-control key: by arrival, or random, as the service does.
   * [workflow.md 0]
   */
  flowControlOrder: 'fifo' | 'shuffled'
  /**
   * How the fields of a cron expression are parsed: as the Go library robfig/cron does, with `5/15` and without `7`, or
   * as a crontab, which is the opposite. [queue.md 7: standard crontab]
   */
  cronDialect: 'go' | 'crontab'
  /**
   * Whether `@every 90s` is a valid cron expression, as in the Go library, although schedules have a resolution of one
   * minute. [queue.md 7, choice]
   */
  cronEvery: 'reject' | 'accept'
  /** Whether a schedule stays paused when it is replaced. [queue.md 7] */
  replacedScheduleStaysPaused: boolean
  /** Whether a schedule keeps its creation time when it is replaced. [queue.md 7] */
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

/** The policies that are durations, in virtual time except `handlerStallTimeout`. */
export const policyDurations: readonly PolicyDuration[] = [
  'searchIndexingDelay',
  'maxRetryDelay',
  'deduplicationWindow',
  'deliveredRetention',
  'handlerStallTimeout',
  'maxRatePeriod',
]

/** The limits of a plan that are durations. */
export const queueLimitDurations: readonly QueueLimitDuration[] = [
  'maxDelay',
  'maxTimeout',
  'logRetention',
  'dlqRetention',
]

type InMilliseconds<T, Names extends keyof T> = {
  [Name in keyof T]: Name extends Names ? Exclude<T[Name], string> : T[Name]
}

/** The limits in force, with durations in milliseconds. */
export type ResolvedQueueLimits = InMilliseconds<QueueLimits, QueueLimitDuration>

/** The policies in force, with durations in milliseconds. */
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
