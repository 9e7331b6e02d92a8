import * as v from 'valibot'
import { headerValueSyntax } from '../kernel/header-list.js'
import type { Fault, FaultKind, FaultOf, FaultPoint } from './fault.js'

export type Phase = 'before' | 'after'

/** Ways on which a fault reaches a client. */
export type Carriage = 'fetch' | 'msw' | 'nock' | 'playwright' | 'server'

/** One fault, described once: for checks, pages, the JSON Schema and the control API. */
export interface FaultDefinition<K extends FaultKind = FaultKind> {
  readonly kind: K
  /** What happens, as one sentence. */
  readonly summary: string
  /** `answers` ends the question: rules that were added later are not asked. `shapes` and `holds` go on. */
  readonly effect: 'answers' | 'shapes' | 'holds'
  readonly points: readonly FaultPoint[]
  /** When it can strike, the default first. */
  readonly phases: readonly Phase[]
  readonly fields: v.ObjectEntries
  readonly example: FaultOf<K>
  /** Where the example strikes in the table of effects. */
  readonly shownAt: FaultPoint
  /** What an adapter does instead of what it cannot express, and why. */
  readonly instead?: Partial<Record<Carriage, string>>
}

function defineFault<K extends FaultKind>(definition: FaultDefinition<K>): FaultDefinition<K> {
  return definition
}

// ---- fields -----------------------------------------------------------------------------------------------------

/** Thirty years, so that a thousand of them are still a time that a calendar knows; a guard of ours. */
export const longestSpan = 1e12
const tooLong = 'is a number of milliseconds, at most 1e12'
const span = (sentence: string): v.GenericSchema<number> =>
  v.pipe(v.number(sentence), v.finite(sentence), v.minValue(0, sentence), v.maxValue(longestSpan, tooLong))
const milliseconds: v.GenericSchema<number> = span('is a number of milliseconds, 0 or more')
const skew = 'is a number of milliseconds, below 0 for a clock that is behind'
const signedMilliseconds = v.pipe(
  v.number(skew),
  v.finite(skew),
  v.minValue(-longestSpan, tooLong),
  v.maxValue(longestSpan, tooLong),
)
const whole = (least: number): v.GenericSchema<number> => {
  const sentence = `is a whole number, ${least} or more`
  return v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence))
}
const text = v.pipe(v.string('is a text'), v.minLength(1, 'is a text, not an empty one'))
/** What `statusCode` lets through, for answers that are looked at once an attempt. */
export function isStatus(given: unknown): given is number {
  return Number.isInteger(given) && (given as number) >= 200 && (given as number) <= 599
}

export const statusCode: v.GenericSchema<number> = v.pipe(
  v.number('is an HTTP status from 200 to 599'),
  v.integer('is an HTTP status from 200 to 599'),
  v.minValue(200, 'is an HTTP status from 200 to 599'),
  v.maxValue(599, 'is an HTTP status from 200 to 599'),
)
const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'is not the name of a header'))
const headerValue = v.pipe(
  v.string('is a text'),
  v.regex(
    headerValueSyntax,
    'is the value of a header: bytes, so no char beyond U+00FF, no line ends, no control chars',
  ),
)
export const headerRecord: v.GenericSchema = v.record(
  headerName,
  v.union([headerValue, v.array(headerValue)], 'is a text or a list of texts'),
  'is an object of names and values',
)
const optional = <S extends v.GenericSchema>(schema: S): v.OptionalSchema<S, undefined> => v.optional(schema)

// ---- where ------------------------------------------------------------------------------------------------------

const requests = ['store.request', 'queue.request', 'stats.request'] as const
const deliveries = ['queue.delivery', 'queue.callback'] as const
const calls = [...requests, ...deliveries] as const
const calling = [...calls, 'stream.open'] as const

/** Signatures can be wrong in these ways; the names of `signatureFlaws`, and one more. */
export const signatureFaults = [
  'url',
  'body',
  'reserialised',
  'expired',
  'not-yet-valid',
  'issuer',
  'rotated-once',
  'rotated-twice',
  'key',
  'tampered',
  'rotated',
] as const

const noConnection: Partial<Record<Carriage, string>> = {
  msw: 'a network error without its cause: msw has only one kind',
  server: 'a connection that is reset: a server that is asked has been found and has accepted',
}

const unread = 'the last part may be missing: a browser drops what its page has not read when a body breaks'

// ---- the catalog ------------------------------------------------------------------------------------------------

export const catalog: { readonly [K in FaultKind]: FaultDefinition<K> } = {
  latency: defineFault({
    kind: 'latency',
    summary:
      'It takes time: always `waitMs`, give or take `jitterMs`, or anything from `minMs` to `maxMs` by the seed.',
    effect: 'shapes',
    points: [...calling, 'stream.event', 'schedule.fire'],
    phases: ['before', 'after'],
    fields: {
      waitMs: optional(milliseconds),
      jitterMs: optional(milliseconds),
      minMs: optional(milliseconds),
      maxMs: optional(milliseconds),
    },
    example: { kind: 'latency', waitMs: 300 },
    shownAt: 'store.request',
  }),
  status: defineFault({
    kind: 'status',
    summary: 'Answers with this status, in the words of whoever is struck where no `body` is given.',
    effect: 'answers',
    points: calling,
    phases: ['before', 'after'],
    fields: { status: statusCode, headers: optional(headerRecord), body: optional(v.string('is a text')) },
    example: { kind: 'status', status: 503 },
    shownAt: 'queue.delivery',
  }),
  'rate-limited': defineFault({
    kind: 'rate-limited',
    summary: 'Answers 429 with the headers of one of the three limits, and `Retry-After` in the form asked for.',
    effect: 'answers',
    points: ['queue.request', ...deliveries],
    phases: ['before'],
    fields: {
      limit: v.picklist(['chat', 'daily', 'burst'], "is 'chat', 'daily' or 'burst'"),
      retryAfter: optional(
        v.strictObject({
          form: v.picklist(['seconds', 'date', 'none'], "is 'seconds', 'date' or 'none'"),
          waitMs: milliseconds,
        }),
      ),
    },
    example: { kind: 'rate-limited', limit: 'burst', retryAfter: { form: 'seconds', waitMs: 2000 } },
    shownAt: 'queue.delivery',
  }),
  'non-retryable': defineFault({
    kind: 'non-retryable',
    summary: 'Answers 489 with the header that forbids retries.',
    effect: 'answers',
    points: deliveries,
    phases: ['before'],
    fields: { body: optional(v.string('is a text')) },
    example: { kind: 'non-retryable', body: 'gone for good' },
    shownAt: 'queue.delivery',
  }),
  pass: defineFault({
    kind: 'pass',
    summary: 'Lets it through: rules that were added later are not asked.',
    effect: 'answers',
    points: [...calling, 'store.command', 'stream.event', 'schedule.fire'],
    phases: ['before'],
    fields: {},
    example: { kind: 'pass' },
    shownAt: 'queue.delivery',
  }),
  reset: defineFault({
    kind: 'reset',
    summary: 'The connection breaks: before the work, or after it with `phase: after`.',
    effect: 'answers',
    points: [...calling, 'store.command', 'stream.event'],
    phases: ['before', 'after'],
    fields: {},
    example: { kind: 'reset' },
    shownAt: 'store.request',
    instead: { msw: 'a network error without its cause: msw has only one kind' },
  }),
  refused: defineFault({
    kind: 'refused',
    summary: 'Nobody listens: the connection is refused.',
    effect: 'answers',
    points: calling,
    phases: ['before'],
    fields: {},
    example: { kind: 'refused' },
    shownAt: 'queue.delivery',
    instead: noConnection,
  }),
  unresolved: defineFault({
    kind: 'unresolved',
    summary: 'The name of the host does not resolve.',
    effect: 'answers',
    points: calling,
    phases: ['before'],
    fields: {},
    example: { kind: 'unresolved' },
    shownAt: 'queue.delivery',
    instead: noConnection,
  }),
  certificate: defineFault({
    kind: 'certificate',
    summary: 'The certificate is not valid.',
    effect: 'answers',
    points: calling,
    phases: ['before'],
    fields: {},
    example: { kind: 'certificate' },
    shownAt: 'queue.delivery',
    instead: noConnection,
  }),
  hang: defineFault({
    kind: 'hang',
    summary:
      'No answer for `forMs`, then the connection closes. Without it a delivery meets its time-out, and a request is given up after 5 virtual minutes.',
    effect: 'answers',
    points: calling,
    phases: ['before', 'after'],
    fields: { forMs: optional(milliseconds) },
    example: { kind: 'hang' },
    shownAt: 'queue.delivery',
  }),
  'half-open': defineFault({
    kind: 'half-open',
    summary: 'The work is done and the headers arrive, the body does not: for `forMs`, or as long as with `hang`.',
    effect: 'answers',
    points: calls,
    phases: ['after'],
    fields: { forMs: optional(milliseconds) },
    example: { kind: 'half-open', forMs: 5000 },
    shownAt: 'store.request',
    instead: {
      msw: 'no headers either: msw hands an answer on with the first bytes of its body',
      nock: 'no headers either: nock takes whole answers',
    },
  }),
  truncate: defineFault({
    kind: 'truncate',
    summary: 'The work is done, the connection breaks after `afterBytes` of the body.',
    effect: 'shapes',
    points: calls,
    phases: ['after'],
    fields: { afterBytes: whole(0) },
    example: { kind: 'truncate', afterBytes: 8 },
    shownAt: 'store.request',
    instead: {
      msw: 'after 0 bytes a network error: msw hands an answer on with the first bytes of its body',
      nock: 'a network error, and no part of the body: nock takes whole answers',
      playwright: unread,
    },
  }),
  'corrupt-json': defineFault({
    kind: 'corrupt-json',
    summary: 'The work is done, the body arrives whole and is no JSON: its last char is a `<`.',
    effect: 'shapes',
    points: [...calls, 'stream.event'],
    phases: ['after'],
    fields: {},
    example: { kind: 'corrupt-json' },
    shownAt: 'store.request',
  }),
  'slow-body': defineFault({
    kind: 'slow-body',
    summary: 'The work is done, the body trickles at `bytesPerSecond`.',
    effect: 'shapes',
    points: calls,
    phases: ['after'],
    fields: {
      bytesPerSecond: v.pipe(
        v.number('is a number above 0'),
        v.finite('is a number above 0'),
        v.gtValue(0, 'is a number above 0'),
      ),
    },
    example: { kind: 'slow-body', bytesPerSecond: 10 },
    shownAt: 'store.request',
    instead: {
      msw: 'the headers come with the first bytes',
      nock: 'everything comes at the end: nock takes whole answers',
    },
  }),
  'content-type': defineFault({
    kind: 'content-type',
    summary: 'The work is done, the answer says that it is something else.',
    effect: 'shapes',
    points: calling,
    phases: ['after'],
    fields: { type: v.pipe(text, v.regex(/^[\x20-\x7e]*$/, 'is the value of a header: printable ASCII')) },
    example: { kind: 'content-type', type: 'text/html' },
    shownAt: 'store.request',
  }),
  reply: defineFault({
    kind: 'reply',
    summary: 'The command fails with this error: instead of running, or with `phase: after` although it ran.',
    effect: 'answers',
    points: ['store.command'],
    phases: ['before', 'after'],
    fields: { error: text },
    example: { kind: 'reply', error: 'OOM command not allowed when used memory > maxmemory' },
    shownAt: 'store.command',
  }),
  'lost-ack': defineFault({
    kind: 'lost-ack',
    summary: 'The work is done, its answer is lost.',
    effect: 'answers',
    points: [...calls, 'store.command'],
    phases: ['after'],
    fields: {},
    example: { kind: 'lost-ack' },
    shownAt: 'queue.delivery',
    instead: { msw: 'a network error without its cause: msw has only one kind' },
  }),
  'late-answer': defineFault({
    kind: 'late-answer',
    summary:
      'The work is done at once, its answer comes `byMs` (1 s) after the time-out of the delivery; to a request, so much later.',
    effect: 'answers',
    points: calls,
    phases: ['after'],
    fields: { byMs: optional(milliseconds) },
    example: { kind: 'late-answer', byMs: 1000 },
    shownAt: 'queue.delivery',
  }),
  duplicate: defineFault({
    kind: 'duplicate',
    summary:
      'It happens again, `copies` (1) times: `afterMs` after the answer to the one before, or all at once with `concurrent`.',
    effect: 'shapes',
    points: ['store.request', 'queue.request', ...deliveries, 'schedule.fire', 'stream.event'],
    phases: ['after'],
    fields: {
      copies: optional(v.pipe(whole(1), v.maxValue(1000, 'is a whole number, 1 to 1000'))),
      afterMs: optional(milliseconds),
      concurrent: optional(v.boolean('is true or false')),
    },
    example: { kind: 'duplicate', copies: 1 },
    shownAt: 'queue.delivery',
  }),
  reorder: defineFault({
    kind: 'reorder',
    summary: 'A delivery is held until a later one has gone, at most `withinMs`.',
    effect: 'holds',
    points: deliveries,
    phases: ['before'],
    fields: { withinMs: milliseconds },
    example: { kind: 'reorder', withinMs: 60_000 },
    shownAt: 'queue.delivery',
  }),
  delay: defineFault({
    kind: 'delay',
    summary:
      'It begins `waitMs` later. In the script of a destination, where the attempt has begun: waits within it, then does `then`.',
    effect: 'holds',
    points: [...deliveries, 'schedule.fire'],
    phases: ['before'],
    fields: { waitMs: milliseconds },
    example: { kind: 'delay', waitMs: 90_000 },
    shownAt: 'queue.callback',
  }),
  drop: defineFault({
    kind: 'drop',
    summary: 'It vanishes: no attempt, no retry, no dead letter.',
    effect: 'answers',
    points: [...deliveries, 'schedule.fire', 'stream.event'],
    phases: ['before'],
    fields: {},
    example: { kind: 'drop' },
    shownAt: 'queue.callback',
  }),
  signature: defineFault({
    kind: 'signature',
    summary:
      'The signature has one thing wrong: a name of `signatureFlaws`, or `rotated` for the key that becomes current next.',
    effect: 'shapes',
    points: deliveries,
    phases: ['before'],
    fields: { flaw: v.picklist(signatureFaults, `is one of ${signatureFaults.join(', ')}`) },
    example: { kind: 'signature', flaw: 'expired' },
    shownAt: 'queue.delivery',
  }),
  'clock-skew': defineFault({
    kind: 'clock-skew',
    summary:
      'The clock that signs is `byMs` ahead of the receiver, below 0 behind it: by more than five minutes, and the signature is over when it arrives; ahead, and receivers that look at `iat` refuse it.',
    effect: 'shapes',
    points: deliveries,
    phases: ['before'],
    fields: { byMs: signedMilliseconds },
    example: { kind: 'clock-skew', byMs: -600_000 },
    shownAt: 'queue.delivery',
  }),
  'revoked-token': defineFault({
    kind: 'revoked-token',
    summary: 'The token is refused as one that is not valid any more.',
    effect: 'answers',
    points: [...requests, 'stream.open'],
    phases: ['before'],
    fields: {},
    example: { kind: 'revoked-token' },
    shownAt: 'store.request',
  }),
  quota: defineFault({
    kind: 'quota',
    summary: 'The plan is used up: refused in the words of the service.',
    effect: 'answers',
    points: ['store.request', 'store.command', 'queue.request'],
    phases: ['before'],
    fields: {},
    example: { kind: 'quota' },
    shownAt: 'store.request',
  }),
  'cut-stream': defineFault({
    kind: 'cut-stream',
    summary: 'An event stream breaks off after `afterEvents` events.',
    effect: 'shapes',
    points: ['stream.open'],
    phases: ['after'],
    fields: { afterEvents: whole(0) },
    example: { kind: 'cut-stream', afterEvents: 2 },
    shownAt: 'stream.open',
    instead: {
      msw: 'the stream ends as if it were complete: msw has no sign for a body that breaks off',
      nock: 'nothing: nock carries no event streams',
      playwright: unread,
    },
  }),
  'stall-stream': defineFault({
    kind: 'stall-stream',
    summary:
      'An event stream falls silent after `afterEvents` events, for `forMs` or for ever; what was said meanwhile follows then.',
    effect: 'shapes',
    points: ['stream.open'],
    phases: ['after'],
    fields: { afterEvents: whole(0), forMs: optional(milliseconds) },
    example: { kind: 'stall-stream', afterEvents: 1, forMs: 30_000 },
    shownAt: 'stream.open',
    instead: { nock: 'nothing: nock carries no event streams' },
  }),
  'stale-read': defineFault({
    kind: 'stale-read',
    summary:
      'A command that only reads is answered from what its keys were `versions` changes ago; writes go where they belong.',
    effect: 'answers',
    points: ['store.command'],
    phases: ['before'],
    fields: { versions: v.pipe(whole(1), v.maxValue(1000, 'is a whole number, 1 to 1000')) },
    example: { kind: 'stale-read', versions: 1 },
    shownAt: 'store.command',
  }),
  restart: defineFault({
    kind: 'restart',
    summary:
      'The service restarts and is down for `downMs`: connections and event streams break and are refused; deliveries in flight are cut off and made again, which counts as no retry.',
    effect: 'answers',
    points: calls,
    phases: ['after', 'before'],
    fields: { downMs: optional(milliseconds) },
    example: { kind: 'restart', downMs: 10_000 },
    shownAt: 'queue.delivery',
  }),
  outage: defineFault({
    kind: 'outage',
    summary:
      'A `region`, or the whole service, is gone while the rule lasts: connections are refused or answered with `status`, deliveries wait for its end.',
    effect: 'answers',
    points: calls,
    phases: ['before'],
    fields: { region: optional(text), status: optional(statusCode) },
    example: { kind: 'outage', region: 'us-east-1', status: 503 },
    shownAt: 'queue.request',
  }),
}

export const faultKinds: readonly FaultKind[] = Object.keys(catalog) as FaultKind[]

/** What a destination's script takes: kinds that strike an attempt which has begun. */
export const stepKinds: readonly FaultKind[] = faultKinds.filter(
  (kind) => catalog[kind].points.includes('queue.delivery') && !['drop', 'reorder', 'restart', 'outage'].includes(kind),
)

export function definitionOf(fault: Fault): FaultDefinition {
  return catalog[fault.kind] as FaultDefinition
}
