import { ConnectionBroken } from '../../../../src/kernel/http.js'
import { type InputKind, ThrownError } from '../../../../src/kernel/input-journal.js'
import { dateOf } from '../../../../src/kernel/instant.js'
import { SandboxDisposed } from '../../../../src/kernel/running-task.js'

// Converts the values of inputs to JSON and back.

/**
 * A value that JSON cannot express, such as a `bigint`, is saved as an object. The only field of the object has this
 * name.
 */
const mark = '\0'
type Stand = { readonly [mark]: readonly [kind: keyof typeof made, ...parts: unknown[]] }

/**
 * Kinds of inputs whose value can have any type. For all other kinds, JSON can express the value, or a replay does not
 * use it.
 */
const open: ReadonlySet<InputKind> = new Set(['direct', 'call', 'gaveUp', 'returned', 'settled'])

/** Converts the value of an input to JSON. @throws TypeError for a kind of input that other nodes cannot replay */
export function encodeValue(kind: InputKind, what: unknown): unknown {
  if (kind !== 'acted' && kind !== 'forked') return open.has(kind) ? kept(what) : what
  throw new TypeError(
    `This change of the tenant (${kind}) cannot be saved for other nodes, because it was neither a request nor a control call. Use the control API instead.`,
  )
}

export function decodeValue(kind: InputKind, what: unknown): unknown {
  return open.has(kind) ? restored(what) : (what ?? undefined)
}

function stand(...value: Stand[typeof mark]): Stand {
  return { [mark]: value }
}

function kept(given: unknown): unknown {
  switch (typeof given) {
    case 'string':
    case 'boolean':
      return given
    case 'number':
      return Number.isFinite(given) && !Object.is(given, -0)
        ? given
        : stand('number', Object.is(given, -0) ? '-0' : String(given))
    case 'bigint':
      return stand('bigint', String(given))
    case 'function':
      return stand('code')
    case 'object':
      return given === null ? null : keptObject(given)
    default:
      return stand('nothing')
  }
}

function keptObject(given: object): unknown {
  if (Array.isArray(given)) return given.map(kept)
  if (given instanceof Uint8Array) return stand('bytes', Buffer.from(given).toString('base64'))
  if (given instanceof ThrownError) return stand('thrown', kept(given.error))
  if (given instanceof Error) return keptError(given)
  if (given instanceof URL) return given.href
  if (Object.prototype.toString.call(given) === '[object Date]') return stand('date', Number(given))
  const { toJSON } = given as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return kept(toJSON.call(given, ''))
  if (Object.prototype.toString.call(given) !== '[object Object]' || 'fetch' in given) return stand('code')
  const fields = Object.entries(given).map(([name, value]) => [name, kept(value)] as const)
  return Object.hasOwn(given, mark) ? stand('fields', fields) : Object.fromEntries(fields)
}

function keptError(error: Error): Stand {
  const { name, message, stack, cause } = error
  const kind = error instanceof ConnectionBroken ? 'broken' : error instanceof SandboxDisposed ? 'over' : 'other'
  return stand('error', kind, kept({ name, message, stack, cause, own: { ...error } }))
}

function restored(what: unknown): unknown {
  if (typeof what !== 'object' || what === null) return what
  if (Array.isArray(what)) return what.map(restored)
  if (Object.hasOwn(what, mark)) {
    const [kind, ...parts] = (what as Stand)[mark]
    return (made[kind] as (...parts: unknown[]) => unknown)(...parts.map(restored))
  }
  return Object.fromEntries(Object.entries(what).map(([name, value]) => [name, restored(value)]))
}

interface KeptError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly cause: unknown
  readonly own: Record<string, unknown>
}

function errorOf(kind: 'broken' | 'over' | 'other', { name, message, stack, cause, own }: KeptError): Error {
  const error = emptyError(kind, message, own)
  Object.assign(error, own)
  const hidden = { name, stack, ...(cause !== undefined && { cause }) }
  for (const [field, value] of Object.entries(hidden)) {
    Object.defineProperty(error, field, { value, configurable: true, writable: true })
  }
  return error
}

function emptyError(kind: 'broken' | 'over' | 'other', message: string, own: Record<string, unknown>): Error {
  if (kind === 'broken') return new ConnectionBroken(own.code as ConnectionBroken['code'], message)
  return kind === 'over' ? new SandboxDisposed() : new Error(message)
}

/**
 * Error message of a handler that was a function in the process of a former owner. Other nodes cannot run this
 * function.
 */
const goneCode =
  'The handler of this URL was a function in the process of another node, which no longer owns the tenant. Register the handler again.'

const made = {
  nothing: () => undefined,
  number: Number,
  bigint: BigInt,
  bytes: (base64: string) => new Uint8Array(Buffer.from(base64, 'base64')),
  date: dateOf,
  fields: Object.fromEntries,
  thrown: (error: unknown) => new ThrownError(error),
  error: errorOf,
  code: () => () => {
    throw new Error(goneCode)
  },
} as const
