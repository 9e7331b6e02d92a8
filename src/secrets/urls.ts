import { hidden } from './secret-shapes.js'
import { SecretTexts } from './texts.js'

const texts = new SecretTexts()

/** Redacts the password and the keys in a URL, so that a message can show the URL. */
export function shownUrl(url: string): string {
  // Every delivery attempt calls this function to create its label, so this check must be fast.
  return url.includes('@') || url.includes('?') ? texts.text(url) : url
}

/** Redacts the secrets in a text, such as the message of an error, so that a message can contain the text. */
export function shownText(text: string): string {
  return texts.text(text)
}

/** Returns a URL pattern for destinations, in which each secret is a wildcard. */
export function shownPattern(url: string): string {
  return shownUrl(url).replaceAll(hidden, '*')
}
