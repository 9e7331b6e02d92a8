import type { TraceEntry } from '../trace.js'
import { bodyOf, headersOf } from './selection.js'

// What destinations answered, as steps of a script, and faults as rules.

/** A step of a destination's script: a fault as data, or the status of an answer. */
export type CopiedStep = number | Readonly<Record<string, unknown>>

export interface ResponseRule {
  readonly on: string
  readonly match?: Readonly<Record<string, unknown>>
  readonly name?: string
  readonly skip?: number
  readonly times: number
  readonly fault: Readonly<Record<string, unknown>>
}

interface Outcome {
  readonly at: number
  readonly status: number
  readonly error?: string
  readonly headers: unknown
  readonly body: unknown
}

/** Headers that belong to a connection, or that whoever answers writes anew. */
const ofConnection =
  /^(?:date|connection|content-length|transfer-encoding|keep-alive|server|upgrade|trailer|set-cookie)$/i

/** The outcome of an attempt or call, as its destination gives it again. */
export function stepOf(entry: TraceEntry): CopiedStep {
  const outcome = (entry.outcome ?? entry.response) as Outcome | undefined
  if (outcome === undefined) return { kind: 'hang' }
  const { status, at } = outcome
  const waitMs = at - entry.at
  const then =
    status >= 200 && status <= 599
      ? answered(outcome)
      : waitMs > 0
        ? { kind: 'hang', forMs: waitMs }
        : broken(outcome.error)
  if (waitMs === 0 || (typeof then === 'object' && then.kind === 'hang')) return then
  // biome-ignore lint/suspicious/noThenProperty: that is the name of the step's field
  return { kind: 'delay', waitMs, then: typeof then === 'number' ? { kind: 'status', status: then } : then }
}

function answered({ status, headers: all, body: given }: Outcome): CopiedStep {
  const headers = headersOf(all).filter(
    ([name, value]) =>
      !ofConnection.test(name) && name !== '__proto__' && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && legal(value),
  )
  const { text: body = '', cut } = bodyOf(given)
  if (headers.length === 0 && body === '') return status
  return {
    kind: 'status',
    status,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(body !== '' && cut === undefined && { body }),
  }
}

/** Without what only one program of the captured world could know. */
function legal(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value) && !value.includes('***')
}

function broken(error = ''): CopiedStep {
  if (/ECONNREFUSED|refused/i.test(error)) return { kind: 'refused' }
  if (/ENOTFOUND|no such host|resolve/i.test(error)) return { kind: 'unresolved-host' }
  if (/certificate|x509/i.test(error)) return { kind: 'bad-certificate' }
  return { kind: 'reset' }
}

/** Faults that strike instead of what is underneath, and need no more than their name and what came of them. */
const known = new Set([
  'status',
  'reset',
  'refused',
  'unresolved-host',
  'bad-certificate',
  'hang',
  'lost-ack',
  'non-retryable',
  'revoked-token',
])

/** The fault that struck an attempt or a request, as data; `undefined` where the log does not say enough of it. */
export function faultOf(struck: TraceEntry, on: TraceEntry): Readonly<Record<string, unknown>> | undefined {
  const kind = String(struck.fault)
  if (!known.has(kind)) return undefined
  if (kind !== 'status') return { kind }
  const step = stepOf({
    ...on,
    at: (on.outcome as Outcome | undefined)?.at ?? (on.response as Outcome | undefined)?.at ?? on.at,
  })
  if (typeof step === 'number') return { kind, status: step }
  return step.kind === 'status' ? step : undefined
}
