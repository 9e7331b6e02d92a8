import { type Bytes, isUtf8, text } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/header-list.js'
import { reasonPhrase } from '../../kernel/reason-phrase.js'

/** `x-rateLimit-reset` → `X-Ratelimit-Reset`, the spelling in which the service shows headers. [queue.md 1.5, 5.4] */
export function canonicalName(name: string): string {
  const known = canonical.get(name)
  if (known !== undefined) return known
  const spelled = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
  if (canonical.size < 1000) canonical.set(name, spelled)
  return spelled
}

const canonical = new Map<string, string>()

/** Name → array of values, the JSON form of headers throughout the API. */
export function headerMap(headers: HeaderList): Record<string, string[]> {
  // Not an object from the start: a header may be called `__proto__`.
  const map = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const spelled = canonicalName(name)
    const values = map.get(spelled)
    // Header values are bytes; where they spell a text, the API shows the text.
    const shown = isUtf8(value as Bytes) ? text(value as Bytes) : value
    if (values) values.push(shown)
    else map.set(spelled, [shown])
  }
  return Object.fromEntries(map)
}

/** Headers that belong to one connection: never passed on. [queue.md 2.3, 3.1] */
export function isHopByHop(lowerName: string): boolean {
  return hopByHop.has(lowerName) || lowerName.startsWith('proxy-')
}

const hopByHop = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** `503 Service Unavailable`; the status alone where no phrase is registered. [queue.md 4.3, choice] */
export function statusText(status: number): string {
  const phrase = reasonPhrase(status)
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}

/** Own headers of a delivery: a forwarded header of these names is dropped. [queue.md 3.1] */
export const ownDeliveryHeaders: readonly string[] = [
  'Signature',
  'Message-Id',
  'Retried',
  'Topic-Name',
  'Schedule-Id',
  'Caller-Ip',
  'Region',
]

/**
 * The headers that a destination gets by configuration. Later pairs replace earlier ones of the same name, so explicit
 * ones come last.
 */
export function deliveryHeaders(
  contentType: string | undefined,
  forwarded: HeaderList,
  ownHeader: (name: string) => string,
): HeaderList {
  if (forwarded.length === 0) return contentType === undefined ? [] : [['Content-Type', contentType]]
  const dropped = new Set(ownDeliveryHeaders.map((name) => ownHeader(name).toLowerCase()))
  const byName = new Map<string, string>()
  if (contentType !== undefined) byName.set('Content-Type', contentType)
  for (const [name, value] of forwarded) {
    const lower = name.toLowerCase()
    if (!isHopByHop(lower) && !dropped.has(lower)) byName.set(canonicalName(name), value)
  }
  return [...byName]
}
