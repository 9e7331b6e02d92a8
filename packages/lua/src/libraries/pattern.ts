import { hostError } from '../runtime/activation.js'
import type { LuaValue } from '../runtime/lua-value.js'
import { charge } from '../runtime/steps.js'

/** Patterns of Lua: character classes, sets, `* + - ?`, captures, `%b`, `%f`, `%1`. All positions count from 0. */

const maxCaptures = 32
/** Maximum number of nested calls of `#match`. Each one uses one to three JavaScript frames. */
export const maxNesting = 200
/** Values in place of a capture's length: the capture is not closed yet, or it is a position capture. */
const open = -1
const position = -2

/** Code of `%`. */
const percent = 37

export class Matcher {
  /** Number of captures of the current match. */
  level = 0
  readonly #starts: number[] = []
  readonly #lengths: number[] = []
  #nesting = 0

  constructor(
    readonly source: string,
    readonly pattern: string,
  ) {}

  /**
   * Returns the position after the match, or -1 if there is no match.
   * @param at where the match starts in the string
   * @param from where the pattern starts
   */
  match(at: number, from: number): number {
    this.level = 0
    this.#nesting = 0
    this.#tick()
    return this.#match(at, from)
  }

  /** Returns the capture with this index. If the pattern has no captures, capture 0 is the whole match. */
  capture(index: number, start: number, end: number): LuaValue {
    if (index >= this.level) {
      if (index === 0) return this.source.slice(start, end)
      throw hostError('invalid capture index')
    }
    const length = this.#lengths[index]!
    if (length === open) throw hostError('unfinished capture')
    const from = this.#starts[index]!
    return length === position ? from + 1 : this.source.slice(from, from + length)
  }

  /** Returns all captures. With `orWhole`, a pattern without captures returns the whole match. */
  captures(start: number, end: number, orWhole: boolean): LuaValue[] {
    const count = this.level === 0 && orWhole ? 1 : this.level
    const values: LuaValue[] = []
    for (let index = 0; index < count; index++) values.push(this.capture(index, start, end))
    return values
  }

  #tick(): void {
    charge(3)
  }

  #match(start: number, from: number): number {
    if (++this.#nesting > maxNesting) throw hostError('pattern too complex')
    const end = this.#matchItems(start, from)
    this.#nesting--
    return end
  }

  #matchItems(start: number, from: number): number {
    const { source, pattern } = this
    let at = start
    let item = from
    for (;;) {
      if (item >= pattern.length) return at
      this.#tick()
      const code = pattern.charCodeAt(item)
      if (code === 40) {
        return pattern.charCodeAt(item + 1) === 41
          ? this.#startCapture(at, item + 2, position)
          : this.#startCapture(at, item + 1, open)
      }
      if (code === 41) return this.#endCapture(at, item + 1)
      if (code === 36 && item + 1 === pattern.length) return at === source.length ? at : -1
      if (code === percent) {
        const next = pattern.charCodeAt(item + 1)
        if (next === 98) {
          at = this.#balanced(at, item + 2)
          if (at < 0) return -1
          item += 4
          continue
        }
        if (next === 102) {
          item += 2
          if (pattern.charCodeAt(item) !== 91) throw hostError("missing '[' after '%f' in pattern")
          const end = this.#itemEnd(item)
          const before = at === 0 ? 0 : source.charCodeAt(at - 1)
          // As in C, a zero byte follows the end of the string.
          const here = at < source.length ? source.charCodeAt(at) : 0
          if (this.#inSet(before, item, end - 1) || !this.#inSet(here, item, end - 1)) return -1
          item = end
          continue
        }
        if (isDigit(next)) {
          at = this.#sameAsCapture(at, next)
          if (at < 0) return -1
          item += 2
          continue
        }
      }
      const end = this.#itemEnd(item)
      const repeat = pattern.charCodeAt(end)
      if (repeat === 63) {
        if (at < source.length && this.#single(at, item, end)) {
          const result = this.#match(at + 1, end + 1)
          if (result >= 0) return result
        }
        item = end + 1
        continue
      }
      if (repeat === 42) return this.#most(at, item, end, 0)
      if (repeat === 43) return this.#most(at, item, end, 1)
      if (repeat === 45) return this.#least(at, item, end)
      if (at >= source.length || !this.#single(at, item, end)) return -1
      at++
      item = end
    }
  }

  /** Matches as many repetitions as possible. While the remaining pattern does not match, tries one repetition less. */
  #most(start: number, item: number, end: number, least: number): number {
    const { source } = this
    let count = 0
    while (start + count < source.length && this.#single(start + count, item, end)) {
      count++
      this.#tick()
    }
    for (; count >= least; count--) {
      const result = this.#match(start + count, end + 1)
      if (result >= 0) return result
    }
    return -1
  }

  #least(start: number, item: number, end: number): number {
    let at = start
    for (;;) {
      const result = this.#match(at, end + 1)
      if (result >= 0) return result
      if (at >= this.source.length || !this.#single(at, item, end)) return -1
      at++
    }
  }

  #startCapture(at: number, item: number, length: number): number {
    if (this.level >= maxCaptures) throw hostError('too many captures')
    this.#starts[this.level] = at
    this.#lengths[this.level] = length
    this.level++
    const result = this.#match(at, item)
    if (result < 0) this.level--
    return result
  }

  #endCapture(at: number, item: number): number {
    const index = this.#capturesToClose()
    this.#lengths[index] = at - this.#starts[index]!
    const result = this.#match(at, item)
    if (result < 0) this.#lengths[index] = open
    return result
  }

  #capturesToClose(): number {
    for (let index = this.level - 1; index >= 0; index--) if (this.#lengths[index] === open) return index
    throw hostError('invalid pattern capture')
  }

  #sameAsCapture(at: number, digit: number): number {
    const index = digit - 49
    if (index < 0 || index >= this.level || this.#lengths[index] === open) throw hostError('invalid capture index')
    const length = this.#lengths[index]!
    const start = this.#starts[index]!
    const { source } = this
    // A position capture has no text. The reference implementation uses a huge length for such a capture, so `%1` never
    // matches.
    if (length === position || source.length - at < length) return -1
    charge(length >> 6)
    return source.slice(at, at + length) === source.slice(start, start + length) ? at + length : -1
  }

  #balanced(at: number, item: number): number {
    const { source, pattern } = this
    if (item + 1 >= pattern.length) throw hostError('unbalanced pattern')
    const opening = pattern.charCodeAt(item)
    const closing = pattern.charCodeAt(item + 1)
    if (at >= source.length || source.charCodeAt(at) !== opening) return -1
    let depth = 1
    for (let index = at + 1; index < source.length; index++) {
      this.#tick()
      const code = source.charCodeAt(index)
      if (code === closing) {
        if (--depth === 0) return index + 1
      } else if (code === opening) {
        depth++
      }
    }
    return -1
  }

  /** Returns the end of the character class or set that begins at `item`. */
  #itemEnd(item: number): number {
    const { pattern } = this
    const code = pattern.charCodeAt(item)
    if (code === percent) {
      if (item + 1 >= pattern.length) throw hostError("malformed pattern (ends with '%')")
      return item + 2
    }
    if (code !== 91) return item + 1
    let at = item + 1
    if (pattern.charCodeAt(at) === 94) at++
    // The first character of a set belongs to the set, even if it is `]`.
    do {
      if (at >= pattern.length) throw hostError("malformed pattern (missing ']')")
      if (pattern.charCodeAt(at++) === percent && at < pattern.length) at++
    } while (pattern.charCodeAt(at) !== 93)
    return at + 1
  }

  #single(at: number, item: number, end: number): boolean {
    const { pattern } = this
    const char = this.source.charCodeAt(at)
    const code = pattern.charCodeAt(item)
    switch (code) {
      case 46:
        return true
      case percent:
        return isInClass(char, pattern.charCodeAt(item + 1))
      case 91:
        return this.#inSet(char, item, end - 1)
      default:
        return char === code
    }
  }

  /** Returns whether a set contains a character. The set begins with `[` at `item` and ends with `]` at `last`. */
  #inSet(char: number, item: number, last: number): boolean {
    const { pattern } = this
    let at = item + 1
    const isNegated = pattern.charCodeAt(at) === 94
    if (isNegated) at++
    for (; at < last; at++) {
      const code = pattern.charCodeAt(at)
      if (code === percent) {
        at++
        if (isInClass(char, pattern.charCodeAt(at))) return !isNegated
      } else if (pattern.charCodeAt(at + 1) === 45 && at + 2 < last) {
        if (code <= char && char <= pattern.charCodeAt(at + 2)) return !isNegated
        at += 2
      } else if (code === char) {
        return !isNegated
      }
    }
    return isNegated
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90
}

/**
 * Returns whether a character belongs to a class such as `%a`. The classes are those of C's `ctype.h` in the C locale.
 * An upper-case letter such as `%A` negates the class.
 */
function isInClass(char: number, letter: number): boolean {
  const result = classOf(char, letter | 32)
  if (result === undefined || !(isLower(letter) || isUpper(letter))) return char === letter
  return isUpper(letter) ? !result : result
}

function classOf(char: number, letter: number): boolean | undefined {
  switch (letter) {
    case 97: // a
      return isLower(char) || isUpper(char)
    case 99: // c
      return char < 32 || char === 127
    case 100: // d
      return isDigit(char)
    case 108: // l
      return isLower(char)
    case 112: // p
      return isPunctuation(char)
    case 115: // s
      return char === 32 || (char >= 9 && char <= 13)
    case 117: // u
      return isUpper(char)
    case 119: // w
      return isDigit(char) || isLower(char) || isUpper(char)
    case 120: // x
      return isDigit(char) || (char >= 97 && char <= 102) || (char >= 65 && char <= 70)
    case 122: // z
      return char === 0
    default:
      return undefined
  }
}

function isPunctuation(char: number): boolean {
  return (
    (char >= 33 && char <= 47) ||
    (char >= 58 && char <= 64) ||
    (char >= 91 && char <= 96) ||
    (char >= 123 && char <= 126)
  )
}
