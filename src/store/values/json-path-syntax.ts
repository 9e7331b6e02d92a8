import { type Bytes, latin1, text as toText } from '../../kernel/bytes.js'
import { JsonTextError, parseJson } from './json-text.js'
import type { Json } from './json-value.js'
import { compileRegex, type Regex } from './regex.js'

/** Parsed path: each segment selects from the values that the previous one selected, beginning at the root. */
export interface Path {
  /** Path as the client wrote it. JSON.GET with several paths uses this text as the key in its reply. */
  readonly text: Bytes
  /**
   * Whether the path has the legacy syntax without `$`, such as `.a.b`. For such a path, commands return one value
   * instead of an array of matches.
   */
  readonly legacy: boolean
  readonly segments: readonly Segment[]
  /** Whether every segment names one member, so that there is at most one match. */
  readonly single: boolean
}

export interface Segment {
  /** Whether the segment follows `..`, and therefore applies to a value and everything below it. */
  readonly deep: boolean
  readonly selectors: readonly Selector[]
}

export type Selector =
  | { readonly kind: 'name'; readonly name: Bytes }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly stop?: number; readonly step: number }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly test: PathTest }

export type PathTest =
  | { readonly kind: 'or' | 'and'; readonly tests: readonly PathTest[] }
  | { readonly kind: 'not'; readonly test: PathTest }
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'exists'; readonly operand: PathOperand }
  | { readonly kind: 'compare'; readonly operator: PathComparison; readonly left: Operand; readonly right: Operand }
  | { readonly kind: 'match'; readonly left: Operand; readonly pattern: Regex | PathOperand | undefined }

export type PathComparison = '==' | '!=' | '<' | '<=' | '>' | '>='
export type Operand = { readonly kind: 'literal'; readonly value: Json } | PathOperand
export interface PathOperand {
  readonly kind: 'path'
  /** Whether the path in a filter begins with `$` (the root of the document) instead of `@` (the tested member). */
  readonly fromRoot: boolean
  readonly segments: readonly Segment[]
  readonly single: boolean
}

/** Error for a text that is not a path in either syntax. `at` is the offset in bytes. */
export class JsonPathError extends Error {
  readonly at: number

  constructor(message: string, at: number) {
    super(`${message} at position ${at}`)
    this.name = 'JsonPathError'
    this.at = at
  }
}

/**
 * Parses a path in either syntax.
 * @throws JsonPathError when it is invalid
 */
export function readPath(text: Bytes): Path {
  const reader = new PathReader(text)
  // A path such as `$a` selects the member with the name `$a`. [store.md, last section]
  const legacy = !/^\$(?:[.[ \t\n\r]|$)/.test(text)
  const segments = legacy ? reader.legacyPath() : reader.dollarPath()
  return { text, legacy, segments, single: isSingle(segments) }
}

function isSingle(segments: readonly Segment[]): boolean {
  return segments.every(({ deep, selectors }) => {
    const kind = selectors[0]?.kind
    return !deep && selectors.length === 1 && (kind === 'name' || kind === 'index')
  })
}

/** Characters of an unquoted name as in RedisJSON; RFC 9535 allows neither a hyphen nor a leading digit. */
const nameChars = /[A-Za-z0-9_\-`~+#%$^/:\x80-\xff]*/y
const integerChars = /-?[0-9]+/y
const numberChars = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const wordChars = /(?:true|false|null)(?![A-Za-z0-9_])/y
const comparisonChars = /==|!=|<=|>=|=~|<|>/y
const blanks = /[ \t\n\r]*/y

/** Maximum nesting of parentheses, negations and filters inside filters. */
export const maxNesting = 64

class PathReader {
  readonly #source: Bytes
  #at = 0
  #nesting = 0

  constructor(source: Bytes) {
    this.#source = source
  }

  dollarPath(): Segment[] {
    this.#at = 1
    return this.#wholePath([])
  }

  /** Parses a legacy path. `.` is the root; a name at the start needs no dot. */
  legacyPath(): Segment[] {
    if (this.#source === '.') return []
    if (this.#sees('.') || this.#sees('[')) return this.#wholePath([])
    return this.#wholePath([{ deep: false, selectors: [this.#dotSelector()] }])
  }

  #wholePath(first: Segment[]): Segment[] {
    const segments = first.concat(this.#segments())
    if (this.#at < this.#source.length) throw this.#unexpected()
    return segments
  }

  #segments(): Segment[] {
    const segments: Segment[] = []
    for (;;) {
      const before = this.#at
      this.#read(blanks)
      const deep = this.#take('..')
      if (!deep && !this.#take('.') && !this.#sees('[')) {
        this.#at = before
        return segments
      }
      segments.push({ deep, selectors: this.#take('[') ? this.#bracketed() : [this.#dotSelector()] })
    }
  }

  #dotSelector(): Selector {
    if (this.#take('*')) return { kind: 'wildcard' }
    const name = this.#read(nameChars)
    if (!name) throw this.#expected('a name')
    return { kind: 'name', name }
  }

  #bracketed(): Selector[] {
    const selectors: Selector[] = []
    do {
      this.#read(blanks)
      selectors.push(this.#selector())
      this.#read(blanks)
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#expected('"," or "]"')
    return selectors
  }

  #selector(): Selector {
    if (this.#take('*')) return { kind: 'wildcard' }
    if (this.#take('?')) return { kind: 'filter', test: this.#nested(() => this.#or()) }
    if (this.#sees('"') || this.#sees("'")) return { kind: 'name', name: this.#string() }
    const start = this.#integer()
    this.#read(blanks)
    if (this.#take(':')) return this.#slice(start)
    if (start === undefined) throw this.#expected('a name, an index, a slice, a filter or "*"')
    return { kind: 'index', index: start }
  }

  /** Parses a slice after its first colon. */
  #slice(start: number | undefined): Selector {
    this.#read(blanks)
    const stop = this.#integer()
    this.#read(blanks)
    let step = 1
    if (this.#take(':')) {
      this.#read(blanks)
      step = this.#integer() ?? 1
    }
    return { kind: 'slice', step, ...(start !== undefined && { start }), ...(stop !== undefined && { stop }) }
  }

  #integer(): number | undefined {
    const at = this.#at
    const digits = this.#read(integerChars)
    if (!digits) return undefined
    const integer = Number(digits)
    if (!Number.isSafeInteger(integer)) throw new JsonPathError('index out of range', at)
    return integer + 0
  }

  #or(): PathTest {
    const tests = [this.#and()]
    while (this.#takeAfterBlanks('||')) tests.push(this.#and())
    return tests.length === 1 ? (tests[0] as PathTest) : { kind: 'or', tests }
  }

  #and(): PathTest {
    const tests = [this.#unary()]
    while (this.#takeAfterBlanks('&&')) tests.push(this.#unary())
    return tests.length === 1 ? (tests[0] as PathTest) : { kind: 'and', tests }
  }

  #unary(): PathTest {
    this.#read(blanks)
    if (this.#take('!')) return { kind: 'not', test: this.#nested(() => this.#unary()) }
    if (!this.#take('(')) return this.#comparison()
    const test = this.#nested(() => this.#or())
    if (!this.#takeAfterBlanks(')')) throw this.#expected('")"')
    return test
  }

  #nested(read: () => PathTest): PathTest {
    if (++this.#nesting > maxNesting) throw new JsonPathError('filter nested too deeply', this.#at)
    const test = read()
    this.#nesting--
    return test
  }

  #comparison(): PathTest {
    const left = this.#operand()
    const before = this.#at
    this.#read(blanks)
    const operator = this.#read(comparisonChars) as PathComparison | '=~' | ''
    if (operator === '') {
      this.#at = before
      return this.#bareOperand(left)
    }
    this.#read(blanks)
    if (operator === '=~') return { kind: 'match', left, pattern: this.#pattern() }
    return { kind: 'compare', operator, left, right: this.#operand() }
  }

  #bareOperand(operand: Operand): PathTest {
    if (operand.kind === 'path') return { kind: 'exists', operand }
    if (typeof operand.value === 'boolean') return { kind: 'constant', value: operand.value }
    throw this.#expected('a comparison')
  }

  /** Parses the right side of `=~`. An invalid pattern matches nothing. [RedisJSON src] */
  #pattern(): Regex | PathOperand | undefined {
    if (this.#sees('"') || this.#sees("'")) return compileRegex(toText(this.#patternString()))
    const operand = this.#operand()
    return operand.kind === 'path' ? operand : undefined
  }

  #operand(): Operand {
    if (this.#sees('@') || this.#sees('$')) {
      const fromRoot = this.#source.charAt(this.#at++) === '$'
      const segments = this.#segments()
      return { kind: 'path', fromRoot, segments, single: isSingle(segments) }
    }
    if (this.#sees('"') || this.#sees("'")) return { kind: 'literal', value: this.#string() }
    const at = this.#at
    const literal = this.#read(numberChars) || this.#read(wordChars)
    if (!literal) throw this.#expected('a path or a value')
    try {
      return { kind: 'literal', value: parseJson(literal) }
    } catch (error) {
      if (error instanceof JsonTextError) throw new JsonPathError('invalid number', at)
      throw error
    }
  }

  /** Parses a name or text in single or double quotes, with the escapes of JSON and `\'`. */
  #string(): Bytes {
    const at = this.#at
    const raw = this.#quoted()
    if (!/["\\\x00-\x1f]/.test(raw)) return raw
    // Converts the text to a JSON string, in which double quotes need an escape but single quotes do not.
    const json = raw.replace(/\\[\s\S]|"/g, (found) => (found === "\\'" ? "'" : found === '"' ? '\\"' : found))
    try {
      return parseJson(latin1(`"${json}"`)) as Bytes
    } catch (error) {
      if (error instanceof JsonTextError) throw new JsonPathError('invalid string', at)
      throw error
    }
  }

  /** Parses a pattern. Only `\\`, `\"` and `\'` are escapes. Other sequences such as `\d` belong to the pattern. */
  #patternString(): Bytes {
    return latin1(this.#quoted().replace(/\\(["'\\])/g, '$1'))
  }

  /** Returns the text between the quotes. Its escapes stay unchanged. */
  #quoted(): Bytes {
    const quote = this.#source.charAt(this.#at)
    const start = this.#at + 1
    for (let at = start; at < this.#source.length; at++) {
      const char = this.#source.charAt(at)
      if (char === '\\') at++
      else if (char === quote) {
        this.#at = at + 1
        return latin1(this.#source.slice(start, at))
      }
    }
    throw new JsonPathError('string without end', start - 1)
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false
    this.#at += text.length
    return true
  }

  #takeAfterBlanks(text: string): boolean {
    const before = this.#at
    this.#read(blanks)
    if (this.#take(text)) return true
    this.#at = before
    return false
  }

  /** Consumes and returns the text that a sticky pattern matches. The text may be empty. */
  #read(pattern: RegExp): Bytes {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0] ?? ''
    this.#at += found.length
    return latin1(found)
  }

  #expected(what: string): JsonPathError {
    return new JsonPathError(`expected ${what}`, this.#at)
  }

  #unexpected(): JsonPathError {
    return new JsonPathError(`unexpected ${JSON.stringify(this.#source.charAt(this.#at))}`, this.#at)
  }
}
