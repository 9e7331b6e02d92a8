import { type Bytes, isUtf8, latin1, partOf, text, utf8 } from '../../kernel/bytes.js'
import { unitsPerRow, type Work } from '../../kernel/work.js'
import { replyError, tooManyRows } from '../command/errors.js'

// From the forms of a request to rows of words. [store.md 1.2, 1.4]

export type Argv = readonly Bytes[]

/** `/set/foo/bar?EX=60` and a body: segments, then the body, then query arguments, in that order. */
export function argvOfPath(path: string, query: string, body: Bytes): Argv {
  const segments = segmentsOf(path.slice(1))
  // A lone slash after the command name is dropped; any other empty segment is an empty argument.
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

/** Raw pairs in the order in which they stand; a name without a value has an empty one. */
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

/** Percent-decoding to bytes, which need not be UTF-8. */
export function decodePercent(text: string): Bytes {
  if (!text.includes('%')) return utf8(text)
  if (/%(?![0-9a-f]{2})/i.test(text)) throw replyError('urlEscape')
  return latin1(
    utf8(text).replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  )
}

/** The JSON array of one command. @param work what the reading is charged to */
export function argvOfJson(body: Bytes, work?: Work): Argv {
  const scanner = new JsonScanner(body, work)
  const row = scanner.row()
  scanner.end()
  return row
}

/**
 * The JSON array of rows of `/pipeline` and `/multi-exec`; more than `most` are refused before they are read.
 * @param work what the reading, running and answering of rows is charged to, but for what commands touch
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

/** A piece of a string with escapes. Bounded: the regular expression keeps a way back for each repetition. */
const stringPiece = /(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1024}/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const wordToken = /true|false|null/y

/** What no string without escapes has. */
const special = /[\x00-\x1f\\]/g

/** Bytes of a body that are read for one unit: each is looked at some times, and copied. */
const bytesPerUnit = 16
const unitsPerWord = 2

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * Reads JSON as the service does: straight to words. Numbers keep their text, which `JSON.parse` would lose, and
 * strings without escapes are slices of the body, which is UTF-8 already.
 */
class JsonScanner {
  #at = 0
  /** Where the next special char is, seen from the last string that was looked at. */
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

  /** Whether another element follows; takes the comma or the closing bracket. */
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
    // An array that grew word by word has room for many more, and the traffic log keeps it.
    return words.slice()
  }

  /** Nothing may follow. [store.md, last section] */
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

  /** What stands where an array should be decides between "not JSON" and "JSON, but no array". */
  #notAnArray(): Error {
    const char = this.body[this.#at]
    if (char === '"') this.#escapedString()
    const isJson = char === '{' || char === '"' || this.#match(numberToken) || this.#match(wordToken)
    return replyError(isJson ? 'notAnArray' : 'invalidJson')
  }

  /** What stands between the quotes. */
  #escapedString(): string {
    const start = this.#at + 1
    let end = start
    for (stringPiece.lastIndex = start; stringPiece.test(this.body); ) end = stringPiece.lastIndex
    if (this.body[end] !== '"') throw replyError('invalidJson')
    this.#at = end + 1
    return partOf(this.body, start, end)
  }

  /** A string without escapes. */
  #plainString(): Bytes | undefined {
    const start = this.#at + 1
    const end = this.body.indexOf('"', start)
    if (end === -1 || this.#nextSpecial(start) < end) return undefined
    this.#at = end + 1
    return partOf(this.body, start, end)
  }

  /** Most bodies have none, and are looked through once. */
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

/** Undoes JSON escapes within a byte string; `\u` sequences become UTF-8, surrogates in pairs. */
function withoutEscapes(literal: string, work: Work | undefined): Bytes {
  work?.charge(Math.floor(literal.length / bytesPerUnit))
  // Without `\u` each escape is one byte, so that the built-in parser, far faster, may take bytes for chars.
  if (!literal.includes('\\u')) return latin1(JSON.parse(`"${literal}"`))
  const bytes = latin1(literal)
  if (isUtf8(bytes)) return utf8(JSON.parse(`"${text(bytes)}"`))
  // What is no text keeps its bytes: each run of ASCII is read on its own.
  work?.charge(literal.length)
  return latin1(literal.replace(asciiRun, (run) => utf8(JSON.parse(`"${run}"`))))
}

const asciiRun = /[\x00-\x7f]+/g
