import { parseNumber } from '../runtime/number-text.js'

/**
 * Error for an invalid source. The message is that of the reference compiler: `user_script:1: '=' expected near 'x'`.
 */
export class LuaSyntaxError {
  constructor(
    readonly message: string,
    readonly line: number,
    /**
     * Column of the invalid token, from 1, for callers that report the column and the token separately. The message
     * does not contain the column.
     */
    readonly column: number,
    readonly near: string | undefined,
  ) {}
}

/**
 * Kind of a token. Each keyword and each symbol is its own kind. All names have one kind, all strings have another
 * kind, and all numbers have a third kind. Only tokens of these three kinds have a value.
 */
export type TokenKind = string

const keywords: ReadonlySet<string> = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)

/** Kinds of names, strings and numbers, and of the end of the source, as error messages show them. */
export const name = '<name>'
export const string = '<string>'
export const number = '<number>'
export const endOfSource = '<eof>'
const zeroByte = 'char(0)'

/** Reads the tokens of a source one by one. It can look ahead by one token. */
export class Lexer {
  readonly chunk: string
  readonly #source: string
  #at = 0
  #lineStart = 0
  #tokenStart = 0
  /** Line of the current token. For a long string, the line where it ends. */
  line = 1
  /** Line where the previous token ended. */
  lastLine = 1
  kind: TokenKind = endOfSource
  text = ''
  value = 0
  #column = 1
  #preview: Saved | undefined
  readonly #interned = new Map<string, string>()

  constructor(source: string, chunk: string) {
    this.#source = source
    this.chunk = chunk
    this.next()
  }

  next(): void {
    this.lastLine = this.line
    const preview = this.#preview
    if (preview !== undefined) {
      this.#preview = undefined
      this.#restore(preview)
    } else {
      this.kind = this.#read()
    }
  }

  /** Returns the kind of the token after the current one. */
  peek(): TokenKind {
    const current = this.#save()
    this.kind = this.#read()
    this.#preview = this.#save()
    const { kind } = this
    this.#restore(current)
    return kind
  }

  #save(): Saved {
    const { kind, text, value, line } = this
    return { kind, text, value, line, column: this.#column, start: this.#tokenStart, at: this.#at }
  }

  #restore(saved: Saved): void {
    this.kind = saved.kind
    this.text = saved.text
    this.value = saved.value
    this.line = saved.line
    this.#column = saved.column
    this.#tokenStart = saved.start
    this.#at = saved.at
  }

  /** Returns an error at the current token. */
  error(message: string): LuaSyntaxError {
    // If the reference compiler finds a zero byte, its error names no token.
    if (this.kind === zeroByte) return this.errorWithoutToken(message)
    return this.#errorNear(message, this.#currentText())
  }

  errorWithoutToken(message: string): LuaSyntaxError {
    return new LuaSyntaxError(`${this.chunk}:${this.line}: ${message}`, this.line, this.#column, undefined)
  }

  #errorNear(message: string, token: string): LuaSyntaxError {
    const near = cString(token)
    return new LuaSyntaxError(`${this.chunk}:${this.line}: ${message} near '${near}'`, this.line, this.#column, near)
  }

  #currentText(): string {
    const { kind } = this
    if (kind === name || kind === string || kind === number) return this.#source.slice(this.#tokenStart, this.#at)
    return kind
  }

  /** Returns one object for all equal names and short strings. Engines can then compare them by address. */
  #intern(text: string): string {
    if (text.length > 40) return text
    const known = this.#interned.get(text)
    if (known !== undefined) return known
    // Engines store each property name once, and library tables use property names as keys. So return the string that
    // the engine has stored.
    const unique = Object.keys({ [text]: 0 })[0]!
    this.#interned.set(text, unique)
    return unique
  }

  #skipLine(): void {
    const source = this.#source
    while (this.#at < source.length && !isLineEnd(source.charCodeAt(this.#at))) this.#at++
  }

  /** Skips one line end: LF, CR, CR LF or LF CR. */
  #lineEnd(): void {
    const source = this.#source
    const one = source.charCodeAt(this.#at++)
    const two = source.charCodeAt(this.#at)
    if (isLineEnd(two) && two !== one) this.#at++
    this.line++
    this.#lineStart = this.#at
  }

  #read(): TokenKind {
    const source = this.#source
    for (;;) {
      const at = this.#at
      const code = source.charCodeAt(at)
      this.#tokenStart = at
      this.#column = at - this.#lineStart + 1
      if (isLetter(code)) return this.#readName()
      if (isDigit(code)) return this.#readNumber()
      switch (code) {
        case 10:
        case 13:
          this.#lineEnd()
          continue
        case 32:
        case 9:
        case 11:
        case 12:
          this.#at++
          continue
        case 45:
          if (source.charCodeAt(at + 1) !== 45) return this.#symbol(1)
          this.#skipComment()
          continue
        case 91: {
          const level = this.#bracketLevel()
          if (level >= 0) return this.#readLong(level, 'string')
          if (level === -1) return this.#symbol(1)
          this.#at = at - level
          throw this.#errorNear('invalid long string delimiter', source.slice(at, this.#at))
        }
        case 61:
        case 60:
        case 62:
          return this.#symbol(source.charCodeAt(at + 1) === 61 ? 2 : 1)
        case 126:
          return this.#symbol(source.charCodeAt(at + 1) === 61 ? 2 : 1)
        case 34:
        case 39:
          return this.#readString(code)
        case 46:
          if (isDigit(source.charCodeAt(at + 1))) return this.#readNumber()
          if (source.charCodeAt(at + 1) !== 46) return this.#symbol(1)
          return this.#symbol(source.charCodeAt(at + 2) === 46 ? 3 : 2)
        default:
          if (at >= source.length) return endOfSource
          this.#at++
          // Error messages show a control character as its code.
          return code < 32 || code === 127 ? `char(${code})` : source.charAt(at)
      }
    }
  }

  #symbol(length: number): TokenKind {
    const from = this.#at
    this.#at += length
    return this.#source.slice(from, this.#at)
  }

  #readName(): TokenKind {
    const source = this.#source
    let at = this.#at + 1
    for (;;) {
      const code = source.charCodeAt(at)
      if (!isLetter(code) && !isDigit(code)) break
      at++
    }
    const text = source.slice(this.#at, at)
    this.#at = at
    if (keywords.has(text)) return text
    this.text = this.#intern(text)
    return name
  }

  /**
   * Reads all characters that can belong to a number. As in the reference compiler, the number is checked afterwards.
   */
  #readNumber(): TokenKind {
    const source = this.#source
    let at = this.#at
    while (isDigit(source.charCodeAt(at)) || source.charCodeAt(at) === 46) at++
    if ((source.charCodeAt(at) | 32) === 101) {
      at++
      if (source.charCodeAt(at) === 43 || source.charCodeAt(at) === 45) at++
    }
    while (isDigit(source.charCodeAt(at)) || isLetter(source.charCodeAt(at))) at++
    const text = source.slice(this.#at, at)
    this.#at = at
    const value = parseNumber(text)
    if (value === undefined) throw this.#errorNear('malformed number', text)
    this.value = value
    return number
  }

  /**
   * Returns the level of a long bracket: the number of `=` in `[==[`. Returns -1 for a single bracket, and a lower
   * number for an incomplete one.
   */
  #bracketLevel(): number {
    const source = this.#source
    const bracket = source.charCodeAt(this.#at)
    let at = this.#at + 1
    while (source.charCodeAt(at) === 61) at++
    const count = at - this.#at - 1
    return source.charCodeAt(at) === bracket ? count : -count - 1
  }

  #skipComment(): void {
    this.#at += 2
    if (this.#source.charCodeAt(this.#at) === 91) {
      const level = this.#bracketLevel()
      if (level >= 0) {
        this.#readLong(level, 'comment')
        return
      }
    }
    this.#skipLine()
  }

  #readLong(level: number, what: 'string' | 'comment'): TokenKind {
    const source = this.#source
    this.#at += level + 2
    if (isLineEnd(source.charCodeAt(this.#at))) this.#lineEnd()
    let text = ''
    let from = this.#at
    for (;;) {
      const at = this.#at
      const code = source.charCodeAt(at)
      if (at >= source.length) throw this.#errorNear(`unfinished long ${what}`, endOfSource)
      if (code === 93 && this.#bracketLevel() === level) {
        text += source.slice(from, at)
        this.#at = at + level + 2
        this.text = this.#intern(text)
        return string
      }
      if (isLineEnd(code)) {
        text += `${source.slice(from, at)}\n`
        this.#lineEnd()
        from = this.#at
      } else {
        this.#at++
      }
    }
  }

  #readString(quote: number): TokenKind {
    const source = this.#source
    let from = ++this.#at
    let text = ''
    for (;;) {
      const at = this.#at
      const code = source.charCodeAt(at)
      if (code === quote) {
        text += source.slice(from, at)
        this.#at++
        this.text = this.#intern(text)
        return string
      }
      if (at >= source.length) throw this.#errorNear('unfinished string', endOfSource)
      if (isLineEnd(code)) throw this.#errorNear('unfinished string', this.#opened(text + source.slice(from, at)))
      if (code === 92) {
        text += source.slice(from, at)
        this.#at++
        text += this.#readEscape(text)
        from = this.#at
      } else {
        this.#at++
      }
    }
  }

  /**
   * Returns the text of an unfinished string for an error. The escapes in this text are already decoded, as in the
   * reference compiler.
   */
  #opened(text: string): string {
    return this.#source.charAt(this.#tokenStart) + text
  }

  #readEscape(before: string): string {
    const source = this.#source
    const at = this.#at
    const code = source.charCodeAt(at)
    if (isLineEnd(code)) {
      this.#lineEnd()
      return '\n'
    }
    // The source ends here. The loop that reads the string throws the error.
    if (at >= source.length) return ''
    if (!isDigit(code)) {
      this.#at++
      return escapes[source.charAt(at)] ?? source.charAt(at)
    }
    let end = at
    while (end < at + 3 && isDigit(source.charCodeAt(end))) end++
    this.#at = end
    const byte = Number(source.slice(at, end))
    if (byte > 255) throw this.#errorNear('escape sequence too large', this.#opened(before))
    return String.fromCharCode(byte)
  }
}

/** Cuts a text at a zero byte, where a message in C would end. */
export function cString(text: string): string {
  const zero = text.indexOf('\0')
  return zero < 0 ? text : text.slice(0, zero)
}

interface Saved {
  kind: TokenKind
  text: string
  value: number
  line: number
  column: number
  start: number
  at: number
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}
