import { fromBase64, isUtf8, text, toBase64, utf8 } from '../../kernel/bytes.js'
import { decodeSegment } from '../../kernel/http.js'
import { isDeeper } from '../../kernel/json-depth.js'
import { parsedJson } from '../../kernel/parsed-json.js'
import { isSecretName } from '../../secrets/secret-names.js'
import { issuedKey, rewritePrivateKeys } from '../../secrets/secret-shapes.js'
import { SecretTexts } from '../../secrets/texts.js'

// Keeps secrets of a production log out of files under version control. Each secret is replaced by a numbered
// placeholder. Equal secrets get the same placeholder, so that the file still shows which values were equal.

export type SecretKind = 'header' | 'cookie' | 'url' | 'field' | 'jwt' | 'key' | 'card' | 'email' | 'ip'

/** Values that each kind of secret covers. The documentation shows these texts as a table. */
export const secretKinds: Readonly<Record<SecretKind, string>> = {
  header:
    'values of headers that authenticate: `Authorization`, `X-Api-Key`, names with token, secret, password, signature or key',
  cookie: '`Cookie` and `Set-Cookie`',
  url: 'user and password of a URL, and values of its query parameters named like secrets',
  field:
    'fields of JSON, XML and form bodies named like secrets, also in JSON and base64 within JSON: `password`, `token`, `apiKey`, `cardNumber`, `iban` …',
  jwt: 'JSON Web Tokens, anywhere',
  key: 'values that look like a key of a known issuer (`sk_live_…`, `ghp_…`, `xoxb-…`, `AKIA…`, `sig_…`) or a private key, anywhere',
  card: 'numbers of payment cards: 13 to 19 digits with a valid check digit',
  email: 'email addresses',
  ip: 'public IPv4 addresses',
}

/** Secret that was replaced with a placeholder. The secret itself is not stored. */
export interface ReplacedSecret {
  readonly kind: SecretKind
  /** Location of the secret: `msg_1.header.Authorization`. */
  readonly place: string
  readonly placeholder: string
}

const patterns: readonly (readonly [SecretKind, RegExp])[] = [
  ['jwt', /\beyJ[\w-]{8,500}\.[\w-]{8,20000}\.[\w-]{0,20000}/g],
  ['key', issuedKey],
  ['card', /\b\d(?:[ -]?\d){12,18}\b/g],
  ['email', /(?<![\w.+-])[\w.+-]{1,64}@[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+\b/gi],
  ['ip', /\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b/g],
]

const privateAddress = /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|192\.0\.2|198\.51\.100|203\.0\.113)\./

/**
 * Maximum nesting depth of JSON in which secrets get numbered placeholders. In deeper JSON, secrets are removed in a
 * simpler way.
 */
const deepest = 500
const texts = new SecretTexts()

/** Replaces secrets with placeholders and records each replacement. */
export class Redactor {
  readonly redactions: ReplacedSecret[] = []
  readonly #kept: ReadonlySet<string>
  readonly #placeholders = new Map<string, string>()
  readonly #counts = new Map<SecretKind, number>()

  /** @param kept kinds of secrets that are not replaced */
  constructor(kept: Iterable<SecretKind> = []) {
    this.#kept = new Set(kept)
  }

  header(name: string, value: string, place: string): string {
    const at = `${place}.${name}`
    if (/^(?:set-)?cookie$/i.test(name)) return this.#cookies(value, at, /^set/i.test(name))
    if (!isSecretName(name)) return this.text(value, at)
    // Keep the scheme, such as `Bearer`, because it is not a secret and receivers check it.
    const [, scheme = '', secret = value] = /^((?:Bearer|Basic|Digest|Token)\s+)(.+)$/i.exec(value) ?? []
    return scheme + this.#replace('header', secret, at)
  }

  #cookies(value: string, at: string, isSetting: boolean): string {
    const parts = value.split(/;\s*/)
    const shown = parts.map((part, index) => {
      const equals = part.indexOf('=')
      if (equals === -1 || (isSetting && index > 0)) return part
      return `${part.slice(0, equals)}=${this.#replace('cookie', part.slice(equals + 1), `${at}.${part.slice(0, equals)}`)}`
    })
    return shown.join('; ')
  }

  url(url: string, place: string): string {
    const withoutUser = url.replace(/^([a-z][a-z\d+.-]*:\/\/)([^/?#@\s]+)@/i, (_, scheme: string, user: string) => {
      const [name = '', password] = user.split(/:(.*)/s)
      const shown =
        password === undefined
          ? this.#replace('url', name, `${place} (user)`)
          : `${name}:${this.#replace('url', password, `${place} (password)`)}`
      return `${scheme}${shown}@`
    })
    const withoutQuery = withoutUser.replace(
      /([?&;])([^=&#\s;]+)=([^&#\s]*)/g,
      (whole, mark: string, name: string, value: string) => {
        const at = `${place}?${name}`
        const isLongCode = /^(?:key|code|state)$/i.test(name) && value.length >= 16
        if (isSecretName(name) || isLongCode) return `${mark}${name}=${this.#replace('url', value, at)}`
        const decoded = decodeSegment(value)
        const clean = this.text(decoded, at)
        return clean === decoded ? whole : `${mark}${name}=${encodeURIComponent(clean)}`
      },
    )
    return this.text(withoutQuery, place)
  }

  /** Replaces the secrets in a body. In JSON and forms, they are also recognized by the names of fields. */
  body(body: string, place: string): string {
    // Numbered placeholders require a recursive search, which is not possible in JSON that is nested too deeply.
    if (isDeeper(body, deepest)) return this.#kept.has('field') ? body : this.text(texts.text(body), place)
    const json = parsed(body)
    if (json !== undefined) {
      const clean = this.#json(json, place)
      return JSON.stringify(clean) === JSON.stringify(json) ? body : JSON.stringify(clean, undefined, indentOf(body))
    }
    if (/^[\w.%+~[\]-]+=[^\s]*(?:&|$)/.test(body)) return this.url(`?${body}`, place).slice(1)
    const marked = body.replace(/<([\w:.-]+)>([^<>]+)<\/\1>/g, (whole, name: string, value: string) =>
      isSecretName(name) ? `<${name}>${this.#replace('field', value, `${place}.${name}`)}</${name}>` : whole,
    )
    return this.text(marked, place)
  }

  /** Replaces the secrets in a text that are recognized by their format, such as a payment card number. */
  text(value: string, place: string): string {
    let clean = rewritePrivateKeys(value, (key) => this.#replace('key', key, place))
    for (const [kind, pattern] of patterns) {
      clean = clean.replace(pattern, (found) => {
        if (kind === 'card' && !isCardNumber(found)) return found
        if (kind === 'ip' && privateAddress.test(found)) return found
        if (kind === 'email' && /@(?:[\w-]+\.)*example\.(?:com|org|net)$/i.test(found)) return found
        return this.#replace(kind, found, place)
      })
    }
    return clean.replace(/\bhttps?:\/\/[^\s"'<>]*[?@][^\s"'<>]*/g, (url) =>
      url === value ? url : this.url(url, place),
    )
  }

  #json(value: unknown, place: string): unknown {
    if (typeof value === 'string') return this.#jsonText(value, place)
    if (Array.isArray(value)) return value.map((item, index) => this.#json(item, `${place}[${index}]`))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => {
        const at = `${place}.${name}`
        const isPlain = typeof item === 'string' || typeof item === 'number'
        return [name, isPlain && isSecretName(name) ? this.#replace('field', String(item), at) : this.#json(item, at)]
      }),
    )
  }

  /**
   * Replaces the secrets in a string that is part of a JSON value. The string may contain a URL, JSON, or a base64 body
   * as in a callback.
   */
  #jsonText(value: string, place: string): string {
    if (/^https?:\/\//.test(value)) return this.url(value, place)
    if (parsed(value) !== undefined) return this.body(value, place)
    const decoded = decodedBase64(value)
    if (decoded === undefined) return this.text(value, place)
    const clean = this.body(decoded, `${place} (base64)`)
    return clean === decoded ? value : toBase64(utf8(clean))
  }

  #replace(kind: SecretKind, secret: string, place: string): string {
    if (this.#kept.has(kind) || secret === '' || isPlaceholder(secret)) return secret
    const key = `${kind} ${secret}`
    let placeholder = this.#placeholders.get(key)
    if (placeholder === undefined) {
      const number = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, number)
      placeholder = placeholderOf(kind, number)
      this.#placeholders.set(key, placeholder)
    }
    this.redactions.push({ kind, place, placeholder })
    return placeholder
  }
}

/**
 * Returns the placeholder of a secret. The placeholder of an email or IP address is also a valid address, so that code
 * can still parse it.
 */
function placeholderOf(kind: SecretKind, number: number): string {
  if (kind === 'email') return `person-${number}@example.com`
  if (kind === 'ip') return `203.0.113.${((number - 1) % 254) + 1}`
  return `redacted-${kind}-${number}`
}

/** Returns whether a value is already redacted, by the service or by an earlier import. */
function isPlaceholder(value: string): boolean {
  return /^REDACTED:[\da-f]{64}$/.test(value) || /^redacted-[a-z]+-\d+$/.test(value)
}

/**
 * Returns whether a number may be a payment card number, because its check digit is correct. By chance, one in ten
 * other numbers also has a correct check digit. So numbers that look like times in milliseconds are excluded.
 */
function isCardNumber(given: string): boolean {
  const digits = given.replace(/\D/g, '')
  if (/^1[5-9]\d{11}$/.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits.at(-1 - index))
    sum += index % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum % 10 === 0
}

function parsed(given: string): unknown {
  return /^\s*[[{"]/.test(given) ? parsedJson(given) : undefined
}

/** Decodes base64 text. Returns `undefined` if the value is not base64, or if the decoded bytes are not text. */
function decodedBase64(value: string): string | undefined {
  if (value.length < 16 || value.length % 4 !== 0 || !/^[A-Za-z\d+/]+={0,2}$/.test(value)) return undefined
  const bytes = fromBase64(value)
  return bytes !== undefined && isUtf8(bytes) && !/[\x00-\x08\x0e-\x1f]/.test(bytes) ? text(bytes) : undefined
}

function indentOf(given: string): number | undefined {
  const match = /^[[{]\n( +)/.exec(given)
  return match?.[1]?.length
}
