import { canonicalName, type HeaderList } from '../../kernel/http.js'
import type { Words } from './words.js'

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
export function deliveryHeaders(contentType: string | undefined, forwarded: HeaderList, words: Words): HeaderList {
  if (forwarded.length === 0) return contentType === undefined ? [] : [['Content-Type', contentType]]
  const dropped = new Set(ownDeliveryHeaders.flatMap((name) => words.headers(name).map((own) => own.toLowerCase())))
  const byName = new Map<string, string>()
  if (contentType !== undefined) byName.set('Content-Type', contentType)
  for (const [name, value] of forwarded) {
    const lower = name.toLowerCase()
    if (!isHopByHop(lower) && !dropped.has(lower)) byName.set(canonicalName(name), value)
  }
  return [...byName]
}
