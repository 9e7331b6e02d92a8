import * as v from 'valibot'

// This schema validates a trace. The published `trace.schema.json`, which describes the format, is generated from it.

const text = v.string()
const integer = v.pipe(v.number(), v.integer())
const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]*={0,2}$/))
const bytes = v.pipe(
  v.union([v.string(), v.strictObject({ base64 })]),
  v.description('Bytes: a string if they are valid UTF-8, else base64.'),
)
const body = v.pipe(
  v.union([v.string(), v.strictObject({ base64 }), v.strictObject({ cut: bytes, size: integer })]),
  v.description(
    'Bytes. A longer body than requested is truncated: `cut` is its beginning, and `size` its number of bytes.',
  ),
)
const time = v.pipe(v.number(), v.description('Virtual time, milliseconds since the Unix epoch.'))
const headers = v.array(v.strictTuple([text, text]))
const kind = v.picklist(['message', 'callback', 'failure-callback'])
const hidden = v.object({ body: v.boolean(), allHeaders: v.boolean(), headers: v.array(text) })

type Fields = Record<string, v.GenericSchema>

const stamp = {
  seq: v.pipe(integer, v.minValue(1), v.description('Number of the entry.')),
  at: time,
  cause: v.optional(v.pipe(integer, v.description('`seq` of the entry that led to this one.'))),
  region: v.optional(v.pipe(text, v.description('Region of the queue, if it is not the home region.'))),
  database: v.optional(v.pipe(text, v.description('Database of the data store, if it is not the first one.'))),
}

function entry<T extends string, F extends Fields>(type: T, fields: F) {
  return v.looseObject({ type: v.literal(type), ...stamp, ...fields })
}

const message = { messageId: text, kind, url: text, method: text, headers, body, maxRetries: v.number() }

/** Schemas of entries by type. Fields that a schema does not name are kept. */
const entries = [
  entry('request', {
    service: v.picklist(['store', 'queue', 'stats']),
    method: text,
    url: text,
    headers,
    body,
    redact: v.optional(hidden),
    note: v.optional(v.pipe(text, v.description('Warning about a deprecated or unusual request.'))),
    response: v.optional(v.looseObject({ at: time, status: integer, headers, body: v.nullable(body) })),
    endedAfterSeq: v.optional(integer),
  }),
  entry('command', {
    argv: v.array(bytes),
    user: text,
    via: v.picklist(['request', 'pipeline', 'transaction', 'resp', 'direct']),
    reply: v.optional(
      v.pipe(
        v.unknown(),
        v.description(
          'null, a number, bytes, `{ status }` for a simple string, `{ integer }` beyond 2^53, or a list of these.',
        ),
      ),
    ),
    error: v.optional(text),
    waitedMs: v.optional(v.pipe(v.number(), v.description('Milliseconds of virtual time.'))),
    note: v.optional(v.pipe(text, v.description('Warning that the service may reject the command.'))),
  }),
  entry('outbound', {
    method: text,
    url: text,
    headers,
    body,
    possibleCauses: v.optional(v.array(integer)),
    handlerRuns: integer,
    fault: v.optional(text),
    response: v.optional(
      v.looseObject({
        at: time,
        status: integer,
        headers,
        body: v.optional(body),
        error: v.optional(text),
        note: v.optional(text),
      }),
    ),
    endedAfterSeq: v.optional(integer),
  }),
  entry('keyspace', { event: text, key: bytes, reason: v.optional(text) }),
  entry('published', {
    ...message,
    notBefore: time,
    deduplicated: v.boolean(),
    urlGroup: v.optional(text),
    endpointName: v.optional(text),
    queue: v.optional(text),
    scheduleId: v.optional(text),
    flowControlKey: v.optional(text),
    labels: v.optional(v.array(text)),
    callback: v.optional(text),
    failureCallback: v.optional(text),
    sourceMessageId: v.optional(text),
    stepSettings: v.optional(
      v.pipe(
        v.looseObject({
          retries: v.optional(integer),
          retryDelay: v.optional(text),
          flowControl: v.optional(v.looseObject({ key: text })),
        }),
        v.description('Settings of the workflow step that the deliveries of the message run.'),
      ),
    ),
    redact: v.optional(hidden),
  }),
  entry('attempt', {
    ...message,
    retried: integer,
    reason: text,
    waitReason: v.optional(text),
    workflowRunId: v.optional(text),
    redact: v.optional(hidden),
    fault: v.optional(text),
    store: v.optional(
      v.object({
        added: v.array(v.looseObject({})),
        removed: v.array(v.looseObject({})),
        changed: v.array(v.looseObject({ before: v.looseObject({}), after: v.looseObject({}) })),
      }),
    ),
    outcome: v.optional(
      v.looseObject({
        at: time,
        status: integer,
        error: v.optional(text),
        headers,
        body,
        state: v.picklist(['DELIVERED', 'RETRY', 'FAILED', 'CANCELLED']),
        next: v.optional(v.looseObject({ at: time, delayMs: v.number(), reason: text })),
        note: v.optional(text),
      }),
    ),
    endedAfterSeq: v.optional(integer),
  }),
  entry('message', { messageId: text, state: text, reason: v.optional(text) }),
  entry('dead-letter', { messageId: text, dlqId: text, kind, url: text, status: integer, error: v.optional(text) }),
  entry('bulk-action', {
    actionId: text,
    resource: v.picklist(['messages', 'runs']),
    state: v.picklist(['IN_PROGRESS', 'FINISHED']),
    total: integer,
    filter: v.record(text, v.array(text)),
  }),
  entry('workflow', { runId: text, url: text, state: text }),
  entry('step', {
    runId: text,
    messageId: text,
    stepId: integer,
    stepName: text,
    stepType: text,
    planned: v.optional(v.literal(true)),
    contextBytes: v.optional(
      v.pipe(integer, v.description('Bytes of the payload and of the results of all finished steps.')),
    ),
  }),
  entry('wait', { runId: text, stepId: integer, stepName: text, eventId: text, until: time }),
  entry('notify', {
    eventId: text,
    runIds: v.array(text),
    runId: v.optional(text),
    body,
    redact: v.optional(hidden),
    kept: v.optional(v.literal(true)),
  }),
  entry('invoke', { runId: text, stepId: integer, stepName: text, invokedRunId: text, url: text }),
  entry('setting', { resource: text, name: text, change: text, value: v.optional(v.looseObject({})) }),
  entry('fault', { point: text, fault: text, target: text }),
  entry('flow-control', {
    decision: v.picklist(['held', 'admitted']),
    messageId: text,
    flowControlKey: v.optional(text),
    reason: text,
  }),
  entry('clock', {
    move: v.picklist(['advance', 'advanceTo', 'drain']),
    to: v.optional(time),
    count: integer,
    endedAfterSeq: v.optional(integer),
  }),
  entry('dropped', { count: integer, limit: v.number(), unit: v.picklist(['entries', 'bytes']) }),
] as const

/** The fields of a valid trace. The fields of entries depend on their types. */
export interface ReadTrace {
  readonly seed?: number | string | undefined
  readonly now?: number | undefined
  readonly headerPrefix?: string | undefined
  readonly addresses?: object | undefined
  readonly entries: readonly { readonly type: string; readonly seq: number; readonly at: number }[]
}

export const traceSchema: v.GenericSchema<unknown, ReadTrace> = v.pipe(
  v.looseObject({
    format: v.literal('stuntdouble/trace'),
    version: v.literal(1),
    seed: v.optional(v.union([v.number(), v.string()])),
    now: v.optional(time),
    headerPrefix: v.optional(text),
    addresses: v.optional(v.looseObject({})),
    entries: v.array(v.variant('type', entries)),
  }),
  v.title('A trace of stuntdouble'),
  v.description('Everything that a sandbox received and did, in order, with secrets hidden.'),
)
