import { canonicalName, type HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'

/** Whether a header belongs to one connection and is never forwarded. [queue.md 2.3, 3.1] */
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
 * Headers that the service sets on each delivery. A forwarded header with one of these names is dropped. [queue.md 3.1]
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
 * Returns the headers that the publisher configured, from several sources. A header of a later source replaces those
 * with the same name in earlier ones. A header that occurs several times in one source is kept as often.
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
