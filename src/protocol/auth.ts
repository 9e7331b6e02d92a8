import { type Bytes, fromBase64, text } from '../kernel/bytes.js'
import type { ServiceCall } from './service.js'

/** The token of `Authorization: Bearer …`; a bare token without the word is accepted, as the store does. [store.md 6.1] */
export function bearerToken(call: ServiceCall): string | undefined {
  const header = call.header('authorization')?.trim()
  if (!header) return undefined
  return header.replace(/^bearer\s+/i, '')
}

/** The value of a query parameter, decoded; `undefined` when it is absent. */
export function queryToken(call: ServiceCall, name: string): string | undefined {
  if (!call.query.includes(name)) return undefined
  return new URLSearchParams(call.query).get(name) ?? undefined
}

/** User name and password of `Authorization: Basic …`. */
export function basicCredentials(call: ServiceCall): { user: string; password: string } | undefined {
  const match = /^basic\s+(.*)$/i.exec(call.header('authorization')?.trim() ?? '')
  const decoded = match ? fromBase64(match[1]!) : undefined
  if (decoded === undefined) return undefined
  const plain = text(decoded as Bytes)
  const colon = plain.indexOf(':')
  return colon === -1 ? undefined : { user: plain.slice(0, colon), password: plain.slice(colon + 1) }
}

/** The query parameter in which the store takes a token. [store.md 6.1] */
export const storeTokenQuery = '_token'

/** The token of a call that may bring it in a query parameter as well, which goes before the header. */
export function tokenOf(call: ServiceCall, parameter: string): string | undefined {
  return queryToken(call, parameter) ?? bearerToken(call)
}
