import { type Bytes, isUtf8, latin1, partOf, text, utf8 } from '../../kernel/bytes.js'
import { unitsPerRow, type Work } from '../../kernel/work.js'
import { replyError, tooManyRows } from '../command/errors.js'

// Converts all forms of requests to rows of arguments, one row per command. [store.md 1.2, 1.4]

export type Argv = readonly Bytes[]

/**
 * Reads a command such as `/set/foo/bar?EX=60` with a body. Its arguments are the path segments, then the body, then
 * the query parameters.
 */
export function argvOfPath(path: string, query: string, body: Bytes): Argv {
  const segments = segmentsOf(path.slice(1))
  // One slash after the command name is dropped; any other empty segment is an empty argument.
  if (segments.length === 2 && segments[1] === '') segments.pop()
  const argv = segments.length === 1 && segments[0] === '' ? [] : segments.map(decodePercent)
  if (body !== '') argv.push(body)
  for (const [name, value] of queryPairs(query)) {
    if (name === '_token') continue
    argv.push(name)
    if (value !== '') argv.push(value)
  }
  if (argv.length === 0 || argv[0] === '') throw replyError('emptyCommand')
  return argv
}

function segmentsOf(path: string): string[] {
  const segments: string[] = []
  for (let from = 0; ; ) {
    const end = path.indexOf('/', from)
    if (end === -1) return [...segments, partOf(path, from)]
    segments.push(partOf(path, from, end))
    from = end + 1
  }
}

/** Yields raw pairs in their order; a name without a value has an empty value. */
function* queryPairs(query: string): Generator<[name: Bytes, value: Bytes]> {
  if (query === '') return
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    if (equals === -1) yield [decodeForm(part), latin1('')]
    else yield [decodeForm(part.slice(0, equals)), decodeForm(part.slice(equals + 1))]
  }
}

function decodeForm(text: string): Bytes {
  return decodePercent(text.replaceAll('+', ' '))
}

/** Decodes percent-encoding to bytes, which need not be UTF-8. */
export function decodePercent(text: string): Bytes {
  if (!text.includes('%')) return utf8(text)
  if (/%(?![0-9a-f]{2})/i.test(text)) throw replyError('urlEscape')
  return latin1(
    utf8(text).replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  )
}

/**
 * Reads the JSON array of one command.
 * @param work the work budget, to which the reading is charged
 */
export function argvOfJson(body: Bytes, work?: Work): Argv {
  const scanner = new JsonScanner(body, work)
  const row = scanner.row()
  scanner.end()
  return row
}

/**
 * Reads the JSON array of rows of `/pipeline` and `/multi-exec`. More than `most` rows are rejected before they are
 * read.
 * @param work the work budget, to which the reading of the rows is charged. Each command is charged separately.
 */
export function rowsOfJson(body: Bytes, most: number = Number.POSITIVE_INFINITY, work?: Work): Argv[] {
  const scanner = new JsonScanner(body, work)
  const rows: Argv[] = []
  scanner.open()
  while (scanner.more(rows.length)) {
    if (rows.length >= most) throw tooManyRows(most)
    work?.charge(unitsPerRow)
    rows.push(scanner.row())
  }
  if (rows.length === 0) throw replyError('emptyCommand')
  scanner.end()
  return rows
}

/**
 * Matches a piece of a string with escapes. The length is limited, because the regular expression keeps a backtracking
 * state per repetition.
 */
const stringPiece = /(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1024}/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const wordToken = /true|false|null/y

/** Characters that do not occur in strings without escapes. */
const special = /[\x00-\x1f\\]/g

/** Number of bytes of a body that are read for one unit of work. Each byte is examined several times and copied. */
const bytesPerUnit = 16
const unitsPerWord = 2

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * Reads JSON directly into arguments. As in the service, numbers keep their text, which `JSON.parse` would lose.
 * Strings without escapes are slices of the body, because the body already is UTF-8.
 */
class JsonScanner {
  #at = 0
  /** Position of the next special character after the last examined string. */
  #special = -1

  constructor(
    private readonly body: Bytes,
    private readonly work: Work | undefined,
  ) {
    work?.charge(Math.floor(body.length / bytesPerUnit))
    this.#skipSpace()
    if (this.#at === body.length) throw replyError(body === '' ? 'emptyBody' : 'invalidJson')
  }

  open(): void {
    if (this.body[this.#at] !== '[') throw this.#notAnArray()
    this.#at++
    this.#skipSpace()
  }

  /** Returns whether another element follows; consumes the comma or the closing bracket. */
  more(read: number): boolean {
    this.#skipSpace()
    const char = this.body[this.#at]
    if (char === ']') {
      this.#at++
      return false
    }
    if (read === 0) return this.#needMore(char)
    if (char !== ',') throw replyError('invalidJson')
    this.#at++
    this.#skipSpace()
    return this.#needMore(this.body[this.#at])
  }

  row(): Argv {
    this.open()
    const words: Bytes[] = []
    while (this.more(words.length)) {
      this.work?.charge(unitsPerWord)
      words.push(this.#word())
    }
    if (words.length === 0) throw replyError('emptyCommand')
    // Returns a copy without spare memory. An array that grew by pushing reserves memory for more items, and the
    // traffic log keeps the array.
    return words.slice()
  }

  /** Checks that only white space follows. [store.md, last section] */
  end(): void {
    this.#skipSpace()
    if (this.#at < this.body.length) throw replyError('invalidJson')
  }

  #needMore(char: string | undefined): true {
    if (char === undefined || char === ']' || char === ',') throw replyError('invalidJson')
    return true
  }

  #word(): Bytes {
    const char = this.body[this.#at]
    if (char === '[') throw replyError('nestedArray')
    if (char === '{') throw replyError('nestedObject')
    if (char === '"') {
      const simple = this.#plainString()
      if (simple !== undefined) return simple
      return withoutEscapes(this.#escapedString(), this.work)
    }
    const number = this.#match(numberToken)
    if (number !== undefined) return latin1(number)
    const word = this.#match(wordToken)
    if (word === 'null') throw replyError('nullArgument')
    if (word === undefined) throw replyError('invalidJson')
    return latin1(word)
  }

  /** Returns the error for a value that is not an array: "not JSON", or "JSON, but not an array". */
  #notAnArray(): Error {
    const char = this.body[this.#at]
    if (char === '"') this.#escapedString()
    const isJson = char === '{' || char === '"' || this.#match(numberToken) || this.#match(wordToken)
    return replyError(isJson ? 'notAnArray' : 'invalidJson')
  }

  /** Returns the content between the quotes. */
  #escapedString(): string {
    const start = this.#at + 1
    let end = start
    for (stringPiece.lastIndex = start; stringPiece.test(this.body); ) end = stringPiece.lastIndex
    if (this.body[end] !== '"') throw replyError('invalidJson')
    this.#at = end + 1
    return partOf(this.body, start, end)
  }

  /** Reads a string without escapes; returns `undefined` for a string with escapes. */
  #plainString(): Bytes | undefined {
    const start = this.#at + 1
    const end = this.body.indexOf('"', start)
    if (end === -1 || this.#nextSpecial(start) < end) return undefined
    this.#at = end + 1
    return partOf(this.body, start, end)
  }

  /**
   * Returns the position of the next special character. Most bodies have no special character, so they are searched
   * only once.
   */
  #nextSpecial(from: number): number {
    if (this.#special < from) {
      special.lastIndex = from
      this.#special = special.test(this.body) ? special.lastIndex - 1 : this.body.length
    }
    return this.#special
  }

  #skipSpace(): void {
    while (isSpace(this.body.charCodeAt(this.#at))) this.#at++
  }

  #match(token: RegExp): string | undefined {
    token.lastIndex = this.#at
    const match = token.exec(this.body)
    if (match === null) return undefined
    this.#at = token.lastIndex
    return match[0]
  }
}

/** Decodes JSON escapes within a byte string; `\u` sequences become UTF-8, including surrogate pairs. */
function withoutEscapes(literal: string, work: Work | undefined): Bytes {
  work?.charge(Math.floor(literal.length / bytesPerUnit))
  // Without `\u`, each escape becomes one byte, so the much faster built-in parser can read the bytes as characters.
  if (!literal.includes('\\u')) return latin1(JSON.parse(`"${literal}"`))
  const bytes = latin1(literal)
  if (isUtf8(bytes)) return utf8(JSON.parse(`"${text(bytes)}"`))
  // The text is not valid UTF-8. Only its runs of ASCII are decoded, so that all other bytes stay the same.
  work?.charge(literal.length)
  return latin1(literal.replace(asciiRun, (run) => utf8(JSON.parse(`"${run}"`))))
}

const asciiRun = /[\x00-\x7f]+/g
