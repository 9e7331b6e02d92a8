import * as v from 'valibot'
import { HttpError, json } from '../http/respond.js'
import type { Answer, Call } from '../http/service.js'
import { type Bytes, isUtf8, text, toBase64 } from '../kernel/bytes.js'
import { iso } from '../kernel/clock.js'
import { type Duration, parseDuration } from '../kernel/duration.js'
import type { Entry, EntryType } from '../kernel/traffic.js'
import type { Sandbox } from '../sandbox.js'
import { NilArray, Status } from '../store/reply.js'

/** What the control API needs of the server. */
export interface TenantSource {
  readonly names: readonly string[]
  get(name: string): Sandbox
}

interface Order {
  readonly method: 'GET' | 'POST'
  /** Below `/_control/{tenant}`. */
  readonly path: string
  readonly summary: string
  run(sandbox: Sandbox, body: unknown, query: URLSearchParams): unknown
}

const duration = v.pipe(
  v.union([v.pipe(v.number(), v.minValue(0)), v.string()]),
  v.check((by) => typeof by === 'number' || parseDuration(by) !== undefined, 'is not a duration'),
)
const advance = v.strictObject({ by: duration })
const advanceTo = v.strictObject({
  at: v.pipe(
    v.union([v.number(), v.string()]),
    v.check((at) => !Number.isNaN(new Date(at).getTime()), 'is not a time'),
  ),
})
const drain = v.strictObject({ budget: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) })
const nothing = v.strictObject({})
const jsonObject = v.pipe(
  v.string(),
  v.parseJson(),
  v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
)

/** The control API: one row for each thing that a test can tell a tenant. */
export const orders: readonly Order[] = [
  {
    method: 'GET',
    path: '',
    summary: 'Addresses, environment, tokens, time and pending timers of the tenant.',
    run: (sandbox) => ({
      ...timeOf(sandbox),
      addresses: sandbox.addresses,
      env: sandbox.env,
      tokens: sandbox.tokens,
      pending: pendingOf(sandbox),
    }),
  },
  {
    method: 'POST',
    path: '/clock/advance',
    summary: 'Moves time by `{"by":"5m"}` (or milliseconds) and runs what falls due.',
    run: async (sandbox, body) => {
      const { by } = checked(advance, body, '{"by":"5m"}')
      await sandbox.clock.advance(by as Duration)
      return timeOf(sandbox)
    },
  },
  {
    method: 'POST',
    path: '/clock/advance-to',
    summary: 'Moves time to `{"at":"2030-01-02T03:00:00Z"}` (or milliseconds).',
    run: async (sandbox, body) => {
      const { at } = checked(advanceTo, body, '{"at":"2030-01-02T03:00:00Z"}')
      await sandbox.clock.advanceTo(at)
      return timeOf(sandbox)
    },
  },
  {
    method: 'POST',
    path: '/clock/drain',
    summary: 'Runs until no timer is left but those of schedules; `{"budget":1000}` limits how many may fire.',
    run: async (sandbox, body) => {
      const { budget } = checked(drain, body, '{"budget":1000}')
      await sandbox.clock.drain(budget === undefined ? {} : { budget })
      return timeOf(sandbox)
    },
  },
  {
    method: 'POST',
    path: '/reset',
    summary: 'Makes the world as new: same seed, same start, nothing stored, nothing pending.',
    run: (sandbox, body) => {
      checked(nothing, body, 'no body')
      sandbox.reset()
      return timeOf(sandbox)
    },
  },
  {
    method: 'GET',
    path: '/traffic',
    summary: 'Entries of the traffic log; `?type=attempt,request`, `?after=SEQ` and `?message=ID` narrow them down.',
    run: (sandbox, _, query) => entriesOf(sandbox, query).map(plainEntry),
  },
]

/** Answers a request below `/_control`. */
export async function control(call: Call, path: string, tenants: TenantSource): Promise<Answer> {
  try {
    const { pathname, searchParams } = new URL(path, 'http://control.test')
    const [, , tenant = '', ...rest] = pathname.replace(/\/+$/, '').split('/')
    if (tenant === '') return json({ tenants: tenants.names })
    const below = rest.length === 0 ? '' : `/${rest.join('/')}`
    const found = orders.filter((order) => order.path === below)
    if (found.length === 0) throw new HttpError(404, `The control API has no ${below}. It has ${listOf(orders)}.`)
    const order = found.find(({ method }) => method === call.method)
    if (order === undefined) throw new HttpError(405, `${below || '/'} takes ${found[0]!.method}, not ${call.method}.`)
    const body = jsonBody(await call.body())
    return json(await order.run(tenants.get(decodeURIComponent(tenant)), body, searchParams))
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): Answer {
  if (error instanceof HttpError) return json({ error: error.message }, error.status)
  if (error instanceof URIError)
    return json({ error: 'After a % in a path come two hexadecimal digits of UTF-8.' }, 400)
  // Misuse of a clock, a name or a time: the sentence says what to do. Anything else is shown with its stack.
  if (error instanceof RangeError || error instanceof TypeError) return json({ error: error.message }, 400)
  return json({ error: error instanceof Error ? error.message : String(error) }, 409)
}

function listOf(all: readonly Order[]): string {
  return all.map(({ method, path }) => `${method} ${path || '/'}`).join(', ')
}

function jsonBody(body: Bytes): unknown {
  if (body === '') return {}
  const parsed = v.safeParse(jsonObject, text(body))
  if (parsed.success) return parsed.output
  throw new HttpError(400, 'The body of a control request is a JSON object.')
}

function checked<S extends v.GenericSchema>(schema: S, body: unknown, example: string): v.InferOutput<S> {
  const result = v.safeParse(schema, body)
  if (result.success) return result.output
  const [issue] = result.issues
  const where = v.getDotPath(issue) ?? 'the body'
  throw new HttpError(400, `${where}: ${issue.message}. Send ${example}.`)
}

function timeOf(sandbox: Sandbox): object {
  const now = sandbox.clock.now()
  return { now: iso(now), milliseconds: now, mode: sandbox.clock.mode }
}

function pendingOf(sandbox: Sandbox): object[] {
  return sandbox.clock.pending().map(({ at, label, background }) => ({ at: iso(at), label, background }))
}

const entryTypes: Record<EntryType, true> = {
  request: true,
  command: true,
  keyspace: true,
  published: true,
  attempt: true,
  message: true,
  'dead-letter': true,
  fault: true,
  workflow: true,
}

function entriesOf({ traffic }: Sandbox, query: URLSearchParams): readonly Entry[] {
  const types = query.getAll('type').flatMap((list) => list.split(','))
  const unknown = types.find((type) => !Object.hasOwn(entryTypes, type))
  if (unknown !== undefined) {
    throw new HttpError(
      400,
      `There are no entries of type ${JSON.stringify(unknown)}. Use ${Object.keys(entryTypes).join(', ')}.`,
    )
  }
  const after = Number(query.get('after') ?? 0)
  if (!Number.isInteger(after)) throw new HttpError(400, 'after is the number `seq` of an entry.')
  const message = query.get('message')
  const entries = message === null ? traffic.entries : traffic.about(message)
  return entries.filter((entry) => entry.seq > after && (types.length === 0 || types.includes(entry.type)))
}

const byteFields = new Set(['body', 'key', 'argv', 'reply'])

/** An entry as JSON: byte strings are shown as text, or as `{"base64":…}` when they are none. */
export function plainEntry(entry: Entry): unknown {
  return plain(entry, false)
}

function plain(value: unknown, bytes: boolean): unknown {
  if (typeof value === 'string') return bytes ? shown(value as Bytes) : value
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map((item) => plain(item, bytes))
  if (value instanceof Status) return shown(value.text)
  if (value instanceof NilArray) return null
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Map) return [...value].map((pair) => plain(pair, bytes))
  const out: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) out[name] = plain(field, bytes || byteFields.has(name))
  return out
}

function shown(bytes: Bytes): unknown {
  return isUtf8(bytes) ? text(bytes) : { base64: toBase64(bytes) }
}
