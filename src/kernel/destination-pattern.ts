import { wildcard } from './wildcard.js'

/** A url in which `*` stands for any characters. */
export class DestinationPattern {
  readonly text: string
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
      const wanted = normal(pattern)
      this.#test = (url) => normal(withQuery ? url : withoutQuery(url)) === wanted
    } else {
      const fits = wildcard(pattern, { ignoreCase: true })
      this.#test = (url) => fits(url) || (!withQuery && fits(withoutQuery(url)))
    }
  }

  matches(url: string): boolean {
    return this.#test(url)
  }
}

function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** `HTTPS://Shop.Test` and `https://shop.test:443/` are one address. */
function normal(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
