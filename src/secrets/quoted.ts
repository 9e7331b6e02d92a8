import { isSecretGroup, isSecretName, isSecretNumber } from './secret-names.js'
import { endOfRun } from './secret-runs.js'
import { hidden } from './secret-shapes.js'

/** Callbacks for the texts that `rewriteQuoted` finds. */
export interface QuotedReader {
  readonly isSecret: (name: string) => boolean
  /** Called with a quoted text as written, including escapes. Returns its replacement. */
  readonly literal: (raw: string) => string
  /**
   * Called with text that has escaped quotes but is not quoted itself, such as `{\"pin\":1}`. Such a text is a
   * fragment.
   */
  readonly escaped: (raw: string) => string
  /** Called with the text between quoted texts. */
  readonly gap: (text: string) => string
}

/** Flags of an open bracket. All flags are bits of one number, so ten million open brackets fit into memory. */
const isArray = 1
/** The list is the value of a secret name: `"tokens": [`. If the list contains only texts, one text replaces it. */
const ownName = 2
/** All texts in the bracket are secrets. */
const secret = 4
/** The bracket contains values other than texts. */
const mixed = 8
/** The bracket describes one name and its value: `{ name: 'Cookie', value: … }` or `['Cookie', …]`. */
const named = 16
/** Two bits of the flags count the texts in the bracket, up to three. `oneText` is the number 1 in these bits. */
const oneText = 32
const texts = 96

interface Edit {
  readonly to: number
  readonly text: string
}

const quote = 0x22
const backslash = 0x5c
const name = /^(?:name|key|header|field)$/i
const beginsNumber = /-?\d/y
const behindNumber = /[^\d.eE+-]/g
/** Matches quotes, brackets, commas and the first character of a number. */
const telling = /["[\]{},\d-]/g

/**
 * Rewrites the texts in JSON, in text that contains JSON, and in truncated JSON. Reads the input once and without
 * recursion, so deep nesting uses no stack. Text that is not replaced stays the same, byte for byte.
 */
export function rewriteQuoted(given: string, reader: QuotedReader): string {
  return new Pass(given, reader).run()
}

class Pass {
  readonly #given: string
  readonly #reader: QuotedReader
  /** Replacements by the position at which each begins. */
  readonly #edits = new Map<number, Edit>()
  readonly #brackets: number[] = []
  /** Position at which each open list of secrets begins, by the depth of its bracket. */
  readonly #starts = new Map<number, number>()
  readonly #values = new Map<number, readonly [from: number, to: number]>()
  /** Name that was read last. Its value follows. */
  #name: string | undefined
  /** The input has been read up to this position. A gap is the text between two quoted texts. */
  #read = 0

  constructor(given: string, reader: QuotedReader) {
    this.#given = given
    this.#reader = reader
  }

  run(): string {
    const given = this.#given
    let at = 0
    while (at < given.length) {
      const code = given.charCodeAt(at)
      if (code === quote) at = this.#quoted(at)
      else if (code === 0x7b || code === 0x5b) at = this.#open(at, code === 0x5b)
      else if (code === 0x7d || code === 0x5d) at = this.#close(at)
      else at = this.#other(at, code)
    }
    this.#gap(given.length)
    while (this.#brackets.length > 0) this.#close(given.length)
    return this.#edited()
  }

  #other(at: number, code: number): number {
    if (code === 0x2c) this.#name = undefined
    if (code === 0x2c || code <= 0x20) return at + 1
    beginsNumber.lastIndex = at
    const isNumber = beginsNumber.test(this.#given)
    const to = isNumber ? endOfRun(this.#given, at + 1, behindNumber) : endOfRun(this.#given, at + 1, telling)
    if (isNumber && this.#isSecretNumber()) this.#edit(at, to, `"${hidden}"`)
    this.#mark(mixed)
    this.#name = undefined
    return to
  }

  #isSecretNumber(): boolean {
    const label = this.#name
    return label !== undefined && this.#reader.isSecret(label) && (isSecretNumber(label) || !isSecretName(label))
  }

  #open(at: number, array: boolean): number {
    this.#mark(mixed)
    const own = this.#name !== undefined && (this.#reader.isSecret(this.#name) || isSecretGroup(this.#name))
    const below = own ? ownName | secret : (this.#brackets.at(-1) ?? 0) & secret
    if (own) this.#starts.set(this.#brackets.length, at + 1)
    this.#brackets.push(below | (array ? isArray : 0))
    this.#name = undefined
    return at + 1
  }

  #close(at: number): number {
    this.#name = undefined
    const bracket = this.#brackets.pop()
    if (bracket === undefined) return at + 1
    const depth = this.#brackets.length
    const isList = (bracket & (isArray | mixed)) === isArray
    if (isList && bracket & ownName && bracket & texts)
      this.#edit(this.#starts.get(depth)!, at, `"${hidden}"${at === this.#given.length ? ']' : ''}`)
    const isPair = isList && (bracket & texts) === 2 * oneText && (this.#brackets.at(-1) ?? 0) & isArray
    if (isPair && bracket & named) this.#edit(...this.#values.get(depth)!, hidden)
    this.#values.delete(depth)
    return at + 1
  }

  #mark(bits: number): void {
    const depth = this.#brackets.length
    if (depth > 0) this.#brackets[depth - 1]! |= bits
  }

  /**
   * Reads the text after an opening quote, or skips a quote that opens no text.
   * @returns the position at which to continue
   */
  #quoted(at: number): number {
    const given = this.#given
    // Outside of quotes, an escaped quote begins a fragment: a piece of JSON that was the text of a JSON string.
    if (at > this.#read && given.charCodeAt(at - 1) === backslash) return this.#fragment(at)
    const end = closingQuote(given, at)
    const to = end === -1 ? given.length : end
    const next = end === -1 ? given.length : beyondSpace(given, end + 1)
    const after = given.charAt(next)
    if (after === ':') {
      this.#gap(at)
      this.#read = to + 1
      this.#nested(at + 1, to)
      this.#name = nameOf(given.slice(at + 1, to))
      return next + 1
    }
    this.#name ??= this.#nameBefore(at)
    const ends = end === -1 || after === '' || after === ',' || after === '}' || after === ']'
    const isStray = !ends && !this.#tells(at + 1, to)
    // In valid JSON, a text is followed by `,`, `:` or a bracket, but this text is not. The quote that seemed to open
    // this text therefore closes another text, and the next quote opens a text.
    if (isStray && (this.#name === undefined || !this.#reader.isSecret(this.#name))) {
      this.#name = undefined
      return at + 1
    }
    this.#gap(at)
    this.#read = to + 1
    this.#value(at + 1, to)
    return to + 1
  }

  #value(from: number, to: number): void {
    const label = this.#name
    this.#name = undefined
    const bracket = this.#brackets.at(-1) ?? 0
    if (bracket & secret || (label !== undefined && this.#reader.isSecret(label))) this.#edit(from, to, hidden)
    else this.#nested(from, to)
    const depth = this.#brackets.length - 1
    if (depth < 0) return
    if ((bracket & texts) !== texts) this.#brackets[depth] = bracket + oneText
    if (bracket & isArray) this.#item(from, to, bracket & texts)
    else if (label !== undefined) this.#field(label, from, to)
  }

  #item(from: number, to: number, before: number): void {
    if (before === 0 && this.#isSecretAt(from, to)) this.#mark(named)
    if (before === oneText) this.#values.set(this.#brackets.length - 1, [from, to])
  }

  #field(label: string, from: number, to: number): void {
    const depth = this.#brackets.length - 1
    if (name.test(label) && this.#isSecretAt(from, to)) this.#mark(named)
    else if (/^value$/i.test(label)) this.#values.set(depth, [from, to])
    const value = this.#values.get(depth)
    if (value !== undefined && this.#brackets[depth]! & named) this.#edit(...value, hidden)
  }

  /** Returns whether the text between these positions is escaped and contains a secret. */
  #tells(from: number, to: number): boolean {
    const raw = this.#given.slice(from, to)
    return raw.includes('\\') && this.#reader.escaped(raw) !== raw
  }

  #isSecretAt(from: number, to: number): boolean {
    return to - from <= 100 && this.#reader.isSecret(nameOf(this.#given.slice(from, to)))
  }

  #nested(from: number, to: number): void {
    if (to - from < 4) return
    const raw = this.#given.slice(from, to)
    const out = this.#reader.literal(raw)
    if (out !== raw) this.#edit(from, to, out)
  }

  /** Reads a fragment up to the next unescaped quote and returns the position at which to continue. */
  #fragment(at: number): number {
    const given = this.#given
    this.#gap(at - 1)
    const end = closingQuote(given, at - 2)
    const to = end === -1 ? given.length : end
    const raw = given.slice(at - 1, to)
    const out = this.#reader.escaped(raw)
    if (out !== raw) this.#edit(at - 1, to, out)
    this.#name = undefined
    this.#read = to
    return to
  }

  /** Returns an unquoted name before a value: `password: "…"`, `password="…"`. */
  #nameBefore(at: number): string | undefined {
    const given = this.#given
    let to = beforeSpace(given, at, this.#read)
    const mark = given.charCodeAt(to - 1)
    if (mark !== 0x3a && mark !== 0x3d) return undefined
    to = beforeSpace(given, to - 1, this.#read)
    if (given.charCodeAt(to - 1) === 0x27) to--
    const first = Math.max(this.#read, to - 80)
    let from = to
    while (from > first && /[\w.-]/.test(given.charAt(from - 1))) from--
    return to - from < 2 ? undefined : given.slice(from, to)
  }

  #gap(to: number): void {
    const from = this.#read
    if (to <= from) return
    this.#read = to
    const text = this.#given.slice(from, to)
    const out = this.#reader.gap(text)
    if (out !== text) this.#edit(from, to, out)
  }

  #edit(from: number, to: number, text: string): void {
    const known = this.#edits.get(from)
    if (known === undefined || known.to <= to) this.#edits.set(from, { to, text })
  }

  #edited(): string {
    if (this.#edits.size === 0) return this.#given
    const parts: string[] = []
    let copied = 0
    for (const [from, { to, text }] of [...this.#edits].sort(([a], [b]) => a - b)) {
      // An earlier edit already replaced the whole range that contains this edit.
      if (from < copied) continue
      parts.push(this.#given.slice(copied, from), text)
      copied = to
    }
    return parts.join('') + this.#given.slice(copied)
  }
}

/** Returns the position of the quote that ends a text, or -1. */
function closingQuote(given: string, start: number): number {
  let end = given.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (end - 1 - slashes > start && given.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
    end = given.indexOf('"', end + 1)
  }
  return -1
}

function beyondSpace(given: string, start: number): number {
  let at = start
  while (at < given.length && given.charCodeAt(at) <= 0x20) at++
  return at
}

/** Returns the position before at most three spaces. Texts in columns have several spaces between name and value. */
function beforeSpace(given: string, end: number, first: number): number {
  let at = end
  while (at > first && at > end - 3 && given.charCodeAt(at - 1) <= 0x20) at--
  return at
}

function nameOf(raw: string): string {
  return raw.length <= 600 && raw.includes('\\') ? unescaped(raw) : raw
}

const simple: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Decodes the escapes of a JSON string, even if the string is not quite valid. */
export function unescaped(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw.replace(/\\(u[\da-fA-F]{4}|[\s\S])/g, (_, code: string) =>
      code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (simple[code] ?? code),
    )
  }
}
