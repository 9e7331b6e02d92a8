import { longest as longestReason, maxBlocks, maxFaults, maxLines, maxNotes } from '@stuntdouble/explore/campaign'
import {
  deepestDecoded,
  deepestEncoded,
  deepestNode,
  deepestValue as deepestUnpacked,
  maxString as longestScriptString,
  maxChain,
  maxLevels,
  maxNested,
  maxNesting as maxPatternItems,
  memoryForRun,
  roomForRun,
} from '@stuntdouble/lua'
import { most as mostRefused } from '../../../src/calls/blocked-outbound.js'
import { maxReportedOutbound } from '../../../src/calls/outbound.js'
import { maxBody as longestCallBody } from '../../../src/calls/outbound-responses.js'
import { maxChunks as mostSlowChunks } from '../../../src/faults/broken-bodies.js'
import { maxSpan } from '../../../src/faults/fault-values.js'
import { maxWaits } from '../../../src/faults/step-schema.js'
import { maxResponses } from '../../../src/kernel/clock-polling.js'
import { deepest as deepestCopy } from '../../../src/kernel/deep-copy.js'
import { bytesPerUnit, unitsPerRow } from '../../../src/kernel/work.js'
import type { Policy } from '../../../src/policy/policy.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { maxEvent } from '../../../src/protocol/event-stream.js'
import { maxInProgress } from '../../../src/queue/bulk-actions.js'
import { maxWait as longestHeader } from '../../../src/queue/delivery/retry.js'
import { maxRedirects } from '../../../src/queue/destinations/destinations.js'
import { largeResponseBytes, leastParallel, maxBuffered } from '../../../src/queue/destinations/network.js'
import { maxChunks } from '../../../src/queue/destinations/response.js'
import { maxFilterValues } from '../../../src/queue/message/message-filters.js'
import { maxDiagnostics } from '../../../src/queue/queue-engine.js'
import { maxParametersSize, maxQueueValues } from '../../../src/queue/rest/reading.js'
import { maxRetries } from '../../../src/queue/settings/publish-options.js'
import { deepestExpression, maxExpression } from '../../../src/queue/settings/retry-expression.js'
import { maxRules } from '../../../src/rules/fault-rules.js'
import { maxDatabases } from '../../../src/sandbox/databases.js'
import { maxTurns } from '../../../src/sandbox/journal-replay.js'
import { maxWait as longestStepWait, maxTimers } from '../../../src/scenarios/actions.js'
import { maxAttempts } from '../../../src/scenarios/import/imported-records.js'
import { deepest as deepestScenario } from '../../../src/scenarios/scenario.js'
import { deepest as deepestSecret } from '../../../src/secrets/texts.js'
import { maxConnectionBytes, maxName } from '../../../src/store/command/connection-memory.js'
import { maxMembers } from '../../../src/store/command/memory.js'
import { deepestReply } from '../../../src/store/command/reply.js'
import { maxNumberLength, maxPositions } from '../../../src/store/commands/array.js'
import { maxPredicates, maxRegex } from '../../../src/store/commands/array-predicates.js'
import { maxRepeats } from '../../../src/store/commands/collection-arguments.js'
import { furthest, maxFields, maxPrefixes, maxRows as mostFound } from '../../../src/store/commands/search-arguments.js'
import { maxStringLength } from '../../../src/store/commands/string.js'
import { maxNeighbors } from '../../../src/store/commands/vector-arguments.js'
import { most as mostStoreSentences } from '../../../src/store/diagnostics.js'
import { maxText as longestRead } from '../../../src/store/keyspace/database.js'
import { maxShown } from '../../../src/store/keyspace/pubsub.js'
import { maxLine, maxWord, maxWords, strangersLimits } from '../../../src/store/resp/command-reader.js'
import { stalledAfter } from '../../../src/store/resp/crowd.js'
import {
  failurePause,
  freeFailures,
  longBehind,
  manyMessages,
  maxMessages,
  turn,
} from '../../../src/store/resp/resp-connection.js'
import { maxReplyBytes, maxText } from '../../../src/store/resp/session.js'
import { maxString as longestJson } from '../../../src/store/rest/rest-responses.js'
import { maxVersions } from '../../../src/store/rest/stale-reads.js'
import { deepest as deepestAggregation } from '../../../src/store/search/aggregate.js'
import { maxBuckets } from '../../../src/store/search/bucket-count.js'
import { maxSlop } from '../../../src/store/search/field-operators.js'
import { deepestFacet } from '../../../src/store/search/field-values.js'
import { deepest as deepestFilter } from '../../../src/store/search/filter-syntax.js'
import { maxPercents } from '../../../src/store/search/metrics.js'
import { maxRetrievers } from '../../../src/store/search/retrievers.js'
import { maxRowsOf } from '../../../src/store/store-limits.js'
import { maxPlaces } from '../../../src/store/values/json-path.js'
import { maxNesting as maxPathNesting } from '../../../src/store/values/json-path-syntax.js'
import { maxTextLength } from '../../../src/store/values/json-text.js'
import { maxDepth } from '../../../src/store/values/json-value.js'
import { maxPosixRepeat } from '../../../src/store/values/posix-regex.js'
import {
  maxInstructions,
  maxPattern,
  maxNesting as maxPatternNesting,
  maxRepeat,
} from '../../../src/store/values/regex.js'
import { maxDimension } from '../../../src/store/values/vector-index.js'
import { maxListBytes } from '../../../src/workflow/run-limits.js'
import { maxNames } from '../../../src/workflow/stubs.js'
import { deepestInvocation } from '../../../src/workflow/triggers.js'
import { maxHead as longestPassedHead } from '../src/cluster/forward.js'
import { journalLimits as mostKeptInCluster } from '../src/cluster/journaled-sandbox.js'
import { maxApart, maxOvertaking } from '../src/cluster/node-signature.js'
import { maxPending } from '../src/control/clock-operations.js'
import { maxBytesWaiting, maxSandboxes, maxWaiting } from '../src/control/entry-stream.js'
import { inSlicesTimes, usualAtOnce } from '../src/control/large.js'
import {
  deepest,
  maxControlValues,
  maxItems,
  maxSteps,
  maxBytes as mostListBytes,
} from '../src/control/operation-parts.js'
import { maxSlots } from '../src/control/queue-operations.js'
import { maxWait as longestTrafficWait } from '../src/control/traffic-operations.js'
import { criticalAt, fullAt } from '../src/heap-watch.js'
import { linkLifetime, maxLinks } from '../src/inspector/inspector-links.js'
import { maxCopied } from '../src/mcp/copy-tool.js'
import { maxSeeds } from '../src/mcp/extra-tools.js'
import { maxStreams as mostMcpStreams } from '../src/mcp/mcp-http.js'
import { maxItems as mostToolItems } from '../src/mcp/operation-tools.js'
import { maxMessage as longestMcpMessage } from '../src/mcp/stdin-lines.js'
import { maxJobs, maxReport, maxRuns, maxShards } from '../src/programs/explore-program.js'
import { maxRun } from '../src/programs/history-program.js'
import { maxRecords } from '../src/programs/import-program.js'
import { maxRuns as mostPlayed } from '../src/programs/play-program.js'
import { maxKeys as mostEngineKeys } from '../src/real-redis/copy-keys.js'
import { maxLine as longestEngineLine } from '../src/redis-client/reply-reader.js'
import { farewell } from '../src/redis-port/connections.js'
import {
  defaultLimits,
  maxHead,
  maxHeaders,
  maxUnwanted,
  responsesShare,
  type ServerLimits,
} from '../src/server-limits.js'
import { arrivalLook, headArrival } from '../src/sockets.js'
import { deepest as deepestFile, maxFile, maxValues as mostAliasValues } from '../src/tenant-scenario/scenario-file.js'
import { maxTrace } from '../src/trace-file.js'

// Only the documentation and its tests load this file. It imports constants of every module, and most of these modules
// import the limits of the server.

/** One row of the limit tables in docs/server-options.md. */
export interface LimitRow {
  /** What sets it: an option of `stuntdouble serve`, a policy, or nothing. */
  readonly set: `--${string}` | `policy.${keyof Policy}` | 'fixed'
  /** Limited thing, as a noun phrase. */
  readonly what: string
  /** A number, or a phrase if the value depends on the machine. */
  readonly default: number | string
  readonly unit: string
  /** Effect of exceeding it, as a clause. */
  readonly beyond: string
}

const option = (
  name: keyof ServerLimits,
  flag: `--${string}`,
  what: string,
  unit: string,
  beyond: string,
  shown: number | string = defaultLimits[name],
): LimitRow => ({ set: flag, what, default: shown, unit, beyond })

const policy = (name: keyof Policy, what: string, unit: string, beyond: string): LimitRow => ({
  set: `policy.${name}`,
  what,
  default: defaultPolicy[name] as number,
  unit,
  beyond,
})

const fixed = (what: string, value: number | string, unit: string, beyond: string): LimitRow => ({
  set: 'fixed',
  what,
  default: value,
  unit,
  beyond,
})

/** Every limit that keeps one client or request from blocking or ending others, by area. The docs are generated from it. */
export const limitAreas: Readonly<Record<string, readonly LimitRow[]>> = {
  'the server': [
    option(
      'maxBodyBytes',
      '--max-body-bytes',
      'body of one request',
      'bytes',
      'status 413 and the connection is closed',
    ),
    option(
      'buffered',
      '--max-buffered',
      'memory for the incoming bodies, queued commands of transactions and unread output of all clients, and for incoming responses of destinations',
      'bytes',
      'the client that has made no progress for the longest time is disconnected, then the client that holds most of this memory. A disconnected client that was sending a body gets 503. If no client holds more than the new request, the new request is rejected. A delivery whose response gets no memory fails with an error in its attempt',
      `${maxBuffered / 1_048_576} MiB, or a quarter of the heap if that is less`,
    ),
    option(
      'requestTimeout',
      '--request-timeout',
      'time in which a request must arrive with its body; also time in which a client must read a part of a response',
      'ms',
      `the incomplete request gets status 408 at the next check; checks run every ${arrivalLook / 1000} s. An incomplete request does not run and does not block virtual time. A client that reads nothing is disconnected`,
    ),
    option('maxStreams', '--max-streams', 'open event streams', 'streams', 'status 503'),
    option(
      'maxConnections',
      '--max-connections',
      'open connections of the Redis protocol',
      'connections',
      'the connection is refused',
    ),
    fixed(
      'open HTTP connections',
      `\`--max-connections\` plus one for each ${maxHead / 1024} KiB of \`--max-buffered\`: ${(maxBuffered / maxHead).toLocaleString('en')}`,
      'connections',
      'the connection is closed',
    ),
    option('maxTenants', '--max-tenants', 'tenants', 'tenants', 'status 503, or `ERR` on the Redis port'),
    option(
      'maxTrafficEntries',
      '--max-traffic-entries',
      'traffic log of a tenant',
      'entries',
      'the older half of the log is dropped',
    ),
    policy(
      'maxTrafficBytes',
      'history of a sandbox: traffic log, finished messages, and the journal (the inputs that `fork()` and `asOf()` replay)',
      'bytes',
      'the older half of the log and the oldest messages are dropped. If the journal alone exceeds three eighths of the limit, it is dropped, and `fork()` and `asOf()` throw until a reset',
    ),
    policy(
      'maxForkBytes',
      'history of all forks of a sandbox together, including forks of forks',
      'bytes',
      '`fork()` throws until another fork is disposed; the older half of the log of each fork is dropped',
    ),
    policy('maxWork', 'work of one store request', 'units of about 25 ns', '`ERR max work exceeded`'),
    fixed(
      'bytes that are added to strings by one store request but not contained in it: gaps of `SETRANGE`, `SETBIT` and `BITFIELD`, results of `BITOP`, strings of scripts',
      bytesPerUnit * defaultPolicy.maxWork,
      `bytes, ${bytesPerUnit} for each unit of \`maxWork\``,
      '`ERR max work exceeded`. A longer string must grow over several requests, up to 512 MB as in redis-server',
    ),
    policy('maxResponseSize', 'response to one store request', 'bytes', 'an error that names the policy'),
    fixed(
      'members of a set, hash, sorted set, list or stream, and keys of a database',
      maxMembers,
      'members',
      '`OOM command not allowed …` for every command that could add one; nothing is added',
    ),
    policy(
      'maxSearchDocument',
      'part of one document that a search index contains',
      'bytes',
      'a text is indexed up to the end of a word; values of other types are not indexed',
    ),
    policy('workflowMaxSteps', 'steps of a workflow run', 'steps', 'status 429 as from the service; the run fails'),
    policy(
      'workflowMaxContext',
      'payload and results of a workflow run',
      'bytes',
      'status 429 as from the service; the run fails',
    ),
    policy(
      'workflowMaxEntriesPerStep',
      'submissions of a workflow run for each of its steps, on average',
      'submissions',
      'status 429 as from the service; the run fails',
    ),
    policy(
      'maxStreamBuffer',
      'unread data of a reader of an event stream that has not read everything before',
      'bytes',
      'the reader is disconnected before more is added',
    ),
    fixed(
      'data that one turn of the event loop adds for a reader of an event stream that has read everything before',
      maxEvent,
      'bytes',
      'the reader is disconnected before more is added',
    ),
    fixed(
      'new and changed entries that a reader of a traffic stream has not read',
      maxWaiting,
      'entries',
      'the reader is disconnected',
    ),
    fixed(
      'bodies of entries that arrive while a reader of a traffic stream reads nothing',
      maxBytesWaiting,
      'bytes',
      'the reader is disconnected',
    ),
    fixed(
      'resets after which a slow reader of a traffic stream still gets earlier entries',
      maxSandboxes,
      'resets',
      'earlier entries are dropped',
    ),
    fixed(
      'commands of one request to `/pipeline` or `/multi-exec`',
      maxRowsOf(defaultPolicy),
      'commands',
      'status 400 with `ERR max work exceeded`; no command runs',
    ),
    fixed('head of a request', maxHead, 'bytes', 'status 431'),
    fixed(
      'headers of a request',
      maxHeaders,
      'headers',
      'status 431. Older versions of Node.js drop the surplus headers instead',
    ),
    fixed(
      'body of a rejected request: a request without a valid token, from a page of another origin, to an unknown path, or to an external host without a response',
      maxUnwanted,
      'bytes',
      'the rejection is sent before the body is read, and the connection is closed',
    ),
    fixed(
      `all responses of destinations together that are each larger than ${largeResponseBytes / 1_048_576} MiB; for one tenant, half of the value`,
      responsesShare,
      '% of `--max-buffered`',
      'the delivery fails as if the connection had ended; smaller responses are still read',
    ),
    fixed(
      'concurrent deliveries of one tenant over the network',
      `\`globalParallelism\` of the plan, at least ${leastParallel}`,
      'deliveries',
      'further deliveries wait. Their waiting time does not count toward their timeouts. While the heap is full, all deliveries wait, and the server logs this once',
    ),
    fixed(
      'time for which an incoming body, or a client with unread data, makes no progress while other clients need memory',
      stalledAfter,
      'ms',
      'this client is disconnected before clients that make progress',
    ),
    fixed(
      'time in which the head of a request must arrive',
      headArrival,
      'ms',
      `status 408 within ${(headArrival + arrivalLook) / 1000} s; the check runs every ${arrivalLook / 1000} s`,
    ),
    fixed(
      'data of all tenants together',
      100 * fullAt,
      '% of the heap',
      'requests that would store more are rejected. Commands get `OOM command not allowed …`, other requests get status 503. The older half of each traffic log is dropped. Reads, deletes and resets still work',
    ),
    fixed(
      'data of all tenants together, second limit',
      100 * criticalAt,
      '% of the heap',
      'reads are also rejected with status 503. `PING`, `ECHO`, `TIME`, `INFO`, `DBSIZE` and reads of a number still work',
    ),
  ],
  'the Redis protocol': [
    fixed(
      'wrong passwords on one connection',
      freeFailures,
      'passwords',
      `each further \`AUTH\` or \`HELLO\` waits ${failurePause / 1000} s`,
    ),
    fixed(
      'unread data of a subscriber that had not read everything before this turn of the event loop; also the size of one message',
      maxMessages,
      'bytes',
      'the connection is closed before more is added. If `policy.maxStreamBuffer` is higher, it is the limit instead. redis-server has the same limit, `client-output-buffer-limit pubsub`',
    ),
    fixed(
      `data that a subscriber leaves unread for over ${longBehind / 1000} seconds of host time`,
      manyMessages,
      'bytes',
      'the connection is closed',
    ),
    fixed('one command that `MONITOR` shows', maxShown, 'bytes', 'the monitors are disconnected'),
    fixed(
      'memory of a connection: commands between `MULTI` and `EXEC`, subscriptions, watched keys, keys of a blocking command, names',
      maxConnectionBytes,
      'bytes',
      '`OOM command not allowed …`; `EXEC` discards the transaction',
    ),
    fixed(
      'name of a connection, or of its client library',
      maxName,
      'bytes',
      '`OOM command not allowed …`; redis-server accepts longer names',
    ),
    fixed(
      'commands between `MULTI` and `EXEC`',
      maxRowsOf(defaultPolicy),
      'commands',
      '`ERR max work exceeded`; `EXEC` discards the transaction',
    ),
    fixed(
      'one command of an unauthenticated client',
      strangersLimits.command,
      'bytes',
      '`NOAUTH`; the command is not stored',
    ),
    fixed(
      'one argument of an unauthenticated client',
      strangersLimits.word,
      'bytes',
      '`ERR Protocol error: unauthenticated bulk length`; the connection is closed',
    ),
    fixed(
      'arguments of one command of an unauthenticated client',
      strangersLimits.words,
      'arguments',
      '`ERR Protocol error: unauthenticated multibulk length`; the connection is closed',
    ),
    fixed(
      'one line of an unauthenticated client',
      strangersLimits.line,
      'bytes',
      '`ERR Protocol error: too big inline request`, or `mbulk count string`; the connection is closed',
    ),
    fixed(
      'one line',
      maxLine,
      'bytes',
      '`ERR Protocol error: too big inline request`, or `mbulk count string`; the connection is closed',
    ),
    fixed(
      'arguments of one command',
      maxWords,
      'arguments',
      '`ERR Protocol error: invalid multibulk length`; the connection is closed',
    ),
    fixed(
      'one argument',
      maxWord,
      'bytes',
      '`ERR Protocol error: invalid bulk length`; the connection is closed. An argument beyond `policy.maxRequestSize` is read, discarded and rejected',
    ),
    fixed('one reply, even if `policy.maxResponseSize` is higher', maxReplyBytes, 'bytes', 'an error reply instead'),
    fixed(
      'one reply, including the errors of commands whose replies did not fit',
      maxText,
      'bytes',
      'the connection is closed',
    ),
    fixed(
      'data that a client may still send after the error that ends its connection',
      farewell.bytes,
      `bytes, and ${farewell.milliseconds.toLocaleString('en')} ms`,
      'the socket is closed',
    ),
    fixed(
      'work of commands of one connection without a break',
      turn,
      `units of about 25 ns; each command counts as at least ${unitsPerRow}`,
      'other connections get their turn',
    ),
  ],
  'the control API and scenarios': [
    fixed(
      'one list of the control API',
      maxItems,
      'items',
      'status 400. Its message explains paging with `limit`, `skip` and the `link` header to the next page',
    ),
    fixed('bodies in one list of the control API', mostListBytes, 'bytes', 'the same status 400 as for too many items'),
    fixed(
      'timers in the response to a clock change',
      maxPending,
      'timers',
      'the response says how many more there are',
    ),
    fixed(
      '`wait` of a request for traffic entries',
      longestTrafficWait,
      'ms',
      'the response contains the entries that have arrived by then',
    ),
    fixed(
      'estimated size of a state, dump, snapshot or diff of the control API',
      `${usualAtOnce / 1_048_576} MiB, or a sixteenth of the heap if that is less`,
      'bytes',
      'status 400. Its message says what to request instead. The file of `--state` does not have this limit',
    ),
    fixed(
      'estimated size of a trace or of key changes of the control API',
      `${(inSlicesTimes * usualAtOnce) / 1_048_576} MiB, or an eighth of the heap if that is less`,
      'bytes',
      'status 400. Its message says how to request parts with `limit`, `after` and `bodies`',
    ),
    fixed(
      'entries of a timeline or a diagram of the control API',
      maxItems,
      'entries',
      'status 400. Its message says how to request fewer entries',
    ),
    fixed(
      'fire times in one response to `upcoming`',
      maxSlots,
      'fire times',
      'status 400. Its message says how to request the next fire times',
    ),
    fixed('levels of the JSON of a control request', deepest, 'levels', 'status 400'),
    fixed('values in the JSON of a request to the queue', maxQueueValues, 'values', 'status 400'),
    fixed('values in the JSON of a control request', maxControlValues, 'values', 'status 400'),
    fixed(
      'steps of one script of a destination in the control API',
      maxSteps,
      'steps',
      'status 400: send the remaining steps later',
    ),
    fixed('fault rules of a tenant', maxRules, 'rules', 'status 400'),
    fixed('added databases of a tenant', maxDatabases, 'databases', 'a TypeError'),
    fixed('waits before one step of a destination', maxWaits, 'waits', 'status 400: combine the waits'),
    fixed('duration of a fault', maxSpan, 'ms', 'status 400'),
    fixed('chunks of a slow body', mostSlowChunks, 'chunks', 'the body is sent in this number of larger chunks'),
    fixed('levels of copied plain data', deepestCopy, 'levels', 'deeper levels are not copied'),
    fixed('levels of a scenario including its faults', deepestScenario, 'levels', 'status 400, or exit code 2'),
    fixed('levels of a scenario file', deepestFile, 'levels', 'exit code 2'),
    fixed('size of a scenario file', maxFile, 'bytes', 'exit code 2'),
    fixed('values after expanding the aliases of a scenario file', mostAliasValues, 'values', 'exit code 2'),
    fixed(
      'timers and time that a scenario step runs until its work has ended',
      maxTimers,
      `timers, and ${longestStepWait / 3_600_000} h`,
      'the step fails',
    ),
    fixed(
      'responses to the app for which one clock change waits',
      maxResponses,
      'responses',
      'the clock change fails with an error that names the sender',
    ),
    fixed('event loop turns of one replay', maxTurns, 'turns', 'an error that says where the replay differs'),
    fixed(
      'diagnostics of one kind that a sandbox keeps',
      Math.max(mostStoreSentences, maxDiagnostics, maxReportedOutbound, mostRefused),
      'diagnostics',
      'only the first ones are reported',
    ),
    fixed('step and event names kept for suggestions', maxNames, 'names', 'further names are not suggested'),
    fixed('links to the inspector that were not used', maxLinks, 'links', 'the oldest link expires'),
    fixed('lifetime of a link to the inspector', linkLifetime, 'ms', 'the link expires'),
    fixed(
      'layers of quoting and encoding in a text that is searched for secrets',
      deepestSecret,
      'layers',
      'the report hides the whole text',
    ),
  ],
  'the store': [
    policy(
      'maxRequestSize',
      'arguments of one command, together',
      'bytes',
      'status 413, or `ERR max request size exceeded` on the Redis port',
    ),
    policy(
      'maxKeySize',
      'one key in a sent command',
      'bytes',
      'an error that names the limit; the command does not run',
    ),
    policy('maxScriptSteps', 'one script of the store', 'steps', 'the script is stopped with an error'),
    policy('maxSearchIndexes', 'search indexes of one database', 'indexes', '`ERR Exceeded max index count`'),
    fixed('one string of the store', maxStringLength, 'bytes', '`ERR string exceeds maximum allowed size`'),
    fixed('one string that is read as a whole', longestRead, 'bytes', 'the same as beyond `policy.maxRequestSize`'),
    fixed(
      'repeated names in a reply of `…RANDFIELD` or `…RANDMEMBER`',
      maxRepeats,
      'names',
      '`ERR value is out of range`',
    ),
    fixed(
      'response to one request as a string',
      longestJson,
      'characters',
      'the same as beyond `policy.maxResponseSize`',
    ),
    fixed('levels of lists in a reply', deepestReply, 'levels', 'an error reply instead'),
    fixed('levels of a JSON document', maxDepth, 'levels', 'the command is rejected'),
    fixed('text of JSON values in one reply', maxTextLength, 'bytes', 'the command is rejected'),
    fixed('matches of a JSON path', maxPlaces, 'matches', 'the command is rejected'),
    fixed('nested filters of a JSON path', maxPathNesting, 'levels', 'the path is invalid'),
    fixed('regular expression of a JSON path', maxPattern, 'characters', 'the expression matches nothing'),
    fixed(
      'parts of an unrolled regular expression of a JSON path or of `ARGREP`',
      maxInstructions,
      'parts',
      'the expression of a path matches nothing, `ARGREP` is rejected',
    ),
    fixed(
      'repetitions in a regular expression of a JSON path',
      maxRepeat,
      'repetitions',
      'the expression matches nothing',
    ),
    fixed(
      'nested groups in a regular expression of a JSON path or of `ARGREP`',
      maxPatternNesting,
      'levels',
      'the expression of a path matches nothing, `ARGREP` is rejected',
    ),
    fixed(
      'positions in one reply of `ARGETRANGE` or `ARLASTITEMS`',
      maxPositions,
      'positions',
      '`ERR range exceeds maximum of 1000000 items`, or the same for `count`',
    ),
    fixed('predicates of one `ARGREP`', maxPredicates, 'predicates', '`ERR too many predicates, maximum is 250`'),
    fixed('regular expression of `ARGREP`', maxRegex, 'bytes', '`ERR regular expression is too long`'),
    fixed(
      'repetitions in a regular expression of `ARGREP`',
      maxPosixRepeat,
      'repetitions',
      '`ERR invalid regular expression`',
    ),
    fixed('text that `AROP` reads as a number', maxNumberLength, 'bytes', 'the value does not count as a number'),
    fixed('versions of a key for stale reads', maxVersions, 'versions', 'the oldest version is dropped'),
    fixed('levels of a search filter', deepestFilter, 'levels', 'the search is rejected'),
    fixed('levels of the JSON of aggregations', deepestAggregation, 'levels', 'the search is rejected'),
    fixed('buckets of one search', maxBuckets, 'buckets', 'the search is rejected'),
    fixed('percentiles of one aggregation', maxPercents, 'percentiles', 'the search is rejected'),
    fixed('`slop` of a phrase', maxSlop, 'words', 'the search is rejected'),
    fixed('documents in one search result', mostFound, 'documents', 'the search is rejected'),
    fixed('offset of a search', furthest, 'documents', 'the search is rejected'),
    fixed('prefixes of a search index', maxPrefixes, 'prefixes', '`SEARCH.CREATE` is rejected'),
    fixed('fields of a search index', maxFields, 'fields', '`SEARCH.CREATE` is rejected'),
    fixed('retrievers of `$rrf`', maxRetrievers, 'retrievers', 'the search is rejected'),
    fixed('dimensions of a vector index', maxDimension, 'dimensions', '`VECTOR.CREATE` is rejected'),
    fixed('`TOPK` of `VECTOR.QUERY`', maxNeighbors, 'vectors', 'the query is rejected'),
    fixed('parts of a facet', deepestFacet, 'parts', 'the value is not indexed'),
  ],
  'scripts of the store': [
    fixed('one string of a script', longestScriptString, 'bytes', '`not enough memory`; the script ends'),
    fixed('all strings that a script creates', memoryForRun, 'bytes', '`not enough memory`; the script ends'),
    fixed('stack frames of a script', roomForRun, 'frames', '`stack overflow`; the script ends'),
    fixed('nested calls of a script through the host', maxNested, 'calls', '`C stack overflow`; the script ends'),
    fixed('syntax levels of a script', maxLevels, 'levels', 'the script does not compile'),
    fixed('consecutive operators in a script', maxChain, 'operators', 'the script does not compile'),
    fixed('nested nodes of a function of a script', deepestNode, 'levels', 'the script does not compile'),
    fixed('open items of a pattern', maxPatternItems, 'items', '`pattern too complex`'),
    fixed(
      'levels that `cjson` decodes and encodes',
      Math.max(deepestDecoded, deepestEncoded),
      'levels',
      'an error of that library',
    ),
    fixed('levels that `cmsgpack` decodes', deepestUnpacked, 'levels', 'an error of that library'),
  ],
  'the queue and workflows': [
    policy(
      'maxBatchSize',
      'size of a batch request to the queue, if quotas are enforced',
      'bytes',
      'the quota error of the service',
    ),
    policy(
      'maxCancelCount',
      "`count` of a cancel by filters, with `cancelCount: 'honored'`",
      'messages',
      'only this number of messages is canceled',
    ),
    policy('maxLogPageSize', 'entries of one page of the log', 'entries', 'the page has only this number of entries'),
    policy('maxRatePeriod', 'rate period of flow control', 'ms', 'status 400'),
    policy('maxRetryDelay', 'delay before a retry', 'ms', 'the delay is shortened to the limit'),
    policy(
      'handlerStallTimeout',
      'host time for which a handler in this process runs without returning or sleeping',
      'ms',
      'the delivery fails',
    ),
    fixed('bulk actions in progress, of messages or of workflow runs', maxInProgress, 'actions', 'status 412'),
    fixed('JSON body with the parameters of a request', maxParametersSize, 'bytes', 'status 400'),
    fixed('values of all filters of a request', maxFilterValues, 'values', 'status 400'),
    fixed(
      'payload and submissions of a workflow run, with the requests of calls',
      maxListBytes,
      'bytes',
      'status 429 as from the service; the run fails',
    ),
    fixed('retries of a message', maxRetries, 'retries', 'status 400'),
    fixed('delay in a response header', longestHeader, 'characters', 'the header is ignored'),
    fixed('expression of a retry delay', maxExpression, 'characters', 'status 400'),
    fixed('levels of the expression of a retry delay', deepestExpression, 'levels', 'status 400'),
    fixed('chunks of the response body of a destination', maxChunks, 'chunks', 'the attempt fails'),
    fixed('redirects that a delivery follows', maxRedirects, 'redirects', 'the attempt fails'),
    fixed('response body of an outbound request', longestCallBody, 'bytes', 'the body is cut'),
    fixed('nested invocations of workflows', deepestInvocation, 'levels', 'the quota error of the service'),
  ],
  'the MCP server': [
    fixed(
      'one message to `stuntdouble mcp`, or one request body of `mcp --http`',
      longestMcpMessage,
      'bytes',
      'with `mcp --http`, status 413. On standard input, the message is skipped and gets an error response',
    ),
    fixed('open streams of `mcp --http`', mostMcpStreams, 'streams', 'status 503'),
    fixed('items of a list for an agent', mostToolItems, 'items', 'an error of the tool call'),
    fixed('entries in one text for an agent', maxCopied, 'entries', 'an error of the tool call'),
    fixed('seeds in one call of an agent', maxSeeds, 'seeds', 'an error of the tool call'),
  ],
  'clusters and real Redis': [
    fixed(
      'response head of another node of a cluster',
      longestPassedHead,
      'bytes',
      'status 503: the request may or may not have run',
    ),
    fixed(
      'number of inputs that the journal of one tenant of a cluster contains',
      mostKeptInCluster.inputs,
      'inputs',
      'status 507 until a reset or a load',
    ),
    fixed(
      'size of the inputs that the journal of one tenant of a cluster contains',
      mostKeptInCluster.bytes,
      'bytes',
      'status 507 until a reset or a load',
    ),
    fixed(
      'age of the signature of a forwarded request, and clock difference between nodes',
      maxApart,
      'ms',
      'status 401',
    ),
    fixed('signed requests of one node that arrive out of order', maxOvertaking, 'requests', 'status 401'),
    fixed('one reply line of the real Redis', longestEngineLine, 'bytes', 'the connection to the real Redis is closed'),
    fixed('keys of the real Redis in a snapshot', mostEngineKeys, 'keys', 'the snapshot is rejected'),
  ],
  'the command line': [
    fixed('size of an opened trace', maxTrace, 'bytes', 'exit code 2'),
    fixed('size of a run for `history`', maxRun, 'bytes', 'exit code 2'),
    fixed('records for `import`', maxRecords, 'bytes', 'exit code 2'),
    fixed(
      'attempts of one message that `import` distinguishes',
      maxAttempts,
      'attempts',
      'later attempts count as the last distinguished attempt',
    ),
    fixed('runs of `play`', mostPlayed, 'runs', 'exit code 2'),
    fixed('runs of a campaign', maxRuns, 'runs', 'exit code 2'),
    fixed('shards of a campaign', maxShards, 'shards', 'exit code 2'),
    fixed('workers of a campaign on one machine', maxJobs, 'workers', 'exit code 2'),
    fixed('blocks of a campaign', maxBlocks, 'blocks', 'the file of the shard is rejected'),
    fixed('size of a shard file of a campaign', maxReport, 'bytes', 'exit code 2'),
    fixed(
      'notes of a shard',
      maxNotes,
      'notes',
      'a run drops further notes; a file that contains more notes is rejected',
    ),
    fixed('faults of one state and place in a shard file', maxFaults, 'faults', 'the file is rejected'),
    fixed('printed lines of an error of a campaign', maxLines, 'lines', 'further lines are dropped'),
    fixed('reason why a block did not run', longestReason, 'characters', 'the reason is cut'),
  ],
}

/** All limits. */
export const limitRows: readonly LimitRow[] = Object.values(limitAreas).flat()
