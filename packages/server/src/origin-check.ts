import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { HeaderList } from '../../../src/kernel/http.js'
import { isLoopbackAddress } from './listen-addresses.js'
import { isSameText } from './same-text.js'

/** Hosts from which a server accepts requests. */
export interface Guard {
  /** Names and addresses that the user listed, in addition to those of this machine. */
  readonly hosts: readonly string[]
  /** Whether the user can list more of them. */
  readonly mayList?: boolean
}

/**
 * What a path is for a web page: `control` changes sandboxes, `page` is opened by links, `service` replaces the
 * service.
 */
type Kind = 'control' | 'page' | 'service'

/**
 * Rejects requests of other web pages. A page cannot forge its `Origin`, and a page whose own name was rebound to this
 * machine still sends that name as `Host`. Any name except loopback names can be resolved by another machine: a name
 * server, or a neighbor in the network (`.local`, `.internal`, names without a dot). So both must be names or addresses
 * of this machine, or listed by the user.
 * @param token of the control API: a client that has it may read from any page
 */
export function originRejection(
  request: IncomingMessage,
  guard: Guard,
  kind: Kind,
  token?: string,
): string | undefined {
  const { host, origin } = request.headers
  const asked = hostHeaderOf(request)
  const own = request.socket.localAddress
  if (asked === undefined || !isOwn(asked, guard.hosts, own)) {
    const listed =
      guard.mayList !== true || asked === undefined
        ? ''
        : `, or start it with --allow-host ${asked} (in a program: allowHosts)`
    return `Host ${JSON.stringify(host ?? '')} is not a name of this server. Call it as 127.0.0.1 or localhost${listed}.`
  }
  if (kind === 'service') {
    if (origin === undefined) return undefined
    const [, scheme, rest] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/i.exec(origin) ?? []
    const page = scheme && bareHostOf(scheme, rest!)
    if (page !== undefined && isOwn(page, guard.hosts, own)) return undefined
    return `A page of ${origin} must not call this server. Call it from the test process instead.`
  }
  const isForeign = origin !== undefined && origin !== `http://${host}`
  // A request for an image, a script or a link of another page has no `Origin`, but other headers that name the page.
  const isFromAfar = kind === 'control' && isOfOtherSite(request.headers)
  if (!isForeign && !isFromAfar) return undefined
  const mayRead = request.method === 'GET' || request.method === 'HEAD'
  if (kind === 'control' && mayRead && brings(request, token)) return undefined
  return `A page of ${origin ?? 'another site'} must not call the control API of this server. Call it from the test process instead.`
}

/** Browsers send `Sec-Fetch-Site` only to trusted hosts. Other hosts get at most a `Referer` over plain HTTP. */
function isOfOtherSite({ host, referer, 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  if (site !== undefined || referer === undefined) return !isOwnSite(site)
  return !URL.canParse(referer) || new URL(referer).origin !== new URL(`http://${host}`).origin
}

function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'none' || site === 'same-origin'
}

function brings({ headers }: IncomingMessage, token: string | undefined): boolean {
  return token !== undefined && isSameText(headers.authorization ?? '', `Bearer ${token}`)
}

/**
 * Returns whether a request may create a tenant. A page of another site can send a GET with an image and a POST with a
 * form without permission, so requests from such pages create nothing.
 * @param hosts names that the user listed
 */
export function mayMakeTenant(headers: HeaderList, hosts: readonly string[]): boolean {
  const of = (name: string): string | undefined => headers.find(([key]) => key.toLowerCase() === name)?.[1]
  const page = of('origin') ?? of('referer')
  if (page !== undefined) {
    const host = hostOf(page)
    return host !== undefined && isOwn(host, hosts)
  }
  return isOwnSite(of('sec-fetch-site'))
}

/** Returns a name or an address as a `Host` header contains it, without a port; `undefined` for anything else. */
export function listedHost(given: string): string | undefined {
  const host = hostOf(`http://${isIP(given) === 6 ? `[${given}]` : given}`)
  return host !== undefined && /^(?:[^\s:/?#@*\\]+|\[[^\]]*\]|[\da-f:]+)$/i.test(given) ? host : undefined
}

/**
 * Returns the only `Host` of a request, without its port. With two of them, a proxy and this server might use different
 * ones.
 */
function hostHeaderOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const names = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  return names.length === 1 ? bareHostOf('http://', headers.host!) : undefined
}

/** Returns the host of a name or address with an optional port. A URL could also contain users, paths and escapes. */
function bareHostOf(scheme: string, host: string): string | undefined {
  return /^(?:[^\s:/?#@%\\[\]]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i.test(host) ? hostOf(scheme + host) : undefined
}

/**
 * Returns the host of a URL. A name may end with a dot; browsers resolve `localhost.` locally, too. [Secure Contexts,
 * 3.1]
 */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/(?<=[^.])\.$/, '') : undefined
}

/** @param own address at which the request arrived */
function isOwn(host: string, listed: readonly string[], own?: string): boolean {
  if (/^(?:.+\.)?localhost$/.test(host) || listed.includes(host)) return true
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) === 0) return false
  return isLoopbackAddress(address) || address === own?.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')
}
