import { decodeSegment } from '../../kernel/percent.js'
import { refusals } from './errors.js'

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

export interface DestinationRules {
  readonly refuseLoopback: boolean
  readonly refuseEncodedDestination: boolean
}

/**
 * The destination as the rest of a path gives it, undecoded and with the query that belongs to it. A double slash that
 * a proxy collapsed is put back, a percent-encoded url is decoded. [queue.md 1.3]
 */
export function readDestination(raw: string, query: string, rules: DestinationRules): string {
  const tail = query === '' ? '' : `?${query}`
  if (/^https?%3a/i.test(raw)) {
    if (rules.refuseEncodedDestination) throw refusals.invalidScheme()
    const decoded = decodeSegment(raw)
    return decoded.includes('?') && query !== '' ? `${decoded}&${query}` : decoded + tail
  }
  const repaired = raw.replace(/^(https?:)\/(?!\/)/i, '$1//')
  return isUrl(repaired) ? repaired + tail : decodeSegment(raw)
}

/** Urls that were found in order: the same few come again and again. */
const checked = new Set<string>()
const checkedAtMost = 1000

/** Refuses what is no absolute http(s) url. @param field `destination`, `callback`, `failure callback`, `endpoint` */
export function checkUrl(url: string, field: string, rules: DestinationRules): void {
  if (checked.has(url) && !rules.refuseLoopback) return
  if (!isUrl(url)) throw refusals.invalidScheme(field)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.hostname === '') throw refusals.invalidUrl(field, 'endpoint is not a valid url')
  if (rules.refuseLoopback && field === 'destination' && isLoopback(parsed.hostname)) {
    throw refusals.loopback(parsed.hostname === '[::1]' ? '::1' : '127.0.0.1')
  }
  if (checked.size < checkedAtMost) checked.add(url)
}

/** Whether a host name means this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/i.test(
    hostname,
  )
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
