import { isAscii } from './bytes.js'

// All URL patterns are parsed here, and `*` matches any characters. The scheme and host of a URL always ignore case.
// The path and query ignore case only in patterns with `*`, and only for destinations and for the field `url` of a
// rule. In URLs without `*`, the path and query are case-sensitive. The fields `path` and `headers` of a rule are
// always case-sensitive, and so are the texts that matchers expect.

/** A URL in which `*` matches any characters. Without `?`, it matches every query of that URL. */
export class AddressPattern {
  readonly text: string
  /** Whether the pattern has no `*`, so that it matches a single URL. */
  readonly exact: boolean
  readonly #test: (url: string) => boolean

  constructor(pattern: string) {
    if (!/^(?:https?:\/\/|\*)/i.test(pattern)) {
      throw new TypeError(
        `A URL pattern must be an absolute URL such as 'https://shop.test/orders', in which '*' matches any characters (got ${JSON.stringify(pattern)}).`,
      )
    }
    this.text = pattern
    this.exact = !pattern.includes('*')
    this.#test = this.exact ? exactly(pattern) : likePattern(pattern)
  }

  matches(url: string): boolean {
    return this.#test(url)
  }
}

function exactly(pattern: string): (url: string) => boolean {
  const withQuery = pattern.includes('?')
  const wanted = normalUrl(pattern)
  return (url) => normalUrl(withQuery ? url : withoutQuery(url)) === wanted
}

function likePattern(pattern: string): (url: string) => boolean {
  const withQuery = pattern.includes('?')
  const fits = wildcard(pattern, { ignoreCase: true })
  return (url) => fits(url) || (!withQuery && fits(withoutQuery(url)))
}

export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/**
 * Matches URLs without dot segments and without a numeric host. They are already normalized, so they need not be
 * parsed.
 */
const isNormal = /^https?:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\/(?:[\w!$&()*+,;=:@~/?-]|%(?!2[eE])|(?<=\w)\.)*$/

/** Normalizes a URL: `HTTPS://Shop.Test` and `https://shop.test:443/` are the same. */
export function normalUrl(url: string): string {
  return isNormal.test(url) || !URL.canParse(url) ? url : new URL(url).href
}

export interface WildcardOptions {
  readonly ignoreCase?: boolean
}

/**
 * Returns a function that tests whether a text matches the pattern. In the pattern, `*` matches any characters and
 * everything else is literal.
 * Each literal part is searched once, from the end of the previous match. So the number of steps is at most the length
 * of the pattern times the length of the text. A regular expression for a pattern with eight `*` could run for hours.
 */
export function wildcard(pattern: string, { ignoreCase = false }: WildcardOptions = {}): (text: string) => boolean {
  const fold = ignoreCase ? withoutCase : same
  const [first = '', ...rest] = fold(pattern).split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => fold(text) === first
  const middle = rest.filter((part) => part !== '')
  return (given) => {
    const text = fold(given)
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    const end = text.length - last.length
    for (const part of middle) {
      const found = text.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

function same(text: string): string {
  return text
}

/**
 * Converts a text to upper case, so that comparisons ignore case exactly like a regular expression with the flag `i`.
 * Each character is converted separately. It stays unchanged if its upper case has several characters, or if a
 * non-ASCII character would become an ASCII character.
 */
export function withoutCase(text: string): string {
  if (isAscii(text)) return text.toUpperCase()
  let out = ''
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!
    const upper = char.toUpperCase()
    out += upper.length !== 1 || (char > '\x7f' && upper <= '\x7f') ? char : upper
  }
  return out
}
