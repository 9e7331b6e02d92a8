import { unitsPerRow } from '../kernel/work.js'
import type { Policy } from '../policy/policy.js'
import { defaultPolicy } from '../policy/policy.js'
import { leastParallel, mostBuffered } from '../queue/destinations/network.js'
import { mostQueueValues } from '../queue/rest/reading.js'
import { mostMembers } from '../store/command/memory.js'
import { freeFailures } from '../store/native/wire.js'
import { deepest, mostControlValues, mostItems } from './control/parts.js'
import { criticalAt, fullAt, heapLimit } from './heap.js'

/** What the server takes before it refuses, so that one client cannot starve the others. */
export interface ServerLimits {
  /** Bytes of one request body. Default 128 MiB: more than the largest batch of the queue. */
  readonly body: number
  /** Host milliseconds in which a request has to arrive, its body included. Default 120,000. */
  readonly arrival: number
  /** Event streams that are open at once. Default 1,000. */
  readonly streams: number
  /**
   * Connections of the native protocol that are open at once. Default 10,000. Of HTTP as many, and no more than one for
   * each 64 KiB of `buffered`.
   */
  readonly connections: number
  /** Tenants that exist at once. Default 1,000. */
  readonly tenants: number
  /** Entries of the traffic log of each tenant; beyond it the older half is dropped. Default 200,000. */
  readonly entries: number
  /**
   * Bytes of all clients together that are on their way: bodies that arrive, commands that wait for EXEC, output that was
   * not taken, answers of destinations that arrive. Default 512 MiB, or a quarter of the heap where that is less.
   */
  readonly buffered: number
}

export const defaultLimits: ServerLimits = {
  body: 134_217_728,
  arrival: 120_000,
  streams: 1_000,
  connections: 10_000,
  tenants: 1_000,
  entries: 200_000,
  buffered: Math.min(mostBuffered, Math.floor(heapLimit() / 4)),
}

/** Bytes of the head of a request. Paths may be commands, headers may be forwarded. */
export const longestHead = 65_536

/** Bytes that are read of the body of a request that will be refused for its token or its origin. */
export const mostUnwanted = 65_536

/** Bodies of more bytes share three quarters of what may be on its way, so that small ones always find room. */
export const largeBody = 1_048_576

/** Of what may be on its way, large answers of destinations have so many hundredths; one tenant half of that. */
export const answersShare = 50

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
  what: string,
  unit: string,
  beyond: string,
  shown: number | string = defaultLimits[name],
): LimitRow => ({ set: `--max-${name}`, what, default: shown, unit, beyond })

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
  option('body', 'the body of one request', 'bytes', '413; the connection is closed'),
  option(
    'buffered',
    'bodies that arrive, commands that wait for `EXEC` and output that was not taken, of all clients together, and answers of destinations that arrive',
    'bytes',
    '503 for a body; a delivery fails, with a sentence in its attempt; an event stream that is behind is dropped; of the native connections those that hold most are closed',
    '512 MiB, or a quarter of the heap',
  ),
  option(
    'arrival',
    'a whole request, its body included; and the time in which a client has to take something of an answer that waits for it',
    'ms',
    '408; until its last byte has arrived it does not run and does not hold up time; who takes nothing is dropped',
  ),
  option('streams', 'event streams that are open at once', 'streams', '503'),
  option('connections', 'connections of the native protocol that are open at once', 'connections', 'refused'),
  fixed(
    'connections of HTTP that are open at once',
    'as `--max-connections`, and one for each 64 KiB of `--max-buffered`: 8,192',
    'connections',
    'closed',
  ),
  option('tenants', 'tenants that exist at once', 'tenants', '503; `ERR` at the native port'),
  fixed(
    'wrong passwords of a connection of the native port',
    freeFailures,
    'passwords',
    'each further `AUTH` or `HELLO` waits a second',
  ),
  option('entries', 'the traffic log of a tenant', 'entries', 'the older half of the log is dropped'),
  policy(
    'maxTrafficBytes',
    'what a sandbox keeps of its past: the traffic log, messages that are over, and the journal from which it is played again',
    'bytes',
    'the older half of the log is dropped, the oldest messages are forgotten; the journal has at most three eighths of it, and ends: no `fork()` and `at()` until a reset',
  ),
  policy(
    'maxForkBytes',
    'what all forks of a sandbox, and their forks, keep together',
    'bytes',
    'a fork is refused until another one is disposed of; the older halves of their logs are dropped',
  ),
  policy('maxWork', 'the work of one request to the store', 'units of about 25 ns', '`ERR max work exceeded`'),
  policy('maxAnswerSize', 'the answer to one request to the store', 'bytes', 'an error that names the policy'),
  fixed(
    'members of a set, hash, sorted set, list or stream, and keys of a data store',
    mostMembers,
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
    'what a slow reader of an event stream, or a subscriber of the native protocol, has not taken',
    'bytes',
    'it is dropped before more is added',
  ),
  fixed(
    'one event, or message, for a reader who has taken everything',
    33_554_432,
    'bytes',
    'the reader is dropped, as by `client-output-buffer-limit pubsub` of redis-server',
  ),
  fixed('entries that a slow reader of a traffic stream has not taken', 16_777_216, 'bytes of bodies', 'it is dropped'),
  fixed(
    'rows between `MULTI` and `EXEC`, subscriptions, watched keys and names of a connection',
    67_108_864,
    'bytes',
    "`OOM command not allowed when used memory > 'maxmemory'.`; a transaction is discarded by its `EXEC`",
  ),
  fixed(
    'rows between `MULTI` and `EXEC`',
    Math.floor(defaultPolicy.maxWork / unitsPerRow),
    'rows',
    '`ERR max work exceeded`; the transaction is discarded by its `EXEC`',
  ),
  fixed('a command of somebody who has not signed in', 16_384, 'bytes', '`NOAUTH`, and nothing of it is kept'),
  fixed(
    'commands of a connection of the native protocol in a row',
    256 * unitsPerRow,
    'units of about 25 ns, at least 40 for a command',
    'the other connections have their turn',
  ),
  fixed('the head of a request', longestHead, 'bytes', '431'),
  fixed(
    'the body of a request without a valid token, or from a foreign page',
    mostUnwanted,
    'bytes',
    'it is refused, as it would be anyway, before its body is read; the connection is closed',
  ),
  fixed(
    'bodies of more than 1 MiB together',
    75,
    '% of `--max-buffered`',
    '503 for a large body; small ones are still taken',
  ),
  fixed(
    'answers that HTTP clients have not taken',
    50,
    '% of `--max-buffered`',
    'the oldest of these connections is closed',
  ),
  fixed(
    'answers of destinations of more than 1 MiB together; of one tenant half of that',
    answersShare,
    '% of `--max-buffered`',
    'the delivery fails as if the connection had ended; small ones are still read',
  ),
  fixed(
    'deliveries of a tenant over the network that run at once',
    `as \`globalParallelism\` of the plan, and ${leastParallel} at least`,
    'deliveries',
    'they wait for their turn, which takes nothing of their time-outs; so do all while the heap is full, which is told once',
  ),
  fixed('the time in which the head of a request has to arrive', 20_000, 'ms', '408'),
  fixed(
    'a list of the control API',
    mostItems,
    'items',
    '400, saying how to ask for parts: `limit`, `skip`, and a `link` header to the next',
  ),
  fixed(
    'what all tenants of the server hold together',
    100 * fullAt,
    '% of the heap',
    "whatever would store more is refused: `OOM command not allowed when used memory > 'maxmemory'.` for a command, 503 for the rest; the older half of each traffic log is dropped; reads, deletes and resets still work",
  ),
  fixed('the same', 100 * criticalAt, '% of the heap', 'reads are refused, too: 503'),
  fixed('slots of `upcoming`', 500, 'slots', '400, saying how to ask for the next'),
  fixed('levels of the JSON of a control request', deepest, 'levels', '400'),
  fixed('values in the JSON of a request to the queue', mostQueueValues, 'values', '400'),
  fixed('values in the JSON of a control request', mostControlValues, 'values', '400'),
  fixed('rules of faults of a tenant', 10_000, 'rules', '400'),
]

/** A request is not taken: one sentence, and the end of its connection. */
export class BodyRefused extends Error {
  constructor(
    readonly status: 413 | 503,
    message: string,
  ) {
    super(message)
  }
}

/** The client sent more than the server takes. */
export class BodyTooLarge extends BodyRefused {
  constructor(limit: number) {
    super(413, `A request body has at most ${limit} bytes here. Send less, or start the server with a larger limit.`)
  }
}

/** All clients together have sent, and not taken, as much as the server holds. */
export class BufferFull extends BodyRefused {
  /** @param done what has happened, as a sentence */
  constructor(done = 'Nothing was done: ask again later') {
    super(
      503,
      `All clients together have as many bytes on their way as the server holds. ${done}, or start the server with a larger --max-buffered.`,
    )
  }
}
