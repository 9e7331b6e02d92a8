import { type Bytes, toArray } from '../../kernel/bytes.js'
import {
  type CharTest,
  equals,
  isAsciiWord,
  maxNesting,
  PatternError,
  PatternMatcher,
  type RegexNode,
} from './regex.js'

/** Error for a reference to a group, such as `\1`. Such an expression cannot be matched in linear time. */
export class BackReferenceError extends PatternError {}

/** Compiled POSIX expression, which is matched byte by byte. */
export interface PosixRegex {
  /** Number of states, to which the work of each byte is proportional. */
  readonly size: number
  /** Returns whether the expression matches anywhere in the text; `spend` receives the units of work of each step. */
  test(text: Bytes, spend: (steps: number) => void): boolean
}

/**
 * Compiles an extended regular expression of POSIX. As in the TRE library, which redis-server uses, a backslash also
 * introduces classes such as `\w`, word boundaries and control characters.
 * @param ignoreCase whether ASCII letters match in both cases
 * @throws PatternError when the expression is invalid; the message is the reason in the words of POSIX
 */
export function compilePosixRegex(expression: Bytes, ignoreCase: boolean): PosixRegex {
  const matcher = new PatternMatcher(new PosixReader(expression, ignoreCase).read())
  return { size: matcher.size, test: (text, spend) => matcher.test(toArray(text), spend) }
}

/** Largest count in `{m,n}`, which POSIX calls RE_DUP_MAX. */
export const maxPosixRepeat = 255

const badRepetition = 'Invalid use of repetition operators'
const badBounds = 'Invalid contents of {}'

class PosixReader {
  readonly #text: string
  readonly #ignoreCase: boolean
  #at = 0
  /** Number of groups around the current position. */
  #nesting = 0

  constructor(text: string, ignoreCase: boolean) {
    this.#text = text
    this.#ignoreCase = ignoreCase
  }

  read(): RegexNode {
    return this.#choice()
  }

  #choice(): RegexNode {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    for (;;) {
      const char = this.#text[this.#at]
      // Without an open group, POSIX reads a closing parenthesis as an ordinary character.
      if (char === undefined || char === '|' || (char === ')' && this.#nesting > 0)) return { kind: 'sequence', parts }
      parts.push(this.#repeated(this.#atom()))
    }
  }

  #repeated(part: RegexNode): RegexNode {
    let repeated = part
    for (let count = 0; ; count++) {
      const bounds = this.#quantifier()
      if (bounds === undefined) return repeated
      if (count >= maxNesting) throw new PatternError(badRepetition)
      repeated = { kind: 'repeat', part: repeated, least: bounds[0], most: bounds[1] }
    }
  }

  #quantifier(): readonly [least: number, most: number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    if (!this.#take('{')) return undefined
    const first = this.#count()
    const hasComma = this.#take(',')
    const second = hasComma ? this.#count() : first
    if (this.#at === this.#text.length) throw new PatternError("Missing '}'")
    if (!this.#take('}') || (first === undefined && second === undefined)) throw new PatternError(badBounds)
    const least = first ?? 0
    const most = second ?? Number.POSITIVE_INFINITY
    if (most < least) throw new PatternError(badBounds)
    return [least, most]
  }

  #count(): number | undefined {
    const start = this.#at
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++
    if (this.#at === start) return undefined
    const count = Number(this.#text.slice(start, this.#at))
    if (count > maxPosixRepeat) throw new PatternError(badBounds)
    return count
  }

  #atom(): RegexNode {
    const char = this.#text[this.#at++]!
    if (char === '(') return this.#group()
    if (char === '[') return this.#bracket()
    if (char === '.') return { kind: 'char', test: () => true }
    if (char === '^') return { kind: 'assert', assertion: 'text-start' }
    if (char === '$') return { kind: 'assert', assertion: 'text-end' }
    if (char === '\\') return this.#escape()
    if (char === '*' || char === '+' || char === '?' || char === '{') throw new PatternError(badRepetition)
    return this.#literal(char.charCodeAt(0))
  }

  #group(): RegexNode {
    if (++this.#nesting > maxNesting) throw new PatternError(`Groups are nested deeper than ${maxNesting}`)
    const pattern = this.#choice()
    this.#nesting--
    if (!this.#take(')')) throw new PatternError("Missing ')'")
    return pattern
  }

  #escape(): RegexNode {
    const char = this.#text[this.#at++]
    if (char === undefined) throw new PatternError('Trailing backslash')
    if (char >= '1' && char <= '9') throw new BackReferenceError('Back-references are not supported')
    if (char === 'x' || char === 'Q') throw new PatternError(`Unsupported escape \\${char}`)
    if (char === 'b') return { kind: 'assert', assertion: 'ascii-word-edge' }
    if (char === 'B') return { kind: 'assert', assertion: 'no-ascii-word-edge' }
    if (char === '<') return { kind: 'assert', assertion: 'ascii-word-start' }
    if (char === '>') return { kind: 'assert', assertion: 'ascii-word-end' }
    const test = classEscapes.get(char)
    return test === undefined ? this.#literal(controlEscapes.get(char) ?? char.charCodeAt(0)) : { kind: 'char', test }
  }

  #literal(byte: number): RegexNode {
    const other = otherCase(byte)
    if (!this.#ignoreCase || other === undefined) return { kind: 'char', test: equals(byte) }
    return { kind: 'char', test: (one) => one === byte || one === other }
  }

  #bracket(): RegexNode {
    const negated = this.#take('^')
    const bytes = new Uint8Array(256)
    // A closing bracket in the first place is an ordinary character.
    for (let first = true; first || this.#text[this.#at] !== ']'; first = false) this.#bracketItem(bytes)
    this.#at++
    if (this.#ignoreCase) addOtherCases(bytes)
    const wanted = negated ? 0 : 1
    return { kind: 'char', test: (byte) => bytes[byte] === wanted }
  }

  #bracketItem(bytes: Uint8Array): void {
    const isClass = this.#text.startsWith('[:', this.#at)
    const low = isClass ? this.#namedClass(bytes) : this.#bracketByte()
    const next = this.#text[this.#at + 1]
    if (this.#text[this.#at] !== '-' || next === undefined || next === ']') {
      if (low !== undefined) bytes[low] = 1
      return
    }
    this.#at++
    const high = this.#text.startsWith('[:', this.#at) ? undefined : this.#bracketByte()
    if (low === undefined || high === undefined || high < low) throw new PatternError('Invalid character range')
    bytes.fill(1, low, high + 1)
  }

  #bracketByte(): number {
    if (this.#at >= this.#text.length) throw new PatternError("Missing ']'")
    if (this.#text.startsWith('[.', this.#at) || this.#text.startsWith('[=', this.#at))
      throw new PatternError('Unknown collating element')
    return this.#text.charCodeAt(this.#at++)
  }

  #namedClass(bytes: Uint8Array): undefined {
    const end = this.#text.indexOf(':]', this.#at + 2)
    if (end < 0) throw new PatternError("Missing ']'")
    const test = namedClasses.get(this.#text.slice(this.#at + 2, end))
    if (test === undefined) throw new PatternError('Unknown character class name')
    for (let byte = 0; byte < 256; byte++) if (test(byte)) bytes[byte] = 1
    this.#at = end + 2
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }
}

/** Returns the same ASCII letter in the other case. */
function otherCase(byte: number): number | undefined {
  return isAlpha(byte) ? byte ^ 0x20 : undefined
}

function addOtherCases(bytes: Uint8Array): void {
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const lower = upper | 0x20
    if (bytes[upper] === 1 || bytes[lower] === 1) bytes[upper] = bytes[lower] = 1
  }
}

const isUpper: CharTest = (byte) => byte >= 0x41 && byte <= 0x5a
const isLower: CharTest = (byte) => byte >= 0x61 && byte <= 0x7a
const isAlpha: CharTest = (byte) => isUpper(byte) || isLower(byte)
const isDigit: CharTest = (byte) => byte >= 0x30 && byte <= 0x39
const isAlnum: CharTest = (byte) => isAlpha(byte) || isDigit(byte)
const isSpace: CharTest = (byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
const isGraph: CharTest = (byte) => byte > 0x20 && byte < 0x7f

const namedClasses: ReadonlyMap<string, CharTest> = new Map<string, CharTest>([
  ['alpha', isAlpha],
  ['digit', isDigit],
  ['alnum', isAlnum],
  ['upper', isUpper],
  ['lower', isLower],
  ['space', isSpace],
  ['blank', (byte) => byte === 0x20 || byte === 0x09],
  ['punct', (byte) => isGraph(byte) && !isAlnum(byte)],
  ['xdigit', (byte) => isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)],
  ['cntrl', (byte) => byte < 0x20 || byte === 0x7f],
  ['graph', isGraph],
  ['print', (byte) => byte === 0x20 || isGraph(byte)],
])

const classEscapes: ReadonlyMap<string, CharTest> = new Map<string, CharTest>([
  ['w', isAsciiWord],
  ['W', (byte) => !isAsciiWord(byte)],
  ['d', isDigit],
  ['D', (byte) => !isDigit(byte)],
  ['s', isSpace],
  ['S', (byte) => !isSpace(byte)],
])

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['e', 0x1b],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
])
