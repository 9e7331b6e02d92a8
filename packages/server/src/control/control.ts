import { addRoute, createRouter, findRoute, type RouterContext } from 'rou3'
import * as v from 'valibot'
import { type Bytes, text } from '../../../../src/kernel/bytes.js'
import { hasMoreValues, isDeeper } from '../../../../src/kernel/json-depth.js'
import { didYouMean, nearestName } from '../../../../src/kernel/nearest-name.js'
import { HttpError, json } from '../../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { TenantsFull } from '../server-limits.js'
import { clockOrders } from './clock-operations.js'
import { destinationOrders } from './destination-operations.js'
import { faultOrders } from './fault-operations.js'
import { inspectorOrders } from './inspector-operations.js'
import { checkOrders } from './invariant-operations.js'
import type { ControlOperation } from './operation.js'
import { deepest, maxControlValues } from './operation-parts.js'
import { callOrders } from './outbound-operations.js'
import { queueOrders } from './queue-operations.js'
import { sandboxOperations } from './sandbox-operations.js'
import { statsOrders } from './stats-operations.js'
import { storeOrders } from './store-operations.js'
import { trafficOrders } from './traffic-operations.js'
import { workflowOrders } from './workflow-operations.js'
import { workflowStubOperations } from './workflow-stubs.js'

export interface TenantSource {
  readonly origin: string
  readonly names: readonly string[]
  /** Returns the sandbox of a tenant. A tenant that does not exist is created if the request may create it. */
  asked(name: string, call: RawRequest): Sandbox
  /** Disposes a tenant. Returns `false` if the name is unknown. */
  drop(name: string): boolean
  /** Replaces the origin of a tenant's URL by the origin that the client used. */
  reached(address: string, call: RawRequest, name: string): string
  /** Serves a forked sandbox as a tenant and returns its name. */
  adoptFork(sandbox: Sandbox, of: string, name: string | undefined): string
}

export const controlOperations: readonly ControlOperation[] = [
  ...sandboxOperations,
  ...clockOrders,
  ...storeOrders,
  ...queueOrders,
  ...workflowOrders,
  ...workflowStubOperations,
  ...destinationOrders,
  ...callOrders,
  ...statsOrders,
  ...faultOrders,
  ...checkOrders,
  ...trafficOrders,
  ...inspectorOrders,
]

let router: RouterContext<ControlOperation> | undefined

/** Returns the router of all operations. It is built on first use, because most servers get no control call. */
function routes(): RouterContext<ControlOperation> {
  if (router === undefined) {
    router = createRouter<ControlOperation>()
    for (const order of controlOperations) addRoute(router, order.method, order.path || '/', order)
  }
  return router
}

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const

/**
 * Returns whether the response to a request below `/_control` is the same for every body, for example because the path
 * or method is unknown.
 */
export function isUnknownOperation({ method }: RawRequest, path: string): boolean {
  try {
    const [, , name = '', ...rest] = partsOf(path)
    if (name === '' || name === 'openapi.json') return true
    if (rest.length > 0 || method !== 'DELETE') found(method, `/${rest.join('/')}`)
    return false
  } catch {
    return true
  }
}

function partsOf(path: string): string[] {
  const { pathname } = new URL(path, 'http://control.test')
  return pathname.replace(/\/+$/, '').split('/')
}

/** Returns the response to a request below `/_control`. */
export async function control(call: RawRequest, path: string, tenants: TenantSource): Promise<RawResponse> {
  try {
    const { searchParams: query } = new URL(path, 'http://control.test')
    const [, , name = '', ...rest] = partsOf(path)
    if (name === '') return json({ tenants: tenants.names })
    if (name === 'openapi.json') {
      const { openApi } = await import('./openapi.js')
      return json(openApi(controlOperations, tenants.origin))
    }
    const tenant = decodeURIComponent(name)
    if (rest.length === 0 && call.method === 'DELETE') return json({ dropped: tenants.drop(tenant) })
    const { order, params } = found(call.method, `/${rest.join('/')}`)
    checkQuery(order, query)
    const given = order.body === undefined ? undefined : checked(order, jsonBody(await call.body()))
    const reached = (address: string): string => tenants.reached(address, call, tenant)
    const adopt = (sandbox: Sandbox, as: string | undefined): string => tenants.adoptFork(sandbox, tenant, as)
    const sandbox = tenants.asked(tenant, call)
    if (order.storedHere && storeInternals.of(sandbox.store).elsewhere !== undefined)
      throw new HttpError(409, onAnEngine)
    const answer = await order.run(sandbox, given, { tenant, query, params, call, adopt, reached })
    return isAnswer(answer) ? answer : json(answer === undefined ? {} : answer)
  } catch (error) {
    return failure(error)
  }
}

const onAnEngine =
  'The store of this tenant is a real Redis, which has no dumps, loads or past instants. Read keys with commands, or take a snapshot().'

function found(method: string, below: string): { order: ControlOperation; params: Record<string, string> } {
  const match = findRoute(routes(), method, below)
  if (match !== undefined) {
    const params = Object.entries(match.params ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
    return { order: match.data, params: Object.fromEntries(params) }
  }
  const allowed = methods.filter((other) => findRoute(routes(), other, below) !== undefined)
  if (allowed.length > 0) throw new HttpError(405, `${below} takes ${allowed.join(' or ')} (got ${method}).`)
  throw new HttpError(
    404,
    `The control API has no path ${below}.${meant(method, below) || besides(below)} GET /_control/openapi.json lists all paths.`,
  )
}

/**
 * Returns a hint such as ` It has GET /clock, POST /clock/advance.` The hint lists the operations whose path begins
 * with the same segment. Without such operations, the hint is empty.
 */
function besides(below: string): string {
  const [, area] = below.split('/')
  const known = controlOperations.filter(({ path }) => path.split('/')[1] === area)
  return known.length === 0 ? '' : ` It has ${known.map(({ method, path }) => `${method} ${path}`).join(', ')}.`
}

/**
 * Returns a hint such as ` Did you mean POST /clock/advance?` for a path with misspelled segments. The suggested path
 * keeps the values of path parameters.
 */
function meant(method: string, below: string): string {
  const given = below.split('/')
  const near = controlOperations.flatMap((order) => {
    const parts = order.path.split('/')
    const fits = (part: string, at: number): boolean => part.startsWith(':') || nearestName(given[at]!, [part]) === part
    if (parts.length !== given.length || !parts.slice(1).every((part, at) => fits(part, at + 1))) return []
    return [{ order, path: parts.map((part, at) => (part.startsWith(':') ? given[at]! : part)).join('/') }]
  })
  // If several paths are equally near, prefer one with the same method.
  near.sort((one, other) => Number(other.order.method === method) - Number(one.order.method === method))
  const path = nearestName(
    below,
    near.map((one) => one.path),
  )
  const found = near.find((one) => one.path === path)
  return found === undefined ? '' : ` Did you mean ${found.order.method} ${found.path}?`
}

/** Returns whether the result of an operation is already a complete response, such as text or a stream. */
function isAnswer(value: unknown): value is RawResponse {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'body' in value
}

function failure(error: unknown): RawResponse {
  if (error instanceof HttpError) return json({ error: error.message }, error.status)
  if (error instanceof ReplyError) return json({ error: error.message, reply: true }, 400)
  if (error instanceof URIError)
    return json({ error: 'A % in a path must be followed by two hexadecimal digits of UTF-8. Escape it as %25.' }, 400)
  if (error instanceof TenantsFull) return json({ error: error.message }, 503)
  if (error instanceof RangeError && error.message === 'Invalid string length')
    return json({ error: 'The response would exceed the maximum length of a string. Request less at a time.' }, 400)
  // These errors are mistakes of the client, so the response is 400. Their messages say what to do.
  if (error instanceof RangeError || error instanceof TypeError) return json({ error: error.message }, 400)
  return json({ error: error instanceof Error ? error.message : String(error) }, 409)
}

const anyObject = v.pipe(
  v.string(),
  v.parseJson(),
  v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
)

function jsonBody(body: Bytes): unknown {
  if (body === '') return {}
  if (isDeeper(body, deepest)) {
    throw new HttpError(400, `The body of a control request must nest at most ${deepest} levels. Send a flatter body.`)
  }
  if (hasMoreValues(body, maxControlValues)) {
    throw new HttpError(
      400,
      `The body of a control request must have at most ${maxControlValues} values. Send it in parts.`,
    )
  }
  const parsed = v.safeParse(anyObject, text(body))
  if (parsed.success) return parsed.output
  throw new HttpError(400, 'The body of a control request must be a JSON object.')
}

function checkQuery({ method, path, query = {} }: ControlOperation, given: URLSearchParams): void {
  const known = Object.keys(query)
  const unknown = [...given.keys()].find((name) => !known.includes(name))
  if (unknown === undefined) return
  const takes = known.length === 0 ? 'This operation takes no parameters.' : `This operation takes ${known.join(', ')}.`
  throw new HttpError(
    400,
    `${method} ${path}: unknown query parameter ${JSON.stringify(unknown)}.${didYouMean(unknown, known)} ${takes}`,
  )
}

interface Schema {
  readonly wrapped?: Schema
  readonly entries?: Readonly<Record<string, Schema>>
  readonly item?: Schema
  readonly options?: readonly Schema[]
}

/**
 * Returns the schemas for one part of a body. `path` is the path of this part. For a union, the result contains the
 * schemas of all alternatives.
 */
function schemasAt(schema: Schema, path: readonly unknown[]): readonly Schema[] {
  const { wrapped, options } = schema
  if (wrapped !== undefined) return schemasAt(wrapped, path)
  // The options of a picklist are texts. Only the options of a union are schemas.
  if (options?.every((option) => typeof option === 'object'))
    return options.flatMap((option) => schemasAt(option, path))
  const [key, ...rest] = path
  if (path.length === 0) return [schema]
  const next =
    schema.item ?? (Object.hasOwn(schema.entries ?? {}, String(key)) ? schema.entries![String(key)] : undefined)
  return next === undefined ? [] : schemasAt(next, rest)
}

/**
 * If an unknown field caused the issue, returns the path of this field and the names of all valid fields. Otherwise
 * returns `undefined`.
 */
function unknownField(
  root: unknown,
  { type, expected, path, input }: v.BaseIssue<unknown>,
): { readonly place: readonly unknown[]; readonly fields: readonly string[] } | undefined {
  const keys = (path ?? []).map(({ key }) => key)
  const isNever = type === 'strict_object' && expected === 'never'
  if (!isNever && type !== 'union') return undefined
  const above = isNever ? keys.slice(0, -1) : keys
  const fields = schemasAt(root as Schema, above).flatMap(({ entries = {} }) => Object.keys(entries))
  if (isNever) return { place: keys, fields }
  if (typeof input !== 'object' || input === null || Array.isArray(input) || fields.length === 0) return undefined
  const unknown = Object.keys(input).find((name) => !fields.includes(name))
  return unknown === undefined ? undefined : { place: [...above, unknown], fields }
}

function checked({ body: schema, example }: ControlOperation, body: unknown): unknown {
  const result = v.safeParse(schema!, body)
  if (result.success) return result.output
  const [first] = result.issues
  // A misspelled field causes two issues: an unknown field and a missing field. Report the unknown field.
  for (const found of result.issues) {
    const unknown = unknownField(schema!, found)
    if (unknown === undefined) continue
    const { place, fields } = unknown
    throw new HttpError(
      400,
      `${place.join('.')}: unknown field.${didYouMean(place.at(-1), fields)} Send ${example === undefined ? 'no body' : JSON.stringify(example)}.`,
    )
  }
  const issue = first
  const where = v.getDotPath(issue) ?? 'the body'
  // For a union, report the message of the alternative that matched best, instead of a list of all types.
  const message =
    issue.issues?.find(({ path }) => path !== undefined)?.message ?? issue.issues?.at(-1)?.message ?? issue.message
  throw new HttpError(400, `${where}: ${message}. Send ${example === undefined ? 'no body' : JSON.stringify(example)}.`)
}
