import { hidden } from './secret-shapes.js'
import { SecretTexts } from './texts.js'

const texts = new SecretTexts()

/** A url as a sentence may show it: without the password and the keys in it. */
export function shownUrl(url: string): string {
  // A quick test, because each attempt has a label with its url.
  return url.includes('@') || url.includes('?') ? texts.text(url) : url
}

/** Any text, such as the message of an error, as a sentence may show it. */
export function shownText(text: string): string {
  return texts.text(text)
}

/** The same as a pattern of destinations: what is hidden may be anything. */
export function shownPattern(url: string): string {
  return shownUrl(url).replaceAll(hidden, '*')
}
