import { decodeSegment } from '../../kernel/http.js'
import { refusals } from './queue-rejections.js'

/** Legal names of url groups, queues and schedules. [queue.md 1.6, 1.7, 8] */
export const resourceName: RegExp = /^[A-Za-z0-9_.-]+$/

/** @param field what the name names, for the refusal */
export function checkName(name: string, field: string): void {
  if (resourceName.test(name)) return
  throw refusals.invalid(field, `${JSON.stringify(name)} has other characters than letters, digits, -, _ and .`)
}

export function isUrl(destination: string): boolean {
  return /^https?:\/\//i.test(destination)
}

/** Where a publish goes: to a url, or to the endpoints of a url group. */
export type PublishTarget =
  | { readonly url: string; readonly group?: undefined }
  | { readonly group: string; readonly url?: undefined }

export function targetOf(destination: string): PublishTarget {
  return isUrl(destination) ? { url: destination } : { group: destination }
}

/**
 * The target as the rest of a path gives it, undecoded and with the query that belongs to it. A double slash that a
 * proxy collapsed is put back, a percent-encoded url is decoded. [queue.md 1.3]
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

/** Urls known to be valid: the same few come again and again. */
const checked = new Set<string>()
const checkedAtMost = 1000

/** Refuses what is not an absolute http(s) url. @param field `callback`, `failure callback`, `endpoint` */
export function checkUrl(url: string, field: string): void {
  if (!isUrl(url)) throw refusals.invalidScheme(field)
  checkForm(url, field)
}

/** Refuses what names neither a url nor, as far as can be seen, a url group. */
export function checkTarget({ url, group }: PublishTarget): void {
  if (url !== undefined) checkForm(url, 'destination')
  else if (!resourceName.test(group)) throw refusals.invalidScheme()
}

/** The rest of a url of which the scheme is known. */
function checkForm(url: string, field: string): void {
  if (checked.has(url)) return
  if (!URL.canParse(url) || new URL(url).hostname === '')
    throw refusals.invalidUrl(field, 'endpoint is not a valid url')
  if (checked.size < checkedAtMost) checked.add(url)
}

/** Refuses a url of this machine, where the policy does. */
export function checkReach(url: string, { rejectLoopback }: { readonly rejectLoopback: boolean }): void {
  if (!rejectLoopback) return
  const { hostname } = new URL(url)
  if (isLoopback(hostname)) throw refusals.loopback(hostname === '[::1]' ? '::1' : '127.0.0.1')
}

/** Whether a host name means this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/i.test(
    hostname,
  )
}

/** Whether a host name is an address, which nobody has to look up. */
export function isIpAddress(hostname: string): boolean {
  return /^(?:\d+(?:\.\d+){3}|\[[\da-f:.]+\])$/i.test(hostname)
}

/** The host of a url, with and without its port. */
export function hostsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { host, hostname } = new URL(url)
  return host === hostname ? [host] : [host, hostname]
}

export function pathOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname : undefined
}
