import { isAscii } from './bytes.js'

// Every pattern of addresses is read here; `*` stands for any characters.
//
// The rule of case: scheme and host of a url have none. For the rest of it, a pattern with `*` that says what happens at
// an address (a destination, the `url` of a rule) takes any case; a text that is expected (by matchers, by `path`
// and `headers` of rules), and an address without `*`, are meant as they are written.

/** A url in which `*` stands for any characters; without `?` it is every query of that url. */
export class AddressPattern {
  readonly text: string
  /** Whether it is one address. */
  readonly exact: boolean
  readonly #test: (url: string) => boolean

  constructor(pattern: string) {
    if (!/^(?:https?:\/\/|\*)/i.test(pattern)) {
      throw new TypeError(
        `${JSON.stringify(pattern)} is not a destination: give an absolute url such as 'https://shop.test/orders', '*' standing for any characters.`,
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

/** What parsing leaves as it is: no dot begins or ends a segment, no host is a number. */
const isNormal = /^https?:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\/(?:[\w!$&()*+,;=:@~/?-]|%(?!2[eE])|(?<=\w)\.)*$/

/** `HTTPS://Shop.Test` and `https://shop.test:443/` are one address. */
export function normalUrl(url: string): string {
  return isNormal.test(url) || !URL.canParse(url) ? url : new URL(url).href
}

/** How a pattern is read. */
export interface WildcardOptions {
  readonly ignoreCase?: boolean
}

/**
 * The test of a pattern in which `*` stands for any characters and everything else for itself. Each part is looked for
 * once, from where the one before ended: nothing is tried twice, and a test costs pattern × text at most. A regular
 * expression of eight stars would try for hours.
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

/** Case as a regular expression with `i` ignores it: char by char, and nothing beyond ASCII becomes ASCII. */
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
