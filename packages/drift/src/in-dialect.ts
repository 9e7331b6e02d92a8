import { type Dialect, ownHeader, settingName } from '../../../src/protocol/dialect.js'
import type { DriftRequest } from './case.js'

// Translates a request to the dialect of a side and adds its token. Translates the response back to the neutral
// dialect.

export interface Address {
  readonly address: string
  readonly token: string
  readonly readOnlyToken: string | undefined
  readonly dialect: Dialect
}

export interface DialectRequest {
  readonly url: string
  readonly headers: Record<string, string>
}

const own = /^service-/i

/** Returns the name that a service header has in a dialect. Other header names stay unchanged. */
export function nameInDialect(name: string, dialect: Dialect): string {
  return own.test(name) ? ownHeader(name.replace(own, ''), dialect) : name
}

export function inDialect(ask: DriftRequest, { address, token, readOnlyToken, dialect }: Address): DialectRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(ask.headers ?? {})) headers[nameInDialect(name, dialect)] = value
  const use = ask.token ?? 'standard'
  if (use === 'standard') headers.authorization = `Bearer ${token}`
  if (use === 'wrong') headers.authorization = 'Bearer not-a-token'
  if (use === 'read-only') headers.authorization = `Bearer ${readOnlyToken ?? ''}`
  const parameter = ask.service === 'store' ? '_token' : dialect.queueTokenQuery
  const query =
    use === 'in the query' ? `${ask.path.includes('?') ? '&' : '?'}${parameter}=${encodeURIComponent(token)}` : ''
  return { url: `${address}${ask.path}${query}`, headers }
}

export function neutralHeaders(headers: Headers, dialect: Dialect): Record<string, string> {
  return Object.fromEntries(
    [...headers].map(([name, value]) => {
      const setting = settingName(name, dialect)
      return [setting === undefined ? name : `service-${setting}`, value]
    }),
  )
}
