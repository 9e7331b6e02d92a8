import { canonicalName, type HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'

/** Whether a header is only for one connection. Such headers are never forwarded. [queue.md 2.3, 3.1] */
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

/**
 * Headers that the service adds to each delivery, without prefix. A publisher cannot forward a header with one of these
 * names. [queue.md 3.1]
 */
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
 * Merges the headers that a publisher set for the delivery. They come from several sources. If a header occurs in two
 * sources, only the values from the later source are kept. One source may contain a header several times, and all these
 * values are kept.
 */
export function deliveryHeaders(
  contentType: string | undefined,
  sources: readonly HeaderList[],
  words: QueueDialect,
): HeaderList {
  if (sources.every(({ length }) => length === 0))
    return contentType === undefined ? [] : [['Content-Type', contentType]]
  const dropped = new Set(ownDeliveryHeaders.flatMap((name) => words.headers(name).map((own) => own.toLowerCase())))
  const byName = new Map<string, readonly string[]>()
  if (contentType !== undefined) byName.set('Content-Type', [contentType])
  for (const source of sources) {
    const own = new Map<string, string[]>()
    for (const [name, value] of source) {
      const lower = name.toLowerCase()
      if (isHopByHop(lower) || dropped.has(lower)) continue
      const spelled = canonicalName(name)
      const values = own.get(spelled)
      if (values === undefined) own.set(spelled, [value])
      else values.push(value)
    }
    for (const [name, values] of own) byName.set(name, values)
  }
  return [...byName].flatMap(([name, values]) => values.map((value) => [name, value] as const))
}
