import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { HeaderList } from '../kernel/http.js'
import { isLoopbackAddress } from './addresses.js'
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
export function refusal(request: IncomingMessage, guard: Guard, kind: Kind, token?: string): string | undefined {
  const { host, origin } = request.headers
  const asked = hostOf(`http://${host ?? ''}`)
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
    const page = hostOf(origin)
    if (page !== undefined && isOwn(page, guard.hosts, own)) return undefined
    return `A page of ${origin} may not call this server. Call it from the test process instead.`
  }
  const isForeign = origin !== undefined && origin !== `http://${host}`
  // An image, a script or a link of another page comes without an `Origin`, but says where it comes from.
  const isFromAfar = kind === 'control' && !isOwnSite(request.headers['sec-fetch-site'])
  if (!isForeign && !isFromAfar) return undefined
  const mayRead = request.method === 'GET' || request.method === 'HEAD'
  if (kind === 'control' && mayRead && brings(request, token)) return undefined
  return `A page of ${origin ?? 'another site'} may not call this server's control API. Call it from the test process instead.`
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

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

/** @param own the address at which the request arrived */
function isOwn(host: string, listed: readonly string[], own?: string): boolean {
  if (/^(?:.+\.)?localhost$/.test(host) || listed.includes(host)) return true
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) === 0) return false
  return isLoopbackAddress(address) || address === own?.replace(/^::ffff:(?=[\d.]+$)|%.*$/g, '')
}
