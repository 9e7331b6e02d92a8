import type { HeaderList } from './http.js'

// Estimated sizes of values in memory, in bytes.
// They are computed and never measured, so that a value has the same size on every machine.

/** Bytes of an empty string or array, including one reference to it. */
const holder = 24

/**
 * Number of levels of nested data that are counted. Deeper data is ignored, because the large texts, such as bodies of
 * messages, are in the first levels.
 */
const deepest = 6

export function weightOfText(text: string): number {
  return holder + text.length
}

/** Returns the bytes of a list of texts, such as a command with its arguments. */
export function weightOfWords(words: readonly string[]): number {
  let weight = holder * (words.length + 1)
  for (let index = 0; index < words.length; index++) weight += words[index]!.length
  return weight
}

export function weightOfHeaders(headers: HeaderList): number {
  let weight = holder
  // Each header is an array with two texts, so `holder` counts three times.
  for (const [name, value] of headers) weight += 3 * holder + name.length + value.length
  return weight
}

/** Returns the estimated bytes of any data, down to a maximum depth. */
export function weightOf(what: unknown, depth = 0): number {
  if (typeof what === 'string') return holder + what.length
  if (typeof what !== 'object' || what === null) return 8
  if (what instanceof Uint8Array) return holder + what.byteLength
  if (depth > deepest) return holder
  let weight = holder
  if (Array.isArray(what)) for (const item of what) weight += weightOf(item, depth + 1)
  else for (const name in what) weight += weightOf((what as Record<string, unknown>)[name], depth + 1)
  return weight
}
