import type { FieldDefinition } from '../values/search-definition.js'

export type Stem = (word: string) => string

/** One word of a text: the term that stands for it, and where it stands in the text, in UTF-16 units. */
export interface Token {
  readonly term: string
  readonly start: number
  readonly end: number
}

/** How the texts of one field become terms. */
export type Analyse = (text: string) => Token[]

/** Letters with their marks and digits of any script: blanks, punctuation and `_` part words. [search.md 11; of marks, `_` and `'`: choice] */
const word = /[\p{Alphabetic}\p{M}\p{N}]+/gu

/** Words whose stem is remembered: a text has few different ones. */
const mostRemembered = 20_000

/** Units of the longest word that is stemmed: what is longer is no word, and stemmers take their time over it. */
const longestStemmed = 64

/**
 * Without NOTOKENIZE words in lower case, stemmed unless NOSTEM is set; with it the whole text as it is. [search.md 11;
 * that NOTOKENIZE keeps case and stems nothing: choice]
 */
export function analysisOf({ noTokenize, noStem }: FieldDefinition, stem: Stem): Analyse {
  if (noTokenize) return (text) => [{ term: text, start: 0, end: text.length }]
  const termOf = noStem ? (word: string) => word : remembering(stem)
  return (text) => {
    const tokens: Token[] = []
    for (const match of text.matchAll(word)) {
      const [found] = match
      tokens.push({ term: termOf(found.toLowerCase()), start: match.index, end: match.index + found.length })
    }
    return tokens
  }
}

function remembering(stem: Stem): Stem {
  const known = new Map<string, string>()
  return (word) => {
    if (word.length > longestStemmed) return word
    let found = known.get(word)
    if (found === undefined) {
      if (known.size >= mostRemembered) known.clear()
      // A stemmer may leave capitals behind, which mark letters for itself, or nothing at all.
      found = stem(word).toLowerCase() || word
      known.set(word, found)
    }
    return found
  }
}
