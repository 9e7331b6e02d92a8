import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { HeaderList } from '../../../src/kernel/http.js'
import { isLoopbackAddress } from './listen-addresses.js'
import { isSameText } from './same-text.js'

/** Host names and addresses by which clients may call a server. */
export interface Guard {
  /** Names and addresses from the option `allowHosts`, in addition to those of this machine. */
  readonly hosts: readonly string[]
  /** Whether the server has the option `allowHosts`, so that an error message can recommend it. */
  readonly mayList?: boolean
}

/**
 * Kind of a path: `control` for the control API, `page` for pages that links on other sites may open, `service` for the
 * API of a service.
 */
type Kind = 'control' | 'page' | 'service'

/**
 * Returns an error message for a request of a web page of another site, otherwise `undefined`. `Origin` and `Host` must
 * be names or addresses of this machine, or names from `allowHosts`. A page cannot forge its `Origin`. After DNS
 * rebinding, a page still sends its own name as `Host`. Only loopback names are always resolved by this machine. Any
 * other name (`.local`, `.internal`, names without a dot) can be resolved by a name server, or by a neighbor in the
 * network.
 * @param token token of the control API; a page of another site that sends this token may read, but not change anything
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
  // When another page requests an image or a script, or follows a link, the request has no `Origin`. Then
  // `Sec-Fetch-Site` or `Referer` shows that page.
  const isFromAfar = kind === 'control' && isOfOtherSite(request.headers)
  if (!isForeign && !isFromAfar) return undefined
  const mayRead = request.method === 'GET' || request.method === 'HEAD'
  if (kind === 'control' && mayRead && brings(request, token)) return undefined
  return `A page of ${origin ?? 'another site'} must not call the control API of this server. Call it from the test process instead.`
}

/**
 * Returns whether a page of another site made the request. Browsers send `Sec-Fetch-Site` only to trustworthy hosts,
 * such as loopback names. For other hosts over HTTP, only the `Referer` shows the page.
 */
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
 * Returns whether a request may create a tenant. A page of another site must not create tenants. Without any
 * permission, such a page can send a GET with an image and a POST with a form.
 * @param hosts names and addresses from the option `allowHosts`
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

/**
 * Returns a name or an address in the form of a `Host` header without a port. Returns `undefined` for anything else.
 */
export function listedHost(given: string): string | undefined {
  const host = hostOf(`http://${isIP(given) === 6 ? `[${given}]` : given}`)
  return host !== undefined && /^(?:[^\s:/?#@*\\]+|\[[^\]]*\]|[\da-f:]+)$/i.test(given) ? host : undefined
}

/**
 * Returns the `Host` of a request without its port. Returns `undefined` if the request has several `Host` headers,
 * because a proxy and this server could use different headers.
 */
function hostHeaderOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const names = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  return names.length === 1 ? bareHostOf('http://', headers.host!) : undefined
}

/**
 * Returns the host of a name or address, which may have a port. Returns `undefined` for any other text, because it
 * could be a URL with users, paths or escapes.
 */
function bareHostOf(scheme: string, host: string): string | undefined {
  return /^(?:[^\s:/?#@%\\[\]]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i.test(host) ? hostOf(scheme + host) : undefined
}

/**
 * Returns the host of a URL. The dot at the end of a name is removed, because browsers also resolve `localhost.`
 * locally. [Secure Contexts, 3.1]
 */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/(?<=[^.])\.$/, '') : undefined
}

/**
 * Returns whether a host is a loopback name, a listed name, or an address of this machine.
 * @param own local address at which the request arrived
 */
function isOwn(host: string, listed: readonly string[], own?: string): boolean {
  if (/^(?:.+\.)?localhost$/.test(host) || listed.includes(host)) return true
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) === 0) return false
  return isLoopbackAddress(address) || address === own?.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')
}
