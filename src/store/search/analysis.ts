import { isAscii } from '../../kernel/bytes.js'
import type { FieldDefinition } from '../values/search-definition.js'

export type Stem = (word: string) => string

/** Callback for a word of a text: its term, and its position in UTF-16 units. */
export type Hear = (term: string, start: number, end: number) => void

/**
 * Splits a text of a field into terms and passes each term to a callback. Creating an object for each term would take
 * most of the time.
 */
export type Analyse = (text: string, hear: Hear) => void

export function termsIn(text: string, analyse: Analyse): string[] {
  const terms: string[] = []
  analyse(text, (term) => terms.push(term))
  return terms
}

/**
 * Matches a word: letters with their marks, and digits, of any script. Blanks, punctuation and `_` separate words. This
 * package chose how marks, `_` and `'` are handled; public sources leave it open. [search.md 11]
 */
const word = /[\p{Alphabetic}\p{M}\p{N}]+/gu

/** Maximum number of cached stems. Texts have few different words. */
const maxRemembered = 20_000

/** Maximum length of a word that is stemmed. Longer texts are not words of a language, and stemming them is slow. */
const maxStemmed = 64

/**
 * Returns the analysis of a field. With NOTOKENIZE, the only term is the whole text, unchanged. Otherwise, the terms
 * are the words in lower case, stemmed unless NOSTEM is set. This package chose that NOTOKENIZE keeps the case and
 * stems nothing. [search.md 11]
 */
export function analysisOf({ noTokenize, noStem }: FieldDefinition, stem: Stem): Analyse {
  if (noTokenize) return (text, hear) => hear(text, 0, text.length)
  const termOf = noStem ? (word: string) => word : remembering(stem)
  return (text, hear) => {
    if (!isAscii(text)) {
      hearWords(text, termOf, hear)
      return
    }
    const lower = text.toLowerCase()
    for (let start = 0; start < lower.length; start++) {
      if (!isWordCode(lower.charCodeAt(start))) continue
      let end = start + 1
      while (end < lower.length && isWordCode(lower.charCodeAt(end))) end++
      hear(termOf(lower.slice(start, end)), start, end)
      start = end
    }
  }
}

/** Passes the words of a text in any script to the callback. */
function hearWords(text: string, termOf: Stem, hear: Hear): void {
  for (const match of text.matchAll(word)) {
    const [found] = match
    hear(termOf(found.toLowerCase()), match.index, match.index + found.length)
  }
}

/**
 * Returns whether a character code belongs to a lower-case ASCII letter or an ASCII digit. Most texts have no other
 * characters in their words.
 */
function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
}

function remembering(stem: Stem): Stem {
  const known = new Map<string, string>()
  return (word) => {
    if (word.length > maxStemmed) return word
    let found = known.get(word)
    if (found === undefined) {
      if (known.size >= maxRemembered) known.clear()
      // A stemmer may return an empty text. It may also mark letters by returning them in upper case.
      found = stem(word).toLowerCase() || word
      known.set(word, found)
    }
    return found
  }
}
