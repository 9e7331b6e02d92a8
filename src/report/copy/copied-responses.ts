import type { TraceEntry } from '../trace.js'
import { bodyOf, headersOf } from './selection.js'

// Converts responses of destinations to script steps, and faults to fault rules.

/** A step of a destination's script: the status of a response, or a fault as plain data. */
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

/** Headers of a connection, and headers that every server adds automatically. They are not copied. */
const ofConnection =
  /^(?:date|connection|content-length|transfer-encoding|keep-alive|server|upgrade|trailer|set-cookie)$/i

/** Converts the outcome of an attempt or an outbound request to a script step that has the same outcome. */
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

/** Returns whether a header value can be reproduced: it is valid and contains no redacted secret. */
function legal(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value) && !value.includes('***')
}

function broken(error = ''): CopiedStep {
  if (/ECONNREFUSED|refused/i.test(error)) return { kind: 'refused' }
  if (/ENOTFOUND|no such host|resolve/i.test(error)) return { kind: 'unresolved-host' }
  if (/certificate|x509/i.test(error)) return { kind: 'bad-certificate' }
  return { kind: 'reset' }
}

/** Kinds of faults that can be copied. Each replaces the response, and its kind and the outcome contain all details. */
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

/**
 * Returns the fault that was injected into an attempt or a request, as plain data. Returns `undefined` if the log has
 * too few details.
 * @param struck entry of the fault
 * @param on entry of the attempt or request
 */
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
