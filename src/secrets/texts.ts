import { type Bytes, fromBase64, latin1, text, toBase64, toBase64Url, utf8 } from '../kernel/bytes.js'
import { isSecretName, plainName } from './names.js'
import { rewriteQuoted, unescaped } from './quoted.js'
import { rewriteRuns } from './runs.js'
import { hidden, withoutShapes } from './shapes.js'

export interface SecretTextsOptions {
  /** Texts that must not appear anywhere. */
  readonly secrets?: readonly string[] | undefined
  /** More names whose values are secrets. */
  readonly names?: readonly string[] | undefined
}

/** Layers of quoting and encoding that are looked through. Deeper ones are hidden as a whole. */
const deepest = 16

/** Two parts of a JSON Web Token; the signature follows. */
const jwt = /\b(eyJ[\w-]{6,500})\.(?=eyJ)/g
const behindJwt = /[^\w.-]/g
/** Base64 of what begins like JSON. */
const encodedJson = /(?<!\w)(?=ey[JA]|ew[ok0]|Wy[JA]|W3s|W1s|Wwo)/g
const behindEncoded = /[^\w+/=-]/g
const noBase64 = /[^A-Za-z\d+/_=\r\n -]/

/** Hides secrets in texts of any kind, through every layer of quoting and encoding. What is none stays, byte for byte. */
export class SecretTexts {
  readonly #known: readonly string[]
  readonly #names: ReadonlySet<string>

  constructor({ secrets = [], names = [] }: SecretTextsOptions = {}) {
    const known = secrets
      .filter((secret) => secret.length >= 6)
      .flatMap((secret) => [secret, utf8(secret), encodeURIComponent(secret)])
    this.#known = [...new Set(known)].sort((a, b) => b.length - a.length)
    this.#names = new Set(names.map(plainName))
  }

  /** A field for its methods: they are handed on. */
  readonly isSecretName = (name: string): boolean =>
    isSecretName(name) || (this.#names.size > 0 && this.#names.has(plainName(name)))

  isNamed(name: string): boolean {
    return this.#names.has(plainName(name))
  }

  /** Any text: urls, JSON, prose. */
  text(given: string): string {
    return this.#text(given, 0, false)
  }

  /** Bytes; such as spell no text are read as if each were a char. */
  bytes(given: Bytes): Bytes {
    return this.#text(given, 0, true) as Bytes
  }

  #text(given: string, layer: number, isBytes: boolean): string {
    if (given.length < 4) return given
    if (layer > deepest) return hidden
    let out = this.#withoutKnown(given)
    const isQuoted = out.includes('"')
    if (out.includes('eyJ')) out = rewriteRuns(out, jwt, behindJwt, (run, [, head]) => this.#signed(head!, run))
    out = withoutShapes(out, !isQuoted, this.isSecretName)
    if (/%[\da-f]{2}/i.test(out)) out = rewritePercent(out, isBytes, (plain) => this.#text(plain, layer + 1, false))
    if (/ey[JA]|ew[ok0]|W[13y]/.test(out))
      out = rewriteRuns(out, encodedJson, behindEncoded, (code) => this.#encodedParts(code, layer))
    if (isQuoted) return this.#quoted(out, layer, isBytes)
    return this.#encoded(out, layer)
  }

  #withoutKnown(given: string): string {
    let out = given
    for (const secret of this.#known) if (out.includes(secret)) out = out.replaceAll(secret, hidden)
    return out
  }

  #quoted(given: string, layer: number, isBytes: boolean): string {
    const escaped = (raw: string): string => {
      const plain = unescaped(isBytes ? text(raw as Bytes) : raw)
      const out = this.#text(plain, layer + 1, false)
      if (out === plain) return raw
      const written = JSON.stringify(out).slice(1, -1)
      return isBytes ? utf8(written) : written
    }
    return rewriteQuoted(given, {
      isSecret: this.isSecretName,
      escaped,
      literal: (raw) => (raw.includes('\\') ? escaped(raw) : this.#encoded(raw, layer)),
      gap: (between) => withoutShapes(between, true, this.isSecretName),
    })
  }

  /** A run of the alphabet; in a url the path may go on behind it. */
  #encodedParts(code: string, layer: number): string {
    const whole = this.#encoded(code, layer)
    if (whole !== code || !code.includes('/')) return whole
    return code
      .split('/')
      .map((part) => this.#encoded(part, layer))
      .join('/')
  }

  /** Base64 of a text, such as the body in a callback. */
  #encoded(code: string, layer: number): string {
    if (code.length < 12 || noBase64.test(code)) return code
    const bytes = fromBase64(code)
    if (bytes === undefined) return code
    const out = this.#text(bytes, layer + 1, true) as Bytes
    if (out === bytes) return code
    return /[-_]/.test(code) || (code.length % 4 !== 0 && !code.includes('=')) ? toBase64Url(out) : toBase64(out)
  }

  /** The claims of a token, which a signature follows. The head stays where it is. */
  #signed(head: string, run: string): string | undefined {
    const dot = run.indexOf('.')
    if (dot < 4 || dot + 1 === run.length) return undefined
    const next = run.indexOf('.', dot + 1)
    return this.token(head, run.slice(0, dot)).slice(head.length + 1) + (next === -1 ? '' : run.slice(next))
  }

  /** A JSON Web Token without its signature; without its claims too when they tell a secret, such as one in a url. */
  token(head: string, claims: string): string {
    const bytes = fromBase64(claims)
    const plain = bytes === undefined ? '' : text(bytes)
    return plain !== '' && this.text(plain) === plain ? `${head}.${claims}.${hidden}` : `${head}.${hidden}.${hidden}`
  }
}

/** What begins a run of percent-encoded text, and what ends it: the marks of urls, quotes, spaces. */
const before = /[\x00-\x20"'<>&?#=;/\\,]/
const behind = /[\x00-\x20"'<>&#\\]/

/** Rewrites runs of text with percent-encoded chars in them. */
function rewritePercent(given: string, isBytes: boolean, rewrite: (plain: string) => string): string {
  const escapes = /%[\da-f]{2}/gi
  const parts: string[] = []
  let copied = 0
  for (let found = escapes.exec(given); found !== null; found = escapes.exec(given)) {
    let from = found.index
    while (from > copied && !before.test(given.charAt(from - 1))) from--
    let to = found.index
    while (to < given.length && !behind.test(given.charAt(to))) to++
    escapes.lastIndex = to
    const encoded = given.slice(from, to)
    const plain = decodedPercent(isBytes ? (encoded as Bytes) : utf8(encoded))
    const out = rewrite(plain)
    parts.push(given.slice(copied, from), out === plain ? encoded : encodeURIComponent(out))
    copied = to
  }
  return parts.join('') + given.slice(copied)
}

function decodedPercent(encoded: Bytes): string {
  return text(
    latin1(encoded.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))),
  )
}
