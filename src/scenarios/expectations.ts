import * as v from 'valibot'
import { invariants } from '../invariants/invariant-table.js'
import { once } from '../kernel/once.js'
import { count, duration, name, scenarioArgv, scenarioInstant, text, yes } from './values.js'

/** Result of one expectation. */
export interface ExpectationVerdict {
  /** Whether the expectation holds. */
  readonly holds: boolean
  /** Short text of what was expected. */
  readonly expected: string
  /** Why the expectation does not hold; absent if it holds. */
  readonly explanation?: string
}

/** Fields of a log entry or a message. All of them must match. `*` in a URL matches any characters. */
export type Pattern = Readonly<Record<string, unknown>>

/** Types of log entries that a sequence may contain. */
export type SequenceType =
  | 'request'
  | 'command'
  | 'keyspace'
  | 'published'
  | 'attempt'
  | 'message'
  | 'dead-letter'
  | 'bulk-action'
  | 'workflow'
  | 'fault'
  | 'flow-control'

export interface CountedExpectation {
  /** Exact number of matches. Default: one or more. */
  readonly times?: number
  /** Name of a publish step. If it is set, only messages of this step count. */
  readonly message?: string
}

export interface ExpectationValues {
  /** Entries that occur in the traffic log in this order. Other entries may be between them. */
  readonly sequence: readonly (Pattern & { readonly type: SequenceType })[]
  /** Fields of a message that was accepted. */
  readonly published: Pattern & CountedExpectation
  /** Fields of a message that has ended. It was delivered, unless the field `state` names another state. */
  readonly delivered: Pattern & CountedExpectation
  /**
   * Failure that production recorded. The code under test must not fail in this way again. Without code under test, the
   * destination sends the recorded responses.
   */
  readonly recorded: {
    /** Name of the publish step whose message failed in production. */
    readonly message: string
    /** Recorded status of each attempt; 0 if there was no response. */
    readonly attempts: readonly number[]
    /** Recorded end state. */
    readonly state: string
    /** Beginning of the body of the last recorded response. */
    readonly response?: string
    /** Recorded error of an attempt without a response. */
    readonly error?: string
  }
  /** Fields of a message that went to the dead-letter queue. */
  readonly deadLetter: Pattern & CountedExpectation
  /** Fields of a callback or failure callback that arrived. */
  readonly deliveredCallback: Pattern & CountedExpectation
  /** Fields of a schedule that exists. */
  readonly schedule: Pattern & CountedExpectation
  /** Fields of an HTTP request that arrived at one of the services. */
  readonly receivedRequest: Pattern & CountedExpectation
  /** Fields of a request that the app sent to a registered external host. */
  readonly outboundRequest: Pattern & Pick<CountedExpectation, 'times'>
  /** A URL, and the exact number of deliveries that must reach it. The responses do not matter. */
  readonly reached: { readonly url: string; readonly times: number }
  /** Command that the store ran for an app. Commands of scenario steps do not count. */
  readonly executed: {
    readonly argv: readonly (string | number)[]
    readonly times?: number
    /** Added database that ran the command. Default: all databases count. */
    readonly database?: string
  }
  /** Name and properties of a key in the store. With `absent`, the store must not contain the key. */
  readonly key: {
    readonly name: string
    readonly absent?: true
    readonly value?: unknown
    readonly ttl?: string | number | null
    readonly type?: string
    /** Added database that contains the key. Default: the first database. */
    readonly database?: string
  }
  /** Exact number of dead letters. */
  readonly deadLetters: number
  /** Exact number of pending messages. */
  readonly pending: number
  /** `true`: nothing is pending except schedules. */
  readonly idle: true
  /** Time of the clock: ISO text or milliseconds since the epoch. */
  readonly time: string | number
  /** Names of invariants that must hold. `true` means all invariants. */
  readonly invariants: true | readonly string[]
}

export type ExpectationName = keyof ExpectationValues
/** One expectation: an object with the name of the expectation as its only field. */
export type Expectation = {
  readonly [K in ExpectationName]: { readonly [P in K]: ExpectationValues[K] }
}[ExpectationName]

/** One kind of expectation, such as `published`. The function that evaluates it is in `evaluate.ts`. */
export interface ExpectationKind<T> {
  readonly summary: string
  readonly example: T
  /** Returns the schema. The schema is created at the first call, which keeps importing the package fast. */
  readonly schema: () => v.GenericSchema
}

type Entries = Readonly<Record<string, v.GenericSchema>>

const optional = (entries: Entries): Entries =>
  Object.fromEntries(Object.entries(entries).map(([key, schema]) => [key, v.exactOptional(schema)]))

const any: v.GenericSchema = v.unknown()
const anyHeaders: v.GenericSchema = v.record(v.string(), v.union([v.string(), v.number()]))
const anyFilters: v.GenericSchema = v.record(v.string(), v.union([v.string(), v.array(v.string())]))
const flag: v.GenericSchema = v.boolean()
const kind: v.GenericSchema = v.picklist(['message', 'callback', 'failure-callback'])
const state: v.GenericSchema = v.picklist([
  'CREATED',
  'ACTIVE',
  'RETRY',
  'DELIVERED',
  'FAILED',
  'CANCEL_REQUESTED',
  'CANCELLED',
  'WAITING',
  'DELIVER_REQUESTED',
])

const publishedPattern: Entries = {
  to: text,
  body: any,
  headers: anyHeaders,
  method: text,
  retries: count,
  delay: duration,
  notBefore: scenarioInstant,
  deduplicated: flag,
  deduplicationId: text,
  urlGroup: text,
  endpointName: text,
  queue: text,
  scheduleId: text,
  flowControlKey: text,
  label: text,
  labels: v.array(text),
  callback: text,
  failureCallback: text,
  kind,
}

const attemptPattern = v.strictObject(
  optional({
    status: count,
    error: text,
    state: v.picklist(['ACTIVE', 'DELIVERED', 'RETRY', 'FAILED', 'CANCELLED']),
    retried: count,
    at: count,
    note: text,
    delayMs: count,
  }),
)

const deliveredPattern: Entries = {
  ...publishedPattern,
  attempts: v.union([count, v.array(count), v.array(attemptPattern)]),
  state,
  status: count,
  error: text,
  retried: count,
  response: any,
  deliveredAt: scenarioInstant,
}

const { state: _state, deliveredAt: _deliveredAt, ...deadLetterPattern } = deliveredPattern

const requestPattern: Entries = {
  service: v.picklist(['store', 'queue', 'stats']),
  method: text,
  url: text,
  headers: anyHeaders,
  body: any,
  status: count,
  response: any,
  database: text,
}

const outboundPattern: Entries = {
  method: text,
  url: text,
  headers: anyHeaders,
  body: any,
  status: count,
  response: any,
  error: text,
  handlerRuns: count,
}

/** Schemas of the fields that an entry of a sequence may have, for each type of log entry. */
export const sequencePatterns: { readonly [T in SequenceType]: Entries } = {
  request: requestPattern,
  command: {
    argv: scenarioArgv,
    via: v.picklist(['request', 'pipeline', 'transaction', 'resp', 'direct']),
    error: text,
    database: text,
  },
  keyspace: { key: text, event: text, reason: text, database: text },
  published: publishedPattern,
  attempt: {
    to: text,
    method: text,
    status: count,
    state,
    error: text,
    retried: count,
    kind,
    headers: anyHeaders,
    body: any,
    response: any,
  },
  message: { state, reason: text },
  'dead-letter': { to: text, status: count, error: text, kind },
  'bulk-action': { resource: v.picklist(['messages', 'runs']), state: text, total: count, filter: anyFilters },
  workflow: { runId: text, state: text, to: text },
  fault: { point: text, fault: text, target: text, database: text },
  'flow-control': { decision: v.picklist(['held', 'admitted']), flowControlKey: text, reason: text },
}

const counted = (entries: Entries): v.GenericSchema =>
  v.strictObject({
    times: v.exactOptional(v.pipe(count, v.description('Exact number of matches. Default: one or more.'))),
    message: v.exactOptional(v.pipe(name, v.description('Name of a publish step. Only its messages count.'))),
    ...optional(entries),
  })

const sequenceStep = once(
  (): v.GenericSchema =>
    v.variant(
      'type',
      Object.entries(sequencePatterns).map(([type, entries]) =>
        v.strictObject({
          type: v.literal(type),
          ...('to' in entries && {
            message: v.exactOptional(v.pipe(name, v.description('Name of the publish step that created the message.'))),
          }),
          ...optional(entries),
        }),
      ) as never,
    ),
)

export const expectationKinds: { readonly [K in ExpectationName]: ExpectationKind<ExpectationValues[K]> } = {
  sequence: {
    summary: 'These entries occur in the traffic log in this order. Other entries may be between them.',
    example: [
      { type: 'attempt', to: 'https://shop.test/orders', status: 503 },
      { type: 'attempt', status: 200 },
    ],
    schema: () => v.pipe(v.array(sequenceStep()), v.minLength(1, 'must contain at least one entry')),
  },
  published: {
    summary: 'A matching message was accepted.',
    example: { to: 'https://shop.test/orders', times: 1 },
    schema: () => counted(publishedPattern),
  },
  delivered: {
    summary: 'A matching message was delivered. If the pattern has a `state`, the message is in that state instead.',
    example: { to: 'https://shop.test/orders', attempts: [503, 200] },
    schema: () => counted(deliveredPattern),
  },
  recorded: {
    summary:
      'The code under test no longer fails as recorded, and the message is delivered. Without code under test, the destination sends the recorded responses.',
    example: { message: 'order', attempts: [500, 500], state: 'FAILED', response: 'boom' },
    schema: () =>
      v.strictObject({
        message: v.pipe(name, v.description('Name of the publish step.')),
        attempts: v.pipe(v.array(count), v.description('Recorded status of each attempt; 0 if there was no response.')),
        state: v.pipe(state, v.description('Recorded end state.')),
        response: v.exactOptional(v.pipe(text, v.description('Beginning of the body of the last recorded response.'))),
        error: v.exactOptional(v.pipe(text, v.description('Recorded error of an attempt without a response.'))),
      }),
  },
  deadLetter: {
    summary: 'A matching message went to the dead-letter queue.',
    example: { to: 'https://shop.test/orders', status: 503 },
    schema: () => counted(deadLetterPattern),
  },
  deliveredCallback: {
    summary: 'A matching callback or failure callback arrived.',
    example: { to: 'https://shop.test/failed', kind: 'failure-callback', status: 503 },
    schema: () =>
      counted({
        to: text,
        kind,
        state,
        attempts: deliveredPattern.attempts!,
        status: count,
        retried: count,
        maxRetries: count,
        body: any,
        sourceBody: any,
        method: text,
      }),
  },
  schedule: {
    summary: 'A matching schedule exists.',
    example: { scheduleId: 'nightly', paused: false },
    schema: () =>
      counted({
        to: text,
        cron: text,
        scheduleId: text,
        paused: flag,
        method: text,
        headers: anyHeaders,
        body: any,
        retries: count,
        delay: duration,
        queue: text,
        label: text,
        next: scenarioInstant,
      }),
  },
  receivedRequest: {
    summary: 'A matching HTTP request arrived at one of the services.',
    example: { service: 'queue', status: 401 },
    schema: () => counted(requestPattern),
  },
  outboundRequest: {
    summary:
      'The app sent a matching request to an external host that the scenario, or the code under test, has registered.',
    example: { url: 'https://bank.test/charges', method: 'POST', times: 1 },
    schema: () =>
      v.strictObject({
        times: v.exactOptional(v.pipe(count, v.description('Exact number of matches. Default: one or more.'))),
        ...optional(outboundPattern),
      }),
  },
  reached: {
    summary: 'Exactly this number of deliveries reached the destination, regardless of their responses.',
    example: { url: 'https://shop.test/orders', times: 2 },
    schema: () => v.strictObject({ url: text, times: count }),
  },
  executed: {
    summary: 'The store ran this command for an app. Commands of scenario steps do not count.',
    example: { argv: ['INCR', 'charges'], times: 1 },
    schema: () =>
      v.strictObject({ argv: scenarioArgv, times: v.exactOptional(count), database: v.exactOptional(name) }),
  },
  key: {
    summary: 'The store contains this key. With `absent`, the store does not contain it.',
    example: { name: 'stock', value: '2' },
    schema: () =>
      v.strictObject({
        name,
        absent: v.exactOptional(yes),
        value: v.exactOptional(
          v.pipe(v.unknown(), v.description('Value of the key: a string, or JSON for a list, a set or a hash.')),
        ),
        ttl: v.exactOptional(v.nullable(duration)),
        type: v.exactOptional(text),
        database: v.exactOptional(name),
      }),
  },
  deadLetters: { summary: 'There are exactly this many dead letters.', example: 0, schema: () => count },
  pending: { summary: 'Exactly this many messages are pending.', example: 0, schema: () => count },
  idle: { summary: 'Nothing is pending except schedules.', example: true, schema: () => yes },
  time: { summary: 'The clock shows this time.', example: '2030-01-01T00:02:40Z', schema: () => scenarioInstant },
  invariants: {
    summary: 'The invariants hold: all of them, or those with these names.',
    example: ['no-lost-message'],
    schema: () => v.union([yes, v.array(v.picklist(invariants.map((invariant) => invariant.name)))]),
  },
}

export const expectationNames: readonly ExpectationName[] = Object.keys(expectationKinds) as ExpectationName[]

export const oneExpectation: () => v.GenericSchema = once(() =>
  v.union(
    expectationNames.map((key) =>
      v.pipe(v.strictObject({ [key]: expectationKinds[key].schema() }), v.description(expectationKinds[key].summary)),
    ),
  ),
)
export const expectations: () => v.GenericSchema = once(() => v.union([oneExpectation(), v.array(oneExpectation())]))
export const expectationList: () => v.GenericSchema = once(() => v.array(oneExpectation()))

export function expectationOf(
  expectation: Expectation,
): readonly [ExpectationName, ExpectationValues[ExpectationName]] {
  const [entry] = Object.entries(expectation)
  return entry as [ExpectationName, ExpectationValues[ExpectationName]]
}
