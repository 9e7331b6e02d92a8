import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { HeaderList } from '../../../src/kernel/http.js'
import { isLoopbackAddress } from './listen-addresses.js'
import { isSameText } from './same-text.js'

/** Whose requests a server takes. */
export interface Guard {
  /** Names and addresses that the user listed, beside those of this machine. */
  readonly hosts: readonly string[]
  /** Whether the user can list more of them. */
  readonly mayList?: boolean
}

/** What a path is to a page: `control` gives orders, `page` is opened by links, `service` stands in for the service. */
type Kind = 'control' | 'page' | 'service'

/**
 * Keeps web pages out. A page cannot forge its `Origin`, and a page whose own name was rebound to this machine still
 * sends that name as `Host`. Any name but those of loopback can be answered for by somebody else: a name server, or a
 * neighbor in the network (`.local`, `.internal`, names without a dot). So both have to be names or addresses of this
 * machine, or listed by the user.
 * @param token of the control API: who has it may read from anywhere
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
    return `The host ${JSON.stringify(host ?? '')} is not this server. Call it as 127.0.0.1 or localhost${listed}.`
  }
  if (kind === 'service') {
    if (origin === undefined) return undefined
    const [, scheme, rest] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/i.exec(origin) ?? []
    const page = scheme && bareHostOf(scheme, rest!)
    if (page !== undefined && isOwn(page, guard.hosts, own)) return undefined
    return `A page of ${origin} may not call this server. Call it from the test process instead.`
  }
  const isForeign = origin !== undefined && origin !== `http://${host}`
  // An image, a script or a link of another page comes without an `Origin`, but says where it comes from.
  const isFromAfar = kind === 'control' && isOfOtherSite(request.headers)
  if (!isForeign && !isFromAfar) return undefined
  const mayRead = request.method === 'GET' || request.method === 'HEAD'
  if (kind === 'control' && mayRead && brings(request, token)) return undefined
  return `A page of ${origin ?? 'another site'} may not call this server's control API. Call it from the test process instead.`
}

/** Browsers say the site to names that they trust; to others over plain HTTP there is the `Referer` at most. */
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
 * Whether a request may make a tenant. A page of another site can send a GET by an image and a POST by a form without
 * being asked: whatever says that it comes from such a page makes nothing.
 * @param hosts what the user listed
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

/** A name or an address as `Host` has it, without a port; `undefined` for anything else. */
export function listedHost(given: string): string | undefined {
  const host = hostOf(`http://${isIP(given) === 6 ? `[${given}]` : given}`)
  return host !== undefined && /^(?:[^\s:/?#@*\\]+|\[[^\]]*\]|[\da-f:]+)$/i.test(given) ? host : undefined
}

/** The one `Host` of a request, without its port: with two of them, proxies and we might not mean the same. */
function hostHeaderOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const names = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  return names.length === 1 ? bareHostOf('http://', headers.host!) : undefined
}

/** Of a name or an address with a port or none, and nothing else: a url would have users, paths and encoded letters, too. */
function bareHostOf(scheme: string, host: string): string | undefined {
  return /^(?:[^\s:/?#@%\\[\]]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i.test(host) ? hostOf(scheme + host) : undefined
}

/** Names may end with a dot, which says that they are complete: browsers resolve `localhost.` themselves, too. [Secure Contexts, 3.1] */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/(?<=[^.])\.$/, '') : undefined
}

/** @param own the address at which the request arrived */
function isOwn(host: string, listed: readonly string[], own?: string): boolean {
  if (/^(?:.+\.)?localhost$/.test(host) || listed.includes(host)) return true
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) === 0) return false
  return isLoopbackAddress(address) || address === own?.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')
}
