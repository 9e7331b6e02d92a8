import { decodeSegment } from '../../kernel/http.js'
import { refusals } from './queue-rejections.js'

/** Pattern of the names of URL groups, FIFO queues and schedules. [queue.md 1.6, 1.7, 8] */
export const resourceName: RegExp = /^[A-Za-z0-9_.-]+$/

/**
 * Checks the name of a resource.
 * @param field name of the field, for the error text
 */
export function checkName(name: string, field: string): void {
  if (resourceName.test(name)) return
  throw refusals.invalid(field, `${JSON.stringify(name)} must contain only letters, digits, -, _ and .`)
}

export function isUrl(destination: string): boolean {
  return /^https?:\/\//i.test(destination)
}

/** Target of a publish: a URL or the name of a URL group. */
export type PublishTarget =
  | { readonly url: string; readonly group?: undefined }
  | { readonly group: string; readonly url?: undefined }

export function targetOf(destination: string): PublishTarget {
  return isUrl(destination) ? { url: destination } : { group: destination }
}

/**
 * Parses the target of a publish from the path of the request. If a proxy has replaced `https://` with `https:/`,
 * restores the slash. If the whole URL is percent-encoded, decodes it. [queue.md 1.3]
 * @param raw part of the path after the path of the endpoint, such as `https://shop.test`; not decoded
 * @param query query of the destination; empty if there is none
 */
export function readTarget(
  raw: string,
  query: string,
  rules: { readonly rejectEncodedDestination: boolean },
): PublishTarget {
  const tail = query === '' ? '' : `?${query}`
  if (/^https?%3a/i.test(raw)) {
    if (rules.rejectEncodedDestination) throw refusals.invalidScheme()
    const decoded = decodeSegment(raw)
    return targetOf(decoded.includes('?') && query !== '' ? `${decoded}&${query}` : decoded + tail)
  }
  const repaired = raw.replace(/^(https?:)\/(?!\/)/i, '$1//')
  return isUrl(repaired) ? { url: repaired + tail } : targetOf(decodeSegment(raw))
}

/** URLs that were found valid. Most publishes use one of a few URLs, so these are checked only once. */
const checked = new Set<string>()
const checkedAtMost = 1000

/**
 * Rejects a value that is not an absolute HTTP(S) URL.
 * @param field name of the field, for the error text: `callback`, `failure callback` or `endpoint`
 */
export function checkUrl(url: string, field: string): void {
  if (!isUrl(url)) throw refusals.invalidScheme(field)
  checkForm(url, field)
}

/** Rejects a target that is neither a URL nor a valid name for a URL group. */
export function checkTarget({ url, group }: PublishTarget): void {
  if (url !== undefined) checkForm(url, 'destination')
  else if (!resourceName.test(group)) throw refusals.invalidScheme()
}

function checkForm(url: string, field: string): void {
  if (checked.has(url)) return
  if (!URL.canParse(url) || new URL(url).hostname === '')
    throw refusals.invalidUrl(field, 'endpoint is not a valid url')
  if (checked.size < checkedAtMost) checked.add(url)
}

/** Rejects a URL with a loopback host. Does nothing if the policy `rejectLoopback` is off. */
export function checkReach(url: string, { rejectLoopback }: { readonly rejectLoopback: boolean }): void {
  if (!rejectLoopback) return
  const { hostname } = new URL(url)
  if (isLoopback(hostname)) throw refusals.loopback(hostname === '[::1]' ? '::1' : '127.0.0.1')
}

export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/i.test(
    hostname,
  )
}

/** Whether a host name is an IP address. An IP address needs no DNS look-up. */
export function isIpAddress(hostname: string): boolean {
  return /^(?:\d+(?:\.\d+){3}|\[[\da-f:.]+\])$/i.test(hostname)
}

/** Returns the host of a URL, with and without its port. */
export function hostsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { host, hostname } = new URL(url)
  return host === hostname ? [host] : [host, hostname]
}

export function pathOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname : undefined
}
