import { type Bytes, fromArray, latin1, toArray } from '../../kernel/bytes.js'
import { globOf } from '../../kernel/glob.js'
import type { Work } from '../../kernel/work.js'
import { toInt } from '../command/arguments.js'
import { invalidRegex, replyError } from '../command/errors.js'
import { BackReferenceError, compilePosixRegex } from '../values/posix-regex.js'
import { PatternError } from '../values/regex.js'

// Predicates of ARGREP. [array.md 3]

/** Maximum number of predicates in one command. */
export const maxPredicates = 250
/** Maximum size in bytes of a regular expression. */
export const maxRegex = 2048

export interface Grep {
  readonly matches: (value: Bytes) => boolean
  readonly withValues: boolean
  readonly limit: number
}

type Test = (value: Bytes) => boolean

/** Creates the test of a predicate. With `NOCASE`, the pattern and the values are already in lower case. */
type TestMaker = (pattern: Bytes, work: Work, ignoreCase: boolean) => Test

const makers: Readonly<Record<string, TestMaker>> = {
  EXACT: exactTest,
  MATCH: substringTest,
  GLOB: globTest,
  RE: regexTest,
}

/** Parses the arguments of ARGREP after the range: predicates and options in any order. */
export function predicatesOf(words: readonly Bytes[], work: Work): Grep {
  const predicates: { readonly make: TestMaker; readonly pattern: Bytes }[] = []
  let isAnd = false
  let ignoreCase = false
  let withValues = false
  let limit = Number.POSITIVE_INFINITY
  let at = 0
  const next = (): Bytes => {
    const word = words[at++]
    if (word === undefined) throw replyError('syntax')
    return word
  }
  while (at < words.length) {
    const keyword = next().toUpperCase()
    const make = Object.hasOwn(makers, keyword) ? makers[keyword] : undefined
    if (make !== undefined) predicates.push({ make, pattern: next() })
    else if (keyword === 'AND' || keyword === 'OR') isAnd = keyword === 'AND'
    else if (keyword === 'NOCASE') ignoreCase = true
    else if (keyword === 'WITHVALUES') withValues = true
    else if (keyword === 'LIMIT') limit = toLimit(next())
    else throw replyError('syntax')
    if (predicates.length > maxPredicates) throw replyError('arrayPredicates')
  }
  if (predicates.length === 0) throw replyError('syntax')
  const tests = predicates.map(({ make, pattern }) => make(pattern, work, ignoreCase))
  const matches: Test = (value) => (isAnd ? tests.every((test) => test(value)) : tests.some((test) => test(value)))
  if (!ignoreCase) return { matches, withValues, limit }
  return { matches: (value) => matches(lowered(value, work)), withValues, limit }
}

function toLimit(word: Bytes): number {
  const limit = toInt(word)
  if (limit <= 0) throw replyError('arrayLimit')
  return limit
}

const isAscii = /^[\x00-\x7f]*$/

/** Converts ASCII letters to lower case. Other bytes, such as parts of a UTF-8 character, do not change. */
function lowered(text: Bytes, work: Work): Bytes {
  work.charge(1 + (text.length >>> 3))
  if (isAscii.test(text)) return latin1(text.toLowerCase())
  const bytes = toArray(text)
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! >= 0x41 && bytes[at]! <= 0x5a) bytes[at]! |= 0x20
  return fromArray(bytes)
}

function exactTest(pattern: Bytes, work: Work, ignoreCase: boolean): Test {
  const wanted = ignoreCase ? lowered(pattern, work) : pattern
  return (value) => {
    work.charge(1 + (value.length >>> 5))
    return value === wanted
  }
}

/**
 * Returns a test whether a value contains the pattern. The algorithm of Knuth, Morris and Pratt needs linear time. The
 * method `includes()` of strings can need time in proportion to both lengths multiplied.
 */
function substringTest(pattern: Bytes, work: Work, ignoreCase: boolean): Test {
  const wanted = ignoreCase ? lowered(pattern, work) : pattern
  work.charge(1 + (wanted.length >>> 3))
  const borders = bordersOf(wanted)
  return (value) => {
    work.charge(1 + (value.length >>> 3))
    let matched = 0
    for (let at = 0; at < value.length && matched < wanted.length; at++) {
      const byte = value.charCodeAt(at)
      while (matched > 0 && wanted.charCodeAt(matched) !== byte) matched = borders[matched - 1]!
      if (wanted.charCodeAt(matched) === byte) matched++
    }
    return matched === wanted.length
  }
}

/** Returns, for each beginning of a text, the length of its longest proper beginning that is also its end. */
function bordersOf(text: Bytes): Int32Array {
  const borders = new Int32Array(text.length)
  let length = 0
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(length) !== text.charCodeAt(at)) length = borders[length - 1]!
    if (text.charCodeAt(length) === text.charCodeAt(at)) length++
    borders[at] = length
  }
  return borders
}

function globTest(pattern: Bytes, work: Work, ignoreCase: boolean): Test {
  const matches = globOf(ignoreCase ? lowered(pattern, work) : pattern, work)
  return (value) => {
    work.charge(1)
    return matches(value, work)
  }
}

function regexTest(pattern: Bytes, work: Work, ignoreCase: boolean): Test {
  if (pattern.length === 0) throw replyError('arrayRegexEmpty')
  if (pattern.length > maxRegex) throw replyError('arrayRegexLength')
  try {
    const regex = compilePosixRegex(pattern, ignoreCase)
    work.charge(regex.size)
    const spend = (steps: number): void => work.charge(steps)
    return (value) => {
      work.charge(1 + (value.length >>> 5))
      return regex.test(value, spend)
    }
  } catch (error) {
    if (error instanceof BackReferenceError) throw replyError('arrayBackReference')
    throw error instanceof PatternError ? invalidRegex(error.message) : error
  }
}
