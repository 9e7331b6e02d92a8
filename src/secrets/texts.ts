import { type Bytes, fromBase64, isUtf8, latin1, text, toBase64, toBase64Url, utf8 } from '../kernel/bytes.js'
import { rewriteQuoted, unescaped } from './quoted.js'
import { isSecretName, plainName } from './secret-names.js'
import { endOfRun, rewriteRuns } from './secret-runs.js'
import { hidden, withoutShapes } from './secret-shapes.js'

export interface SecretTextsOptions {
  /** Texts that must not appear anywhere. */
  readonly secrets?: readonly string[] | undefined
  /** Additional names whose values are secrets. */
  readonly names?: readonly string[] | undefined
}

/**
 * Maximum number of nested layers of quoting and encoding that are searched for secrets. Text in deeper layers is
 * redacted as a whole.
 */
export const deepest = 16

/**
 * Matches the beginning of base64-encoded JSON. Dots belong to the encoded text, because dots separate the three parts
 * of a JSON Web Token.
 */
const encodedJson = /(?<!\w)(?=ey[JA]|ew[ok0]|Wy[JA]|W3s|W1s|Wwo)/g
const behindEncoded = /[^\w+/=.-]/g
const mayEncode = /ey[JA]|ew[ok0]|W[13y]/
const noBase64 = /[^A-Za-z\d+/_=\r\n -]/

/**
 * Redacts secrets in texts of any kind, through every layer of quoting and encoding. Everything else stays the same,
 * byte for byte.
 */
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

  /** This field is a function and not a method, because callers pass the function on without its object. */
  readonly isSecretName = (name: string): boolean =>
    isSecretName(name) || (this.#names.size > 0 && this.#names.has(plainName(name)))

  isNamed(name: string): boolean {
    return this.#names.has(plainName(name))
  }

  text(given: string): string {
    return this.#text(given, 0, false)
  }

  /** Redacts secrets in bytes. Bytes that are not text are read as one character each. */
  bytes(given: Bytes): Bytes {
    return this.#text(given, 0, true) as Bytes
  }

  /**
   * Redacts secrets in one layer of a text. Each character is read again in at most one deeper layer: a quoted one or
   * an encoded one, never both.
   */
  #text(given: string, layer: number, isBytes: boolean): string {
    if (given.length < 4) return given
    if (layer > deepest) return hidden
    const known = this.#withoutKnown(given)
    const isQuoted = known.includes('"')
    const out = withoutShapes(known, !isQuoted, this.isSecretName)
    return isQuoted ? this.#quoted(out, layer, isBytes) : this.#encoded(out, layer, isBytes)
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
      literal: (raw) => (raw.includes('\\') ? escaped(raw) : this.#encoded(raw, layer, isBytes)),
      gap: (between) => {
        const plain = between.includes('\\') ? withoutShapes(between, true, this.isSecretName) : between
        return this.#encodedRuns(plain, layer, isBytes)
      },
    })
  }

  /** Redacts secrets in a base64-encoded text, such as the body in a callback, and in a text with encoded parts. */
  #encoded(given: string, layer: number, isBytes: boolean): string {
    if (given.length < 12) return given.includes('%') ? this.#encodedRuns(given, layer, isBytes) : given
    if (noBase64.test(given)) return this.#encodedRuns(given, layer, isBytes)
    const bytes = fromBase64(given)
    return bytes === undefined ? this.#encodedRuns(given, layer, isBytes) : this.#decoded(given, bytes, layer)
  }

  #decoded(code: string, bytes: Bytes, layer: number): string {
    const out = this.#text(bytes, layer + 1, true) as Bytes
    if (out === bytes) return code
    return /[-_]/.test(code) || (code.length % 4 !== 0 && !code.includes('=')) ? toBase64Url(out) : toBase64(out)
  }

  #encodedRuns(given: string, layer: number, isBytes: boolean): string {
    const rewrite = (between: string): string =>
      mayEncode.test(between)
        ? rewriteRuns(between, encodedJson, behindEncoded, (run) => this.#encodedJson(run, layer))
        : between
    if (!given.includes('%')) return rewrite(given)
    return rewritePercent(given, isBytes, rewrite, (plain) => this.#text(plain, layer + 1, false))
  }

  /** Redacts secrets in a JSON Web Token, or in base64-encoded JSON. The path of a URL may follow the base64. */
  #encodedJson(run: string, layer: number): string {
    const [head = '', claims = '', signature, ...rest] = run.split('.')
    if (signature !== undefined && claims.startsWith('eyJ'))
      return [this.#token(head, claims, layer), ...rest].join('.')
    return run
      .split('.')
      .map((part) => this.#encodedPart(part, layer))
      .join('.')
  }

  #encodedPart(part: string, layer: number): string {
    if (part.length < 12 || !mayEncode.test(part)) return part
    const bytes = fromBase64(part)
    if (bytes !== undefined && isUtf8(bytes)) return this.#decoded(part, bytes, layer)
    const end = part.indexOf('/')
    const first = end === -1 ? undefined : fromBase64(part.slice(0, end))
    if (first === undefined || !isUtf8(first)) return part
    return this.#decoded(part.slice(0, end), first, layer) + part.slice(end)
  }

  /** Returns a JSON Web Token without its signature, and without its claims if the claims contain a secret. */
  token(head: string, claims: string): string {
    return this.#token(head, claims, 0)
  }

  #token(head: string, claims: string, layer: number): string {
    const bytes = fromBase64(claims)
    const isPlain = bytes !== undefined && bytes !== '' && this.#text(bytes, layer + 1, true) === bytes
    return isPlain ? `${head}.${claims}.${hidden}` : `${head}.${hidden}.${hidden}`
  }
}

/** Characters at which percent-encoded text begins and ends: delimiters of URLs, quotes, spaces. */
const marks = '"<>&?#=;/\\,'
const behindPercent = /[\x00-\x20"<>&#\\]/g

/**
 * Passes each run of text with percent-encoded characters in decoded form to `rewrite()`. Passes the text between such
 * runs to `rewriteBetween()` without decoding.
 */
function rewritePercent(
  given: string,
  isBytes: boolean,
  rewriteBetween: (between: string) => string,
  rewrite: (plain: string) => string,
): string {
  const escapes = /%[\da-f]{2}/gi
  const parts: string[] = []
  let copied = 0
  for (let found = escapes.exec(given); found !== null; found = escapes.exec(given)) {
    let from = found.index
    while (from > copied && given.charCodeAt(from - 1) > 0x20 && !marks.includes(given.charAt(from - 1))) from--
    const to = endOfRun(given, found.index, behindPercent)
    escapes.lastIndex = to
    const encoded = given.slice(from, to)
    const plain = decodedPercent(isBytes ? (encoded as Bytes) : utf8(encoded))
    const out = rewrite(plain)
    parts.push(rewriteBetween(given.slice(copied, from)), out === plain ? encoded : encodeURIComponent(out))
    copied = to
  }
  return parts.join('') + rewriteBetween(given.slice(copied))
}

const percentBytes: ReadonlyMap<string, string> = new Map(
  Array.from({ length: 256 }, (_, code) => [code.toString(16).padStart(2, '0'), String.fromCharCode(code)]),
)

function decodedPercent(encoded: Bytes): string {
  return text(latin1(encoded.replace(/%([\da-f]{2})/gi, (_, code: string) => percentBytes.get(code.toLowerCase())!)))
}
