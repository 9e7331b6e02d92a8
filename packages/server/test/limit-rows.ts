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
import { maxWait as longestHeader } from '../../../src/queue/delivery/retry.js'
import { maxRedirects } from '../../../src/queue/destinations/destinations.js'
import { largeResponseBytes, leastParallel, maxBuffered } from '../../../src/queue/destinations/network.js'
import { maxChunks } from '../../../src/queue/destinations/response.js'
import { maxDiagnostics } from '../../../src/queue/queue-engine.js'
import { maxQueueValues } from '../../../src/queue/rest/reading.js'
import { maxRetries } from '../../../src/queue/settings/publish-options.js'
import { deepestExpression, maxExpression } from '../../../src/queue/settings/retry-expression.js'
import { maxRules } from '../../../src/rules/fault-rules.js'
import { maxTurns } from '../../../src/sandbox/journal-replay.js'
import { maxWait as longestStepWait, maxTimers } from '../../../src/scenarios/actions.js'
import { maxAttempts } from '../../../src/scenarios/import/imported-records.js'
import { deepest as deepestScenario } from '../../../src/scenarios/scenario.js'
import { deepest as deepestSecret } from '../../../src/secrets/texts.js'
import { maxConnectionBytes, maxName } from '../../../src/store/command/connection-memory.js'
import { maxMembers } from '../../../src/store/command/memory.js'
import { deepestReply } from '../../../src/store/command/reply.js'
import { maxRepeats } from '../../../src/store/commands/collection-arguments.js'
import { furthest, maxFields, maxPrefixes, maxRows as mostFound } from '../../../src/store/commands/search-arguments.js'
import { maxStringLength } from '../../../src/store/commands/string.js'
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
import { maxAnswer, maxText } from '../../../src/store/resp/session.js'
import { maxString as longestJson } from '../../../src/store/rest/rest-responses.js'
import { maxVersions } from '../../../src/store/rest/stale-reads.js'
import { deepest as deepestAggregation } from '../../../src/store/search/aggregate.js'
import { maxBuckets } from '../../../src/store/search/bucket-count.js'
import { maxSlop } from '../../../src/store/search/field-operators.js'
import { deepestFacet } from '../../../src/store/search/field-values.js'
import { deepest as deepestFilter } from '../../../src/store/search/filter-syntax.js'
import { maxPercents } from '../../../src/store/search/metrics.js'
import { maxRowsOf } from '../../../src/store/store-limits.js'
import { maxPlaces } from '../../../src/store/values/json-path.js'
import { maxNesting as maxPathNesting } from '../../../src/store/values/json-path-syntax.js'
import {
  maxInstructions,
  maxPattern,
  maxNesting as maxPatternNesting,
  maxRepeat,
} from '../../../src/store/values/json-regex.js'
import { maxTextLength } from '../../../src/store/values/json-text.js'
import { maxDepth } from '../../../src/store/values/json-value.js'
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

// The table has a file of its own, which nothing but the documentation and its tests loads: it names constants of every
// room, and most rooms know the limits of the server.

/** One limit, as the tables of docs/server.md and SECURITY.md list it. */
export interface LimitRow {
  /** How it is set: an option of `stuntdouble serve`, a policy, or not at all. */
  readonly set: `--${string}` | `policy.${keyof Policy}` | 'fixed'
  /** What is limited. */
  readonly what: string
  /** A number, or a sentence part where it depends on the machine. */
  readonly default: number | string
  readonly unit: string
  /** What happens beyond it, as a sentence part. */
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

/** Every limit that keeps one client, or one request, from starving or ending the others. The docs list them from here. */
export const limitRows: readonly LimitRow[] = [
  option('maxBodyBytes', '--max-body-bytes', 'the body of one request', 'bytes', '413; the connection is closed'),
  option(
    'buffered',
    '--max-buffered',
    'bodies that arrive, commands that wait for `EXEC` and output that was not taken, of all clients together, and answers of destinations that arrive',
    'bytes',
    'whoever has sent, or taken, nothing for longest is sent away, then whoever holds most, with 503 for a body; so is who asks, if nobody holds more; a delivery fails, with a sentence in its attempt',
    `${maxBuffered / 1_048_576} MiB, or a quarter of the heap`,
  ),
  option(
    'requestTimeout',
    '--request-timeout',
    'a whole request, its body included; and the time in which a client has to take something of an answer that waits for it',
    'ms',
    `408, at the next look: there is one every ${arrivalLook / 1000} s; until its last byte has arrived it does not run and does not hold up time; who takes nothing is dropped`,
  ),
  option('maxStreams', '--max-streams', 'event streams that are open at once', 'streams', '503'),
  option(
    'maxConnections',
    '--max-connections',
    'connections of the native protocol that are open at once',
    'connections',
    'refused',
  ),
  fixed(
    'connections of HTTP that are open at once',
    `as \`--max-connections\`, and one for each ${maxHead / 1024} KiB of \`--max-buffered\`: ${(maxBuffered / maxHead).toLocaleString('en')}`,
    'connections',
    'closed',
  ),
  option('maxTenants', '--max-tenants', 'tenants that exist at once', 'tenants', '503; `ERR` at the native port'),
  fixed(
    'wrong passwords of a connection of the native port',
    freeFailures,
    'passwords',
    `each further \`AUTH\` or \`HELLO\` waits ${failurePause / 1000} s`,
  ),
  option(
    'maxTrafficEntries',
    '--max-traffic-entries',
    'the traffic log of a tenant',
    'entries',
    'the older half of the log is dropped',
  ),
  policy(
    'maxTrafficBytes',
    'what a sandbox keeps of its past: the traffic log, messages that are over, and the journal from which it is played again',
    'bytes',
    'the older half of the log is dropped, the oldest messages are forgotten; the journal has at most three eighths of it, and ends: no `fork()` and `asOf()` until a reset',
  ),
  policy(
    'maxForkBytes',
    'what all forks of a sandbox, and their forks, keep together',
    'bytes',
    'a fork is refused until another one is disposed of; the older halves of their logs are dropped',
  ),
  policy('maxWork', 'the work of one request to the store', 'units of about 25 ns', '`ERR max work exceeded`'),
  fixed(
    'what one request to the store adds to strings without sending it: gaps of `SETRANGE`, `SETBIT` and `BITFIELD`, results of `BITOP` and of scripts',
    bytesPerUnit * defaultPolicy.maxWork,
    `bytes, ${bytesPerUnit} for each unit of \`maxWork\``,
    '`ERR max work exceeded`; a longer string grows request by request, up to the 512 MB of redis-server',
  ),
  policy('maxResponseSize', 'the answer to one request to the store', 'bytes', 'an error that names the policy'),
  fixed(
    'members of a set, hash, sorted set, list or stream, and keys of a data store',
    maxMembers,
    'members',
    "`OOM command not allowed when used memory > 'maxmemory'.` for every command that could add one, and nothing is added",
  ),
  policy(
    'maxSearchDocument',
    'what a search index reads of one document',
    'bytes',
    'a text is cut after a word, other values are left out',
  ),
  policy('maxRunSteps', 'the steps of a workflow run', 'steps', '429, as the service does; the run fails'),
  policy('maxRunContext', 'payload and results of a workflow run', 'bytes', '429, as the service does; the run fails'),
  policy(
    'maxStreamBuffer',
    'what a slow reader of an event stream has not taken',
    'bytes',
    'it is dropped before more is added',
  ),
  fixed(
    'what one turn of the event loop brings for a reader of an event stream who had taken everything',
    maxEvent,
    'bytes',
    'it is dropped before more is added',
  ),
  fixed(
    'what a subscriber of the native protocol has not taken, unless it had taken everything before this turn of the event loop; and one message',
    maxMessages,
    'bytes',
    'it is closed before more is added, unless `policy.maxStreamBuffer` is more, as by `client-output-buffer-limit pubsub` of redis-server',
  ),
  fixed(`the same for more than ${longBehind / 1000} seconds of the host`, manyMessages, 'bytes', 'it is closed'),
  fixed('a command that `MONITOR` shows', maxShown, 'bytes', 'the monitors are dropped'),
  fixed(
    'entries that have come since a reader of a traffic stream began and wait for it, or changed after it had them',
    maxWaiting,
    'entries',
    'it is dropped',
  ),
  fixed(
    'bodies of entries that come while a reader of a traffic stream takes nothing',
    maxBytesWaiting,
    'bytes',
    'it is dropped',
  ),
  fixed(
    'worlds whose entries wait for a slow reader of a traffic stream, one for each reset',
    maxSandboxes,
    'worlds',
    'it gets no more of those before',
  ),
  fixed(
    'rows between `MULTI` and `EXEC`, subscriptions, keys that are watched or waited for, and names of a connection',
    maxConnectionBytes,
    'bytes',
    "`OOM command not allowed when used memory > 'maxmemory'.`; a transaction is discarded by its `EXEC`",
  ),
  fixed(
    'the name of a connection of the native protocol, or of its library',
    maxName,
    'bytes',
    "`OOM command not allowed when used memory > 'maxmemory'.`; redis-server takes longer ones",
  ),
  fixed(
    'rows between `MULTI` and `EXEC`',
    maxRowsOf(defaultPolicy),
    'rows',
    '`ERR max work exceeded`; the transaction is discarded by its `EXEC`',
  ),
  fixed(
    'commands of one request, `/pipeline` or `/multi-exec`',
    maxRowsOf(defaultPolicy),
    'commands',
    '400, `ERR max work exceeded`; none of them runs',
  ),
  fixed(
    'a command of somebody who has not signed in',
    strangersLimits.command,
    'bytes',
    '`NOAUTH`, and nothing of it is kept',
  ),
  fixed(
    'one word of it',
    strangersLimits.word,
    'bytes',
    '`ERR Protocol error: unauthenticated bulk length`; the connection is closed',
  ),
  fixed(
    'its words',
    strangersLimits.words,
    'words',
    '`ERR Protocol error: unauthenticated multibulk length`; the connection is closed',
  ),
  fixed(
    'a line of it',
    strangersLimits.line,
    'bytes',
    '`ERR Protocol error: too big inline request`, or `mbulk count string`; the connection is closed',
  ),
  fixed(
    'a line of the native protocol',
    maxLine,
    'bytes',
    '`ERR Protocol error: too big inline request`, or `mbulk count string`; the connection is closed',
  ),
  fixed(
    'words of a command of the native protocol',
    maxWords,
    'words',
    '`ERR Protocol error: invalid multibulk length`; the connection is closed',
  ),
  fixed(
    'one word of the native protocol',
    maxWord,
    'bytes',
    '`ERR Protocol error: invalid bulk length`; the connection is closed. One beyond `policy.maxRequestSize` is read, not kept, and refused',
  ),
  fixed(
    'an answer of the native protocol, whatever `policy.maxResponseSize` says',
    maxAnswer,
    'bytes',
    'an error instead',
  ),
  fixed('the same, with the errors of rows that had no room', maxText, 'bytes', 'the connection is closed'),
  fixed(
    'what still comes from a native connection that was told its end',
    farewell.bytes,
    `bytes, and ${farewell.milliseconds.toLocaleString('en')} ms`,
    'its socket is closed',
  ),
  fixed(
    'commands of a connection of the native protocol in a row',
    turn,
    `units of about 25 ns, at least ${unitsPerRow} for a command`,
    'the other connections have their turn',
  ),
  fixed('the head of a request', maxHead, 'bytes', '431'),
  fixed('headers of a request', maxHeaders, 'headers', '431; older versions of Node leave out those beyond it'),
  fixed(
    'the body of a request without a valid token, from a foreign page, to a path that is nothing, or to a foreign host that is not registered',
    maxUnwanted,
    'bytes',
    'it is answered, as it would be anyway, before its body is read; the connection is closed',
  ),
  fixed(
    `answers of destinations of more than ${largeResponseBytes / 1_048_576} MiB together; of one tenant half of that`,
    responsesShare,
    '% of `--max-buffered`',
    'the delivery fails as if the connection had ended; small ones are still read',
  ),
  fixed(
    'deliveries of a tenant over the network that run at once',
    `as \`globalParallelism\` of the plan, and ${leastParallel} at least`,
    'deliveries',
    'they wait for their turn, which takes nothing of their time-outs; so do all while the heap is full, which is told once',
  ),
  fixed(
    'no progress of a body that arrives, or of a client that has something to take, while others need room',
    stalledAfter,
    'ms',
    'it is sent away before those that make progress',
  ),
  fixed(
    'the time in which the head of a request has to arrive',
    headArrival,
    'ms',
    `408, within ${(headArrival + arrivalLook) / 1000} s: it is looked every ${arrivalLook / 1000} s`,
  ),
  fixed(
    'a list of the control API',
    maxItems,
    'items',
    '400, saying how to ask for parts: `limit`, `skip`, and a `link` header to the next',
  ),
  fixed('the bodies in a list of the control API', mostListBytes, 'bytes', 'as beyond its items'),
  fixed('timers that are told beside a move of time', maxPending, 'timers', 'a sentence says how many more there are'),
  fixed('the `wait` of a list of the traffic', longestTrafficWait, 'ms', 'the answer is what there is'),
  fixed(
    'a state, a dump, a snapshot or a difference of the control API, by an estimate',
    `${usualAtOnce / 1_048_576} MiB, or a sixteenth of the heap where that is less`,
    'bytes',
    '400 before anything of it is made, saying what to ask for; the state as a file has no such limit: `--state`',
  ),
  fixed(
    'a trace of the control API, or changes of keys, by an estimate',
    `${(inSlicesTimes * usualAtOnce) / 1_048_576} MiB, or an eighth of the heap where that is less`,
    'bytes',
    '400 before anything of it is made, saying how to ask for parts: `limit`, `after`, `bodies`',
  ),
  fixed(
    'entries of a timeline or a diagram of the control API',
    maxItems,
    'entries',
    '400, saying how to ask for less',
  ),
  fixed(
    'what all tenants of the server hold together',
    100 * fullAt,
    '% of the heap',
    "whatever would store more is refused: `OOM command not allowed when used memory > 'maxmemory'.` for a command, 503 for the rest; the older half of each traffic log is dropped; reads, deletes and resets still work",
  ),
  fixed(
    'the same',
    100 * criticalAt,
    '% of the heap',
    'reads are refused, too: 503; `PING`, `ECHO`, `TIME`, `INFO`, `DBSIZE` and reads of a number still work',
  ),
  fixed('slots of `upcoming`', maxSlots, 'slots', '400, saying how to ask for the next'),
  fixed('levels of the JSON of a control request', deepest, 'levels', '400'),
  fixed('values in the JSON of a request to the queue', maxQueueValues, 'values', '400'),
  fixed('values in the JSON of a control request', maxControlValues, 'values', '400'),
  fixed('steps of one script of a destination, over the control API', maxSteps, 'steps', '400: send the rest later'),
  fixed('rules of faults of a tenant', maxRules, 'rules', '400'),
  fixed('waits before a step of a destination does anything', maxWaits, 'waits', '400: add up the waits'),
  fixed('the time of a fault', maxSpan, 'ms', '400'),
  fixed('chunks of a slow body', mostSlowChunks, 'chunks', 'the chunks are larger'),
  fixed('levels of plain data that is copied', deepestCopy, 'levels', 'what is deeper is not copied'),
  fixed('levels of a scenario, its faults included', deepestScenario, 'levels', '400, or exit code 2'),
  fixed('levels of a scenario file', deepestFile, 'levels', 'exit code 2'),
  fixed('a scenario file', maxFile, 'bytes', 'exit code 2'),
  fixed('values that the aliases of a scenario file unfold to', mostAliasValues, 'values', 'exit code 2'),
  fixed(
    'virtual time, and timers, that a step of a scenario waits for its work',
    maxTimers,
    `timers, and ${longestStepWait / 3_600_000} h`,
    'the step fails',
  ),
  fixed(
    'responses to code outside for which one move of time waits',
    maxResponses,
    'responses',
    'the move fails, and says what goes on sending',
  ),
  fixed(
    'turns in which the past of a world has to come about once more',
    maxTurns,
    'turns',
    'an error that says where it strayed',
  ),
  fixed(
    'sentences about what the store, the queue or calls met that a sandbox remembers, of each kind',
    Math.max(mostStoreSentences, maxDiagnostics, maxReportedOutbound, mostRefused),
    'sentences',
    'the first ones are told',
  ),
  fixed('names of steps, and of events, that are known for near misses', maxNames, 'names', 'no more are suggested'),
  fixed('links to the inspector that wait for their reader', maxLinks, 'links', 'the oldest lets nobody in any more'),
  fixed('the time for which a link to the inspector counts', linkLifetime, 'ms', 'it lets nobody in any more'),
  fixed(
    'layers of quoting and encoding in which secrets are looked for',
    deepestSecret,
    'layers',
    'the text is hidden',
  ),

  policy(
    'maxRequestSize',
    'the words of a command',
    'bytes',
    '413; `ERR max request size exceeded` at the native port',
  ),
  policy('maxKeySize', 'a key in a command that is sent', 'bytes', 'an error that says so; the command is not run'),
  policy('maxScriptSteps', 'a script of the store', 'steps', 'the script is stopped with an error'),
  policy('maxSearchIndexes', 'search indexes of a store', 'indexes', '`ERR Exceeded max index count`'),
  fixed('a string of the store', maxStringLength, 'bytes', '`ERR string exceeds maximum allowed size`'),
  fixed('a string that is read as a whole', longestRead, 'bytes', 'as beyond `policy.maxRequestSize`'),
  fixed('names that a `…RANDFIELD` or `…RANDMEMBER` repeats', maxRepeats, 'names', '`ERR value is out of range`'),
  fixed('the answer to one request, as a string', longestJson, 'chars', 'as beyond `policy.maxResponseSize`'),
  fixed('levels of lists in a reply', deepestReply, 'levels', 'an error instead'),
  fixed('levels of a JSON document', maxDepth, 'levels', 'the command is refused'),
  fixed('the text of JSON values in one reply', maxTextLength, 'bytes', 'the command is refused'),
  fixed('places that a JSON path matches', maxPlaces, 'places', 'the command is refused'),
  fixed('filters in filters of a JSON path', maxPathNesting, 'levels', 'the path is invalid'),
  fixed('a regular expression of a JSON path', maxPattern, 'chars', 'it matches nothing'),
  fixed('what a regular expression of a JSON path unrolls to', maxInstructions, 'parts', 'it matches nothing'),
  fixed('repetitions that it names', maxRepeat, 'repetitions', 'it matches nothing'),
  fixed('groups in groups of such an expression', maxPatternNesting, 'levels', 'it matches nothing'),
  fixed('versions of a key that stale reads know', maxVersions, 'versions', 'the oldest is forgotten'),
  fixed('levels of a search filter', deepestFilter, 'levels', 'the search is refused'),
  fixed('levels of the JSON of aggregations', deepestAggregation, 'levels', 'the search is refused'),
  fixed('buckets of one search', maxBuckets, 'buckets', 'the search is refused'),
  fixed('percentiles of one aggregation', maxPercents, 'percentiles', 'the search is refused'),
  fixed('the `slop` of a phrase', maxSlop, 'words', 'the search is refused'),
  fixed('documents of one answer of a search', mostFound, 'documents', 'the search is refused'),
  fixed('the offset of a search', furthest, 'documents', 'the search is refused'),
  fixed('prefixes of a search index', maxPrefixes, 'prefixes', '`SEARCH.CREATE` is refused'),
  fixed('fields of a search index', maxFields, 'fields', '`SEARCH.CREATE` is refused'),
  fixed('parts of a facet', deepestFacet, 'parts', 'the value is left out of the index'),
  fixed('one string of a script', longestScriptString, 'bytes', '`not enough memory`; the script ends'),
  fixed('all strings that a script makes', memoryForRun, 'bytes', '`not enough memory`; the script ends'),
  fixed('frames that a script stacks', roomForRun, 'frames', '`stack overflow`; the script ends'),
  fixed('calls of a script through the host', maxNested, 'calls', '`C stack overflow`; the script ends'),
  fixed('levels of the syntax of a script', maxLevels, 'levels', 'it is not compiled'),
  fixed('operators in a row in a script', maxChain, 'operators', 'it is not compiled'),
  fixed('nodes within nodes of a function of a script', deepestNode, 'levels', 'it is not compiled'),
  fixed('items of a pattern that wait for the rest of it', maxPatternItems, 'items', '`pattern too complex`'),
  fixed('levels that `cjson` reads and writes', Math.max(deepestDecoded, deepestEncoded), 'levels', 'an error of it'),
  fixed('levels that `cmsgpack` reads', deepestUnpacked, 'levels', 'an error of it'),

  policy('maxBatchSize', 'a batch of the queue, where quotas are enforced', 'bytes', 'the refusal over quota'),
  policy('maxCancelCount', 'messages that one bulk cancel names in `count`', 'messages', 'it cancels this many'),
  policy('maxLogPageSize', 'entries of a page of the log', 'entries', 'the page has this many'),
  policy('maxRatePeriod', 'the period of a rate of flow control', 'ms', '400'),
  policy('maxRetryDelay', 'the wait before a retry', 'ms', 'it is this long'),
  policy('handlerStallTimeout', 'a handler in this process that neither ends nor sleeps', 'ms', 'its delivery fails'),
  fixed('retries of a message', maxRetries, 'retries', '400'),
  fixed('a wait that a header of an answer asks for', longestHeader, 'chars', 'it counts as absent'),
  fixed('the expression of a retry delay', maxExpression, 'chars', '400'),
  fixed('levels of the expression of a retry delay', deepestExpression, 'levels', '400'),
  fixed('chunks of the body that a destination answers with', maxChunks, 'chunks', 'the attempt fails'),
  fixed('redirects that a delivery follows', maxRedirects, 'redirects', 'the attempt fails'),
  fixed('the body of an answer to a call', longestCallBody, 'bytes', 'it is cut'),
  fixed('workflows that invoke each other', deepestInvocation, 'levels', 'the refusal over quota'),

  fixed(
    'a message to `stuntdouble mcp`, the body of a request to `mcp --http` included',
    longestMcpMessage,
    'bytes',
    '413; on the standard input it is left out, and an error answers it',
  ),
  fixed('streams of `mcp --http` that are open at once', mostMcpStreams, 'streams', '503'),
  fixed('items of a list that an agent is told', mostToolItems, 'items', 'a mistake of the call'),
  fixed('entries of a text that an agent asks for', maxCopied, 'entries', 'a mistake of the call'),
  fixed('seeds that an agent has tried', maxSeeds, 'seeds', 'a mistake of the call'),

  fixed(
    'the head of an answer that another node of a cluster gives',
    longestPassedHead,
    'bytes',
    '503: it may have happened, or not',
  ),
  fixed('inputs of a tenant of a cluster', mostKeptInCluster.inputs, 'inputs', '507 until a reset or a load'),
  fixed('the same', mostKeptInCluster.bytes, 'bytes', '507 until a reset or a load'),
  fixed(
    'the age of the signature of what a node hands on, and how far clocks of nodes are apart',
    maxApart,
    'ms',
    '403',
  ),
  fixed('signed requests of a node that overtake each other', maxOvertaking, 'requests', '403'),
  fixed('a line of a reply of an engine', longestEngineLine, 'bytes', 'the connection to the engine is closed'),
  fixed('keys of an engine that a snapshot copies', mostEngineKeys, 'keys', 'the snapshot is refused'),

  fixed('a trace that is opened', maxTrace, 'bytes', 'exit code 2'),
  fixed('a run that `history` reads', maxRun, 'bytes', 'exit code 2'),
  fixed('records that `import` reads', maxRecords, 'bytes', 'exit code 2'),
  fixed(
    'attempts of one message that `import` tells apart',
    maxAttempts,
    'attempts',
    'later ones count as the last of them',
  ),
  fixed('runs of `play`', mostPlayed, 'runs', 'exit code 2'),
  fixed('runs of a campaign', maxRuns, 'runs', 'exit code 2'),
  fixed('shards of a campaign', maxShards, 'shards', 'exit code 2'),
  fixed('workers of a campaign on one machine', maxJobs, 'workers', 'exit code 2'),
  fixed('blocks of a campaign', maxBlocks, 'blocks', 'the file of the shard is refused'),
  fixed('the file of a shard of a campaign', maxReport, 'bytes', 'exit code 2'),
  fixed('notes of a shard', maxNotes, 'notes', 'those beyond are left out; a file with more is refused'),
  fixed('faults of one state and place in the file of a shard', maxFaults, 'faults', 'the file is refused'),
  fixed('lines of an error of a campaign that are printed', maxLines, 'lines', 'the rest is left out'),
  fixed('the reason why a block did not run', longestReason, 'chars', 'it is cut'),
]
