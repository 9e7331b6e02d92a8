import { canonicalName, type HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'

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
 * The headers that a destination gets by configuration. A name in a later source replaces it in those before, so explicit
 * ones come last; one that comes several times in a source stays a list.
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
