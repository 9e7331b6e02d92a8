import { hidden } from './secret-shapes.js'
import { SecretTexts } from './texts.js'

const texts = new SecretTexts()

/** Returns a URL for messages, without the password and the keys in it. */
export function shownUrl(url: string): string {
  // Called for the label of every attempt, so this check must be fast.
  return url.includes('@') || url.includes('?') ? texts.text(url) : url
}

/** Returns any text for messages, such as the message of an error, without secrets. */
export function shownText(text: string): string {
  return texts.text(text)
}

/** Returns a URL pattern for destinations, in which each secret is a wildcard. */
export function shownPattern(url: string): string {
  return shownUrl(url).replaceAll(hidden, '*')
}
