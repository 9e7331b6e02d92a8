import type { HeaderList } from './http.js'

// What things in memory weigh, in bytes: about as many as they take, computed from sizes and never measured, so that the
// same calls weigh the same on every machine.

/** A string, or an array, beside what it holds; and its place in whatever holds it. */
const holder = 24

/** Levels of data that are weighed: the bodies of messages and answers stand near the top. */
const deepest = 6

/** Of a string with its place. */
export function weightOfText(text: string): number {
  return holder + text.length
}

/** Of words, such as those of a command. */
export function weightOfWords(words: readonly string[]): number {
  let weight = holder * (words.length + 1)
  for (let index = 0; index < words.length; index++) weight += words[index]!.length
  return weight
}

export function weightOfHeaders(headers: HeaderList): number {
  let weight = holder
  // The pair is an array of two texts.
  for (const [name, value] of headers) weight += 3 * holder + name.length + value.length
  return weight
}

/** Of any data: what it holds, so many levels deep. */
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
