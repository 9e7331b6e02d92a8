import type { Duration } from '../kernel/duration.js'

/**
 * Limits of a price plan of the queue. Durations are text such as `'7d'` or milliseconds, sizes are bytes; `undefined`
 * is unlimited. [queue.md 5.6]
 */
export interface QueueLimits {
  /** Maximum number of publish requests per virtual day, `undefined` for no limit. */
  readonly messagesPerDay: number | undefined
  /** Maximum size in bytes of the body of a message. Longer bodies of responses are truncated. */
  readonly maxMessageSize: number
  /** Maximum delay of a message, `undefined` for no limit. */
  readonly maxDelay: Duration | undefined
  /** Maximum time for which the queue waits for a destination's response. */
  readonly maxTimeout: Duration
  /** Maximum number of retries that a publisher can set. */
  readonly maxRetries: number
  /** Maximum number of schedules. */
  readonly schedules: number
  /** Maximum number of FIFO queues. */
  readonly queues: number
  /** Maximum parallelism that a FIFO queue can have. */
  readonly queueParallelism: number
  /** Maximum number of deliveries in flight at the same time. */
  readonly globalParallelism: number
  /** Maximum number of URL groups. */
  readonly urlGroups: number
  /** Maximum number of endpoints in one URL group. */
  readonly endpointsPerGroup: number
  /** Duration for which log entries of messages and ended workflow runs can be read. */
  readonly logRetention: Duration
  /** Duration for which dead letters can be read. */
  readonly dlqRetention: Duration
}

/** The name of a plan of the queue, which sets its limits. */
export type QueuePlan = 'free' | 'payg' | 'fixed-1m' | 'fixed-10m'

/**
 * Every number and behavior that public sources leave open or contradict, with its default and its source. Override
 * single policies with `createSandbox({ policy: { … } })`.
 */
export interface Policy {
  /**
   * Maximum number of entries in the traffic log; `undefined` for no limit, 0 for no log. Beyond it, the older half of
   * the entries is dropped.
   */
  maxTrafficEntries: number | undefined
  /**
   * Maximum number of bytes that a sandbox keeps for requests and responses, commands and replies, messages, and log
   * entries; `undefined` for no limit. Beyond the limit, the older half of the log is dropped. At most three eighths of
   * the limit are for the journal, which `asOf()` and `fork()` need. If the journal needs more, the journal is
   * discarded, and `asOf()` and `fork()` throw.
   */
  maxTrafficBytes: number | undefined
  /**
   * Maximum number of bytes that all forks of a sandbox keep together, including forks of forks; `undefined` for no
   * limit. The bytes are counted as for `maxTrafficBytes`. Beyond the limit, the logs of the forks drop their older
   * halves, and `fork()` throws until a fork is disposed.
   */
  maxForkBytes: number | undefined
  /**
   * Commands that the store accepts. `documented`: only commands that the service documents. `all`: also other commands
   * of redis-server 7.0, such as `OBJECT`, `SORT` and `LCS`; a diagnostic names each such command that runs.
   * [service.md B, command groups]
   */
  commands: 'all' | 'documented'
  /**
   * Rules that `ACL SETUSER` accepts. `service`: the rules that the service documents. `redis`: also passwords, hashes,
   * `nopass`, rules for subcommands, and selectors. [store.md 6.3]
   */
  aclRules: 'service' | 'redis'
  /**
   * A status `OK` inside an array of a base64 response, for example of a script. `encoded`: as base64, which each client
   * decodes. `raw`: unchanged, as the service seems to send it; SDKs before 1.40, whose default is base64, then read it
   * as 8. [store.md 3.2]
   */
  nestedStatus: 'encoded' | 'raw'
  /** Maximum size in bytes of one command's arguments, and of its reply. [store.md 10] */
  maxRequestSize: number
  /**
   * Maximum size in bytes of the response to one store request, including all results of a pipeline or transaction. The
   * first result beyond the limit and all later results are replaced by errors. The later commands of a pipeline do not
   * run. [limit of this package]
   */
  maxResponseSize: number
  /**
   * Maximum units of work of one store request. A unit is about 25 nanoseconds, see docs/decisions/work-budget.md. A
   * request beyond the limit is rejected, if possible before it changes anything. [limit of this package]
   */
  maxWork: number
  /** Maximum number of commands per virtual day, `undefined` for no limit. [store.md 10] */
  dailyRequestLimit: number | undefined
  /** Maximum number of commands per virtual month, `undefined` for no limit. [store.md 10] */
  monthlyRequestLimit: number | undefined
  /** Maximum size in bytes of all keys and values, `undefined` for no limit. [store.md 10] */
  maxStorageSize: number | undefined
  /**
   * What happens at `maxStorageSize`; without a `maxStorageSize`, nothing. `off`: one write can exceed the limit, and
   * later writes are rejected until the size is below it. `optimistic-volatile`: keys are evicted before a write, until
   * it fits, random keys with an expiration first, then any random keys. The seed decides which. A write that does not
   * fit even then is rejected. [store.md 10, choice]
   */
  eviction: 'off' | 'optimistic-volatile'
  /** Maximum size in bytes of one key. [store.md 10] */
  maxKeySize: number
  /** Maximum size in bytes of one key's value, `undefined` for no limit. [store.md 10] */
  maxRecordSize: number | undefined
  /** Maximum number of pending entries of a stream consumer, `undefined` for no limit. [store.md 7.2, 10] */
  maxPendingPerConsumer: number | undefined
  /**
   * Number of keys, fields or members that one `SCAN`, `HSCAN`, `SSCAN` or `ZSCAN` without `COUNT` examines. [store.md
   * 7.2, 10]
   */
  scanPageSize: number
  /**
   * Maximum number of bytes that are buffered for a slow client of an event stream. Beyond it, the client is
   * disconnected. [store.md 5.2: 1 MB a line]
   */
  maxStreamBuffer: number
  /**
   * Maximum number of steps of one script. A loop iteration, a call, and an item that a call processes are one step
   * each. Beyond the maximum, the script is stopped. A maximum above `maxWork` has no effect. [store.md 9: not public]
   */
  maxScriptSteps: number
  /**
   * Reply of `ARSCAN` if its start is above its end. The service's documentation forbids such a range, but states no
   * reply. `empty`: an empty list. `error`: an error. `reverse`: the slots in descending order, as in redis-server.
   * [array.md 10]
   */
  arrayScanReverse: 'empty' | 'error' | 'reverse'
  /**
   * Maximum number of items that `ARLASTITEMS` returns. `length`: the length of the array, so empty slots count, as in
   * redis-server. `values`: the number of values in the array, as in the service's documentation. [array.md 10]
   */
  arrayLastItems: 'length' | 'values'
  /**
   * When `ARRING` rebuilds a ring. `inferred`: if the length of the array does not fit the given size, as in
   * redis-server. `stored`: if the given size differs from the size of the last `ARRING`, as in the service's
   * documentation. The two differ only if other commands changed the array in between. [array.md 10]
   */
  arrayRing: 'inferred' | 'stored'
  /**
   * Duration after which searches find a value that was written; 0 for immediately. `SEARCH.WAITINDEXING` waits for
   * this duration. [search.md 14: not public]
   */
  searchIndexingDelay: Duration
  /**
   * Maximum size in bytes of the indexed fields of one document. Of a longer text, only the beginning is indexed. Other
   * values beyond the limit are not indexed, and neither are STRING keys whose value is longer than the limit. Stored
   * values do not change. [limit of this package; search.md 11: not public]
   */
  maxSearchDocument: number
  /** Maximum number of search indexes, `undefined` for no limit. [search.md 1: 10 were seen] */
  maxSearchIndexes: number | undefined
  /**
   * Maximum number of entries of a stream with a search index, `undefined` for no limit. Beyond it, `XADD` is an error.
   * [search.md 15: the number is not public]
   */
  maxSearchDocuments: number | undefined
  /**
   * Whether a KEYWORD or TEXT field whose text is a JSON array counts as several values. `all`: in hashes and streams,
   * as the documentation states. `streams`: only in streams. `never`: the text is one value. In streams, this also
   * applies to numbers and dates. Documents of JSON and STRING indexes have real arrays, which always count as several
   * values. [search.md 11]
   */
  searchJsonArrays: 'all' | 'streams' | 'never'
  /**
   * Reply of `SEARCH.AGGREGATE` if no document matches. `null`: as the service replies. `values`: the aggregations of
   * zero documents. `aggregate()` of version 1.39 of the SDK throws for null: set `values` to avoid this. Later
   * versions return no aggregations. [search.md 0]
   */
  searchEmptyAggregate: 'null' | 'values'
  /**
   * Streams for which `RENAME`, `RENAMENX` and `COPY` are errors. `refuse-indexed`: streams with a search index, and
   * streams that would get the key of such a stream. `refuse`: all streams. `allow`: none; the index then stays with
   * its key. The documentation states that streams are not supported, but not which ones. [search.md 15]
   */
  streamRename: 'refuse-indexed' | 'refuse' | 'allow'
  /**
   * Order of search results. `bm25`: by the relevance of the words in each document. `constant`: all scores are equal,
   * so documents keep the order in which they were added. [search.md 12: not public]
   */
  searchScore: 'bm25' | 'constant'
  /**
   * Documents that a query of one plain word finds. `term`: only documents with exactly this word. `fuzzy`: also
   * documents with a misspelling of the word, or with a longer word that begins with it, as the service's documentation
   * states. [search.md 12]
   */
  searchSingleWord: 'fuzzy' | 'term'
  /**
   * Documents that a query finds if `$mustNot` is its only operator. `nothing`: no document, as the documentation of
   * `$mustNot` states. `rest`: all documents that the `$mustNot` does not exclude, as in an example of the service.
   * [search.md 12]
   */
  searchLoneMustNot: 'nothing' | 'rest'
  /**
   * How several values of `SCOREFUNC` are combined if the command does not specify it. Two pages of the service's
   * documentation disagree. [search.md 7]
   */
  searchScoreMode: 'multiply' | 'sum'
  /**
   * Whether BOOL and DATE fields have the option FAST by default, as the schema documentation states. [search.md 11]
   */
  searchFastByDefault: boolean
  /**
   * Whether a KEYWORD field may have the option FAST. `accept`: as in the schema documentation. `reject`: as in the
   * syntax of the command. KEYWORD fields are fast without this option. [search.md 1]
   */
  searchKeywordFast: 'reject' | 'accept'
  /**
   * Scores of `VECTOR.QUERY`. `normalized`: from 0 to 1, by the formulas of the service's separate vector product. `raw`:
   * the cosine, the negative distance, or the dot product. [vector.md 3: formulas not public]
   */
  vectorScore: 'normalized' | 'raw'
  /**
   * Normalized score of `DOT` for vectors that are not of length 1. `clamp`: from 0 to 1, as the service's documentation
   * states. `plain`: the formula, which can exceed this range. [vector.md 3]
   */
  vectorDot: 'clamp' | 'plain'
  /**
   * Probability that a vector search finds a neighbor, from 0 to 1, for all profiles or for each profile. A profile that
   * is not listed finds all. A missed neighbor is replaced by the next one. The seed decides which neighbors a query
   * misses. [vector.md 3: not public]
   */
  vectorRecall: number | { readonly fast?: number; readonly balanced?: number; readonly precise?: number }
  /** Number of retries if the publisher of a message does not set a number. [queue.md 2.2] */
  retries: number
  /** Plan that sets retention, timeout and sizes. [queue.md 5.6] */
  queuePlan: QueuePlan
  /** Limits that replace single limits of the plan. [queue.md 5.6] */
  queueLimits: Partial<QueueLimits>
  /**
   * Whether requests beyond the limits of the plan are rejected. If false, the plan only determines retention, timeout
   * and truncation. [queue.md 5.6]
   */
  enforceQuotas: boolean
  /** Maximum size in bytes of a batch request, if quotas are enforced. [queue.md 1.4] */
  maxBatchSize: number
  /** Status of the response if a quota is exceeded. [queue.md 16] */
  quotaStatus: number
  /** Status of the response to a write request with the read-only token. [queue.md 10] */
  readOnlyStatus: number
  /** Maximum number of requests per second other than publishes, `undefined` for no limit. [queue.md 10] */
  queueBurstLimit: number | undefined
  /** Maximum number of publish requests per virtual day, `undefined` for no limit. [queue.md 10] */
  queueDailyLimit: number | undefined
  /**
   * Region whose URL accepts the token, while the other region rejects it; `undefined` if both regions accept it.
   * [queue.md 1.13]
   */
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
   * Duration for which a message can be read after its delivery. 0: not at all. `undefined`: as long as the log
   * contains it. [queue.md 1.5]
   */
  deliveredRetention: Duration | undefined
  /** Spelling of the state of a canceled message. [queue.md 4.1, 16] */
  canceledSpelling: 'CANCELLED' | 'CANCELED'
  /**
   * When the log entry of a cancellation is written. `due`: when the next delivery would have been due. `immediate`:
   * with the request. [queue.md 4.2]
   */
  cancelTiming: 'due' | 'immediate'
  /** Status of the response to a cancel of messages, or of several workflow runs. [queue.md 1.5] */
  cancelStatus: 202 | 200
  /**
   * Effect of `count` in a cancel by filters. `ignored`: everything that matches is canceled. `honored`: as before
   * November 2026, at most this number of records, limited by `maxCancelCount`. [queue.md 1.5]
   */
  cancelCount: 'ignored' | 'honored'
  /**
   * Duration of a bulk action, which cancels everything that matches its filters. 0: it finishes with the request.
   * [queue.md 1.5]
   */
  bulkActionTime: Duration
  /**
   * Status of the request that delivers a message now, if the message is being delivered or a cancel was requested.
   * [queue.md 1.5]
   */
  runNowBusy: 404 | 400
  /** JSON type of `notBefore` and `createdAt` in callback bodies. [queue.md 5.4, 16] */
  callbackTimestampType: 'string' | 'number'
  /** Whether delayed callbacks are rejected with 400, as a changelog entry states. [queue.md 2.2, 16] */
  rejectCallbackDelay: boolean
  /** Whether redirects of a destination are followed, up to 10. If false, a redirect is a failure. [queue.md 5.1] */
  followRedirects: boolean
  /** Whether loopback destinations are rejected, as the real service does. [queue.md 1.13] */
  rejectLoopback: boolean
  /** Whether percent-encoded destinations are rejected, as two reports state. [queue.md 1.3] */
  rejectEncodedDestination: boolean
  /**
   * Result of an attempt if its URL has no destination and the sandbox has no `fetch`: an error, or a response with
   * this status.
   */
  unhandledDestination: 'error' | number
  /**
   * Duration, in host time, for which a handler in this process may run without ending or sleeping; `undefined` for no
   * limit. After this duration, the delivery fails without a response. [limit of this package]
   */
  handlerStallTimeout: Duration | undefined
  /** IP address of a publisher whose request has no `X-Forwarded-For`. */
  callerIp: string
  /** Default number of entries per page of the log. [queue.md 1.10, 16] */
  logPageSize: number
  /** Maximum number of entries per page of the log. [queue.md 1.10, 16] */
  maxLogPageSize: number
  /** Number of entries per page of the dead-letter queue, both default and maximum. [queue.md 1.9] */
  dlqPageSize: number
  /**
   * Maximum value of `count` in a cancel of messages by filters. Has an effect only with `cancelCount: 'honored'`.
   * [queue.md 1.5]
   */
  maxCancelCount: number
  /** Longest rate period of flow control. [queue.md 2.2] */
  maxRatePeriod: Duration
  /** When a workflow call sends its callback: only after its last attempt, or after every attempt. [workflow.md 0] */
  workflowCallCallbacks: 'last' | 'every'
  /**
   * Maximum size in bytes of the list of steps that deliveries of a run contain; `undefined` for no limit. Deliveries
   * of a run with a longer list contain no list, and the SDK fetches the list instead. [workflow.md 3.2]
   */
  workflowLazyBodyAbove: number | undefined
  /**
   * Maximum number of finished steps of one run; `undefined` for no limit. The next step is rejected with 429, and the
   * run fails. [workflow.md 12: 1,000 on every plan]
   */
  workflowMaxSteps: number | undefined
  /**
   * Maximum size in bytes of the payload of one run and the results of its finished steps; `undefined` for no limit.
   * Beyond it, a step is rejected with 429, and the run fails. [workflow.md 12: 100 MB on every plan]
   */
  workflowMaxContext: number | undefined
  /**
   * Maximum number of submissions that a run can make for each of its steps, on average; `undefined` for no limit. Plans,
   * calls and requests for step settings count, too. Beyond it, a submission is rejected with 429, and the run fails.
   * [workflow.md 12: the limit of the service is not public]
   */
  workflowMaxEntriesPerStep: number | undefined
  /** Whether a step that a run has already submitted is recognized and not delivered again. [workflow.md 0] */
  workflowDeduplicateSteps: boolean
  /**
   * Which deliveries have headers with the retries, retry delay and flow control of their message: those of workflow
   * runs, all deliveries of the queue, or none. [workflow.md 3.5]
   */
  workflowEchoConfiguration: 'runs' | 'all' | 'off'
  /**
   * Whether a step can have its own retries, retry delay and flow control. If not, a request for such settings becomes
   * a step, as in older versions of the service. [workflow.md 5.1]
   */
  workflowStepConfiguration: boolean
  /**
   * When the ID of a run can be used again. `free-after-end`: as soon as the run has ended. `never-again`: not as long
   * as the log contains the run. `window`: as soon as the run has ended, but a trigger with the same payload only after
   * the deduplication window, as with older versions of the SDK. [workflow.md 2.2]
   */
  workflowSingletonRuns: 'free-after-end' | 'never-again' | 'window'
  /**
   * When `/v2/trigger` only announces a run, so that the SDK begins it. `unknown-url`: if the URL was not used as a
   * workflow before, or if a header requests it. `always`: for every trigger. `header`: only if a header requests it.
   * [workflow.md 2.4]
   */
  workflowTwoPhaseTrigger: 'unknown-url' | 'always' | 'header'
  /** Order in which waiting runs receive an event: the oldest or the newest first. [workflow.md 13] */
  workflowNotifyOrder: 'oldest' | 'newest'
  /**
   * Order in which messages leave the wait list of a flow-control key: by arrival, or random, as the service does.
   * [workflow.md 0]
   */
  flowControlOrder: 'fifo' | 'shuffled'
  /**
   * Which syntax of cron expressions is valid. `go`: as in the Go library robfig/cron, the step `5/15` is valid and the
   * weekday `7` is not. `crontab`: the weekday `7` is Sunday, and `5/15` is not valid. [queue.md 7: standard crontab]
   */
  cronDialect: 'go' | 'crontab'
  /**
   * Whether `@every 90s` is a valid cron expression, as in the Go library, although schedules have a resolution of one
   * minute. [queue.md 7]
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
  | 'bulkActionTime'
  | 'deliveredRetention'
  | 'handlerStallTimeout'
  | 'maxRatePeriod'
type QueueLimitDuration = 'maxDelay' | 'maxTimeout' | 'logRetention' | 'dlqRetention'

/** The policies that are durations. All are in virtual time except `handlerStallTimeout`. */
export const policyDurations: readonly PolicyDuration[] = [
  'searchIndexingDelay',
  'maxRetryDelay',
  'deduplicationWindow',
  'bulkActionTime',
  'deliveredRetention',
  'handlerStallTimeout',
  'maxRatePeriod',
]

/** The limits of a queue plan that are durations. */
export const queueLimitDurations: readonly QueueLimitDuration[] = [
  'maxDelay',
  'maxTimeout',
  'logRetention',
  'dlqRetention',
]

type InMilliseconds<T, Names extends keyof T> = {
  [Name in keyof T]: Name extends Names ? Exclude<T[Name], string> : T[Name]
}

/** Limits of a plan of the queue, with durations in milliseconds. */
export type ResolvedQueueLimits = InMilliseconds<QueueLimits, QueueLimitDuration>

/** All policies of a sandbox, with durations in milliseconds. */
export interface ResolvedPolicy extends Omit<InMilliseconds<Policy, PolicyDuration>, 'queueLimits'> {
  /** Limits that replace single limits of the plan, with durations in milliseconds. [queue.md 5.6] */
  queueLimits: Partial<ResolvedQueueLimits>
}

/** The policies of a sandbox without the option `policy`. */
export const defaultPolicy: ResolvedPolicy = {
  maxTrafficEntries: 200_000,
  maxTrafficBytes: 268_435_456,
  maxForkBytes: 536_870_912,
  commands: 'all',
  aclRules: 'service',
  nestedStatus: 'encoded',
  maxRequestSize: 10_485_760,
  maxResponseSize: 104_857_600,
  maxWork: 4_000_000,
  dailyRequestLimit: undefined,
  monthlyRequestLimit: undefined,
  maxStorageSize: undefined,
  eviction: 'off',
  maxKeySize: 32_768,
  maxRecordSize: undefined,
  maxPendingPerConsumer: undefined,
  scanPageSize: 1000,
  maxStreamBuffer: 1_048_576,
  maxScriptSteps: 4_000_000,
  arrayScanReverse: 'empty',
  arrayLastItems: 'length',
  arrayRing: 'inferred',
  searchIndexingDelay: 0,
  maxSearchDocument: 1_048_576,
  maxSearchIndexes: 10,
  maxSearchDocuments: undefined,
  searchJsonArrays: 'all',
  searchEmptyAggregate: 'null',
  streamRename: 'refuse-indexed',
  searchScore: 'bm25',
  searchSingleWord: 'fuzzy',
  searchLoneMustNot: 'nothing',
  searchScoreMode: 'multiply',
  searchFastByDefault: false,
  searchKeywordFast: 'reject',
  vectorScore: 'normalized',
  vectorDot: 'clamp',
  vectorRecall: 1,
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
  cancelStatus: 202,
  cancelCount: 'ignored',
  bulkActionTime: 0,
  runNowBusy: 404,
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
  workflowMaxSteps: 1_000,
  workflowMaxContext: 104_857_600,
  workflowMaxEntriesPerStep: 10,
  workflowDeduplicateSteps: true,
  workflowEchoConfiguration: 'runs',
  workflowStepConfiguration: true,
  workflowSingletonRuns: 'free-after-end',
  workflowTwoPhaseTrigger: 'unknown-url',
  workflowNotifyOrder: 'oldest',
  flowControlOrder: 'fifo',
  cronDialect: 'go',
  cronEvery: 'reject',
  replacedScheduleStaysPaused: true,
  replacedScheduleKeepsCreatedAt: true,
}
