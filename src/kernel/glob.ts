import type { Bytes } from './bytes.js'
import type { Work } from './work.js'

// Patterns of keys as in redis 7.0.15.

/** One part of a pattern: a fixed byte, any byte (`?`), any sequence of bytes (`*`), or a set of bytes (`[a-c]`). */
type GlobPart = number | 'any' | 'run' | Uint8Array

/**
 * Returns a function that tests texts against a pattern with `*`, `?`, `[a-c]`, `[^x]` and `\` escapes. After a
 * mismatch, only the last `*` is extended, so a test takes at most text × pattern steps. `work` is charged for these
 * steps, and first for parsing the pattern.
 */
export function globMatcher(pattern: Bytes, work?: Work): (text: Bytes) => boolean {
  const matches = globOf(pattern, work)
  return (text) => matches(text, work)
}

/** Tests a text. The cost of the test is charged to `work`. */
export type Glob = (text: Bytes, work?: Work) => boolean

/** Returns a test of texts. Parsing the pattern is charged to `work`. */
export function globOf(pattern: Bytes, work?: Work): Glob {
  if (pattern === '*') return () => true
  if (!/[*?[\\]/.test(pattern)) return (text) => text === pattern
  if (/^[^*?[\\]+\*$/.test(pattern)) {
    const prefix = pattern.slice(0, -1)
    return (text) => text.startsWith(prefix)
  }
  const parts = parseGlob(pattern, work)
  return (text, work) => matchParts(parts, text, work)
}

/** Units of work to create a set of bytes. It needs a hundred times the memory of its pattern. [measured] */
const unitsPerSet = 16

function parseGlob(pattern: Bytes, work: Work | undefined): GlobPart[] {
  work?.charge(pattern.length)
  const parts: GlobPart[] = []
  let at = 0
  while (at < pattern.length) {
    const char = pattern[at]!
    if (char === '*') {
      if (parts.at(-1) !== 'run') parts.push('run')
    } else if (char === '?') {
      parts.push('any')
    } else if (char === '[') {
      work?.charge(unitsPerSet)
      const set = new Uint8Array(256)
      at = parseSet(pattern, at + 1, set)
      parts.push(set)
    } else {
      // A backslash at the end matches itself.
      if (char === '\\' && at + 1 < pattern.length) at++
      parts.push(pattern.charCodeAt(at))
    }
    at++
  }
  return parts
}

/**
 * Parses `[a-c]` into a set of 256 flags. Returns the position of the closing `]`, or of the last byte if there is no
 * `]`.
 */
function parseSet(pattern: Bytes, start: number, set: Uint8Array): number {
  let at = start
  const negated = pattern[at] === '^'
  if (negated) at++
  for (; at < pattern.length; at++) {
    if (pattern[at] === ']') break
    if (pattern[at] === '\\' && at + 1 < pattern.length) {
      set[pattern.charCodeAt(++at)] = 1
    } else if (pattern[at + 1] === '-' && at + 2 < pattern.length) {
      const ends = [pattern.charCodeAt(at), pattern.charCodeAt(at + 2)]
      set.fill(1, Math.min(...ends), Math.max(...ends) + 1)
      at += 2
    } else {
      set[pattern.charCodeAt(at)] = 1
    }
  }
  if (negated) for (let byte = 0; byte < 256; byte++) set[byte]! ^= 1
  return at
}

/** Number of comparisons that cost one unit of work. */
const turnsPerUnit = 2
/**
 * Number of comparisons after which a running match charges their cost. A match that exceeds the budget therefore stops
 * early.
 */
const turnsAtOnce = 4096

function matchParts(parts: readonly GlobPart[], text: Bytes, work: Work | undefined): boolean {
  // Redis accepts an empty text only for an empty pattern and for `*`. The caller handles `*`.
  if (text.length === 0) return parts.length === 0
  let part = 0
  let at = 0
  let runPart = -1
  let runAt = 0
  let turns = 0
  while (at < text.length) {
    if (++turns > turnsAtOnce) {
      work?.charge(turnsAtOnce / turnsPerUnit)
      turns = 0
    }
    const wanted = parts[part]
    if (wanted === 'run') {
      runPart = part++
      runAt = at
    } else if (wanted !== undefined && fits(wanted, text.charCodeAt(at))) {
      part++
      at++
    } else if (runPart >= 0) {
      part = runPart + 1
      at = ++runAt
    } else {
      break
    }
  }
  work?.charge(Math.ceil(turns / turnsPerUnit))
  if (at < text.length) return false
  while (parts[part] === 'run') part++
  return part === parts.length
}

function fits(part: Exclude<GlobPart, 'run'>, byte: number): boolean {
  if (typeof part === 'number') return part === byte
  return part === 'any' || part[byte] === 1
}
