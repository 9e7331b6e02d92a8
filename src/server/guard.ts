import type { IncomingMessage } from 'node:http'
import type { HeaderList } from '../kernel/http.js'

/**
 * Keeps web pages out. A page cannot forge its `Origin`, and a page whose own name was rebound to this machine still
 * sends that name as `Host`: both are refused unless they are names of this machine or of its network.
 */
export function refusal(request: IncomingMessage, ownNames: readonly string[], strict: boolean): string | undefined {
  const { host, origin } = request.headers
  const asked = hostOf(`http://${host ?? ''}`)
  if (asked === undefined || !isNear(asked, ownNames)) {
    return `The host ${JSON.stringify(host ?? '')} is not this server. Call it as 127.0.0.1 or localhost, or start it with --host and that name.`
  }
  if (origin === undefined) return undefined
  const page = hostOf(origin)
  if (strict ? origin === `http://${host}` : page !== undefined && isNear(page, ownNames) && !isPublic(page))
    return undefined
  return `A page of ${origin} may not call this server${strict ? "'s control API" : ''}. Call it from the test process instead.`
}

/**
 * Whether a request may make a tenant. A page of another site can send a GET by an image and a POST by a form without
 * being asked: whatever says that it comes from such a page makes nothing.
 */
export function mayMakeTenant(headers: HeaderList): boolean {
  const of = (name: string): string | undefined => headers.find(([key]) => key.toLowerCase() === name)?.[1]
  const page = of('origin') ?? of('referer')
  if (page !== undefined) {
    const host = hostOf(page)
    return host !== undefined && isNear(host, []) && !isPublic(host)
  }
  const site = of('sec-fetch-site')
  return site === undefined || site === 'none' || site === 'same-origin'
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

/** An address outside of this machine's networks: it cannot be rebound, but anybody's page may come from there. */
function isPublic(host: string): boolean {
  return /^\[.*\]$|^[\d.]+$/.test(host) && !privateAddress.test(host)
}

const privateAddress =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^\[(?:::1\]|f[cd]|fe[89ab])/

/** Addresses and names that no public name server can give away: literal addresses, names without a dot, `.test`. */
function isNear(host: string, ownNames: readonly string[]): boolean {
  if (ownNames.some((name) => host === name.toLowerCase())) return true
  return /^\[.*\]$|^[\d.]+$|^[^.]+$|\.(?:localhost|test|local|internal)$/.test(host)
}
