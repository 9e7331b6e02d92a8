/**
 * Implements the English stemmer of Snowball ("Porter2") from its published description.
 *
 * The stemmer library only has the predecessor of this stemmer, which separates related words: the predecessor turns
 * `connection` into `connec`, but leaves `connect` unchanged. docs/decisions/search.md
 */
export function stemEnglish(word: string): string {
  if (word.length <= 2) return word
  const whole = exceptions.get(word)
  if (whole !== undefined) return whole
  const stem = new Stem(word.startsWith("'") ? word.slice(1) : word)
  stem.plural()
  if (finished.has(stem.word)) return stem.word
  stem.past()
  stem.finalY()
  stem.double()
  stem.single()
  stem.remove()
  stem.tidy()
  return stem.word.toLowerCase()
}

/** Words that are stemmed by this table, because no rule fits. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word) => [word, word] as const),
])

/** Words that are not changed further after their plural ending was removed. */
const finished: ReadonlySet<string> = new Set([
  ...['inning', 'outing', 'canning', 'herring', 'earring'],
  ...['proceed', 'exceed', 'succeed'],
])

const vowel = /[aeiouy]/
const doubled = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/
const validBeforeLi = /[cdeghkmnrt]$/

/** Endings from longest to shortest, with their replacements. */
type Endings = readonly (readonly [ending: string, instead: string])[]

const doubleEndings: Endings = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['tional', 'tion'],
  ['lessli', 'less'],
  ['biliti', 'ble'],
  ['iviti', 'ive'],
  ['ousli', 'ous'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['fulli', 'ful'],
  ['aliti', 'al'],
  ['alism', 'al'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
  ['ogi', 'og'],
  ['li', ''],
]

const singleEndings: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ative', ''],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
]

const removable: readonly string[] = [
  ...['ement', 'ance', 'ence', 'able', 'ible', 'ment', 'ant', 'ent', 'ism', 'ate', 'iti', 'ous', 'ive', 'ize', 'ion'],
  ...['al', 'er', 'ic'],
]

class Stem {
  /** The word; a consonant `y` is in upper case. */
  word: string
  /** Start of the two regions in which endings can be removed. */
  readonly #first: number
  readonly #second: number

  constructor(word: string) {
    this.word = word.replace(/^y/, 'Y').replace(/([aeiouy])y/g, '$1Y')
    const beginning = /^(?:gener|commun|arsen)/.exec(this.word)?.[0].length
    this.#first = beginning ?? this.#regionFrom(0)
    this.#second = this.#regionFrom(this.#first)
  }

  /** Returns the position after the first consonant that follows a vowel. */
  #regionFrom(start: number): number {
    const found = /[aeiouy][^aeiouy]/.exec(this.word.slice(start))
    return found === null ? this.word.length : start + found.index + 2
  }

  plural(): void {
    this.#cut(/'s'$|'s$|'$/.exec(this.word)?.[0].length ?? 0)
    const { word } = this
    if (word.endsWith('sses')) this.#cut(2)
    else if (/ie[sd]$/.test(word)) this.#cut(word.length > 4 ? 2 : 1)
    else if (/(?:us|ss)$/.test(word)) return
    else if (word.endsWith('s') && vowel.test(word.slice(0, -2))) this.#cut(1)
  }

  past(): void {
    const ending = /(?:eedly|ingly|edly|eed|ing|ed)$/.exec(this.word)?.[0]
    if (ending === undefined) return
    if (ending.startsWith('eed')) {
      if (this.#isInFirst(ending)) this.#replace(ending, 'ee')
      return
    }
    if (!vowel.test(this.word.slice(0, -ending.length))) return
    this.#cut(ending.length)
    if (/(?:at|bl|iz)$/.test(this.word)) this.word += 'e'
    else if (doubled.test(this.word)) this.#cut(1)
    else if (this.#isShort) this.word += 'e'
  }

  finalY(): void {
    if (/.[^aeiouy][yY]$/.test(this.word)) this.#replace('y', 'i')
  }

  double(): void {
    const found = doubleEndings.find(([ending]) => this.word.endsWith(ending))
    if (found === undefined || !this.#isInFirst(found[0])) return
    const [ending, instead] = found
    const before = this.word.slice(0, -ending.length)
    if (ending === 'ogi' && !before.endsWith('l')) return
    if (ending === 'li' && !validBeforeLi.test(before)) return
    this.#replace(ending, instead)
  }

  single(): void {
    const found = singleEndings.find(([ending]) => this.word.endsWith(ending))
    if (found === undefined || !this.#isInFirst(found[0])) return
    const [ending, instead] = found
    if (ending === 'ative' && !this.#isInSecond(ending)) return
    this.#replace(ending, instead)
  }

  remove(): void {
    const ending = removable.find((one) => this.word.endsWith(one))
    if (ending === undefined || !this.#isInSecond(ending)) return
    if (ending === 'ion' && !/[st]ion$/.test(this.word)) return
    this.#cut(ending.length)
  }

  tidy(): void {
    if (this.word.endsWith('e')) {
      const isSyllable = endsShort.test(this.word.slice(0, -1))
      if (this.#isInSecond('e') || (this.#isInFirst('e') && !isSyllable)) this.#cut(1)
    } else if (this.word.endsWith('ll') && this.#isInSecond('l')) this.#cut(1)
  }

  get #isShort(): boolean {
    return this.#first >= this.word.length && endsShort.test(this.word)
  }

  #isInFirst(ending: string): boolean {
    return this.word.length - ending.length >= this.#first
  }

  #isInSecond(ending: string): boolean {
    return this.word.length - ending.length >= this.#second
  }

  #cut(letters: number): void {
    if (letters > 0) this.word = this.word.slice(0, -letters)
  }

  #replace(ending: string, instead: string): void {
    this.word = this.word.slice(0, -ending.length) + instead
  }
}

/**
 * Matches a short syllable at the end: a vowel between two consonants, of which the last is not `w`, `x` or `Y`, or a
 * word of one vowel and one consonant.
 */
const endsShort = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/
