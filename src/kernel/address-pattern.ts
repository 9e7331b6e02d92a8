import { isAscii } from './bytes.js'

// All URL patterns are parsed here, and `*` matches any characters. The scheme and host of a URL always ignore case.
// The path and query ignore case if the pattern contains `*` and is the URL of a destination or the `url` of a rule. In
// URLs without `*`, the path and query are case-sensitive. The fields `path` and `headers` of a rule and the texts that
// matchers expect are case-sensitive, too.

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
    const withQuery = pattern.includes('?')
    if (this.exact) {
      const wanted = normalUrl(pattern)
      this.#test = (url) => normalUrl(withQuery ? url : withoutQuery(url)) === wanted
    } else {
      const fits = wildcard(pattern, { ignoreCase: true })
      this.#test = (url) => fits(url) || (!withQuery && fits(withoutQuery(url)))
    }
  }

  matches(url: string): boolean {
    return this.#test(url)
  }
}

export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** Matches URLs that are already normal, so that they need not be parsed: no dot segments, no numeric host. */
const isNormal = /^https?:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\/(?:[\w!$&()*+,;=:@~/?-]|%(?!2[eE])|(?<=\w)\.)*$/

/** Normalizes a URL: `HTTPS://Shop.Test` and `https://shop.test:443/` are the same. */
export function normalUrl(url: string): string {
  return isNormal.test(url) || !URL.canParse(url) ? url : new URL(url).href
}

export interface WildcardOptions {
  readonly ignoreCase?: boolean
}

/**
 * Returns a test for a pattern in which `*` matches any characters and everything else is literal.
 * Each literal part is searched once, from the end of the previous match, so a test takes at most pattern × text steps.
 * A regular expression with eight stars could run for hours.
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
 * Removes differences in case, so that texts can be compared as a regular expression with the flag `i` compares them.
 * Each character is converted alone. A character outside ASCII never becomes an ASCII character.
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
