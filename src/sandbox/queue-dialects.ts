import { type Dialect, dialectsOf, otherDialects } from '../protocol/dialect.js'
import { QueueDialect, type QueueDialects } from '../queue/settings/queue-dialect.js'

const known = new WeakMap<Dialect, QueueDialects>()

/**
 * Returns the dialects that the queue knows: one per set of names, and a fallback for requests without names of any
 * dialect.
 */
export function queueDialectsOf(dialect: Dialect): QueueDialects {
  const before = known.get(dialect)
  if (before !== undefined) return before
  const own = dialectsOf(dialect)
  const singles = [...own, ...otherDialects(dialect)].map((one) => wordsIn(one.name, [one]))
  const unsaid = own.length === 1 ? singles[0]! : wordsIn('both', own)
  const words: QueueDialects = { fallback: unsaid, all: [unsaid, ...singles] }
  known.set(dialect, words)
  return words
}

function wordsIn(name: string, dialects: readonly Dialect[]): QueueDialect {
  return new QueueDialect(
    name,
    dialects.map(({ headerPrefix: prefix, issuer, userAgent }) => ({ prefix, issuer, userAgent })),
  )
}
