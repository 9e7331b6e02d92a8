import { foreignTo, type Vocabulary, vocabulariesOf } from '../protocol/vocabulary.js'
import { type KnownWords, Words } from '../queue/settings/words.js'

const known = new WeakMap<Vocabulary, KnownWords>()

/** What the queue knows of vocabularies: one way to speak for each, and that of what comes without any words. */
export function wordsOf(vocabulary: Vocabulary): KnownWords {
  const before = known.get(vocabulary)
  if (before !== undefined) return before
  const own = vocabulariesOf(vocabulary)
  const singles = [...own, ...foreignTo(vocabulary)].map((one) => wordsIn(one.name, [one]))
  const unsaid = own.length === 1 ? singles[0]! : wordsIn('both', own)
  const words: KnownWords = { unsaid, all: [unsaid, ...singles] }
  known.set(vocabulary, words)
  return words
}

function wordsIn(name: string, vocabularies: readonly Vocabulary[]): Words {
  return new Words(
    name,
    vocabularies.map(({ headerPrefix: prefix, issuer, userAgent }) => ({ prefix, issuer, userAgent })),
  )
}
