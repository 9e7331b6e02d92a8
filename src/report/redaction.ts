import { type Bytes, fromBase64, isUtf8, latin1, text, toBase64, utf8 } from '../kernel/bytes.js'
import type { Entry, HiddenFields } from '../kernel/traffic.js'

/** What renderings hide beyond what they hide anyway: tokens, passwords, cookies, signing keys, signatures. */
export interface RedactionOptions {
  /** Texts that must not appear anywhere, such as the sandbox's own tokens and keys. */
  readonly secrets?: readonly string[]
  /** More names of headers, JSON fields and query parameters; `body` and `headers` hide all of them. */
  readonly redact?: readonly string[]
}

type Header = readonly [name: string, value: string]

/** Stands where a secret was. */
export const hidden = '***'

/** Lower case, without dashes and underscores. */
const secretName =
  /token|secret|passw(?:or)?d|passphrase|apikey|accesskey|privatekey|signingkey|authorization|cookie|signature|credential|sessionid|^(?:auth|pwd|pin|sid|sig|jwt|otp)$/
/** Names that only look like it: counts, ways and kinds. */
const harmlessName = /^(?:maxtokens|tokens|tokentype|tokencount|signatureversion|nexttoken|cookieconsent)$/

// Captured text is untrusted and may be long: none of these looks at a char more than a few hundred times.
const jwt = /\b(eyJ[\w-]{6,500})\.(eyJ[\w-]+)\.[\w-]+/g
const scheme = /\b(bearer|basic)(\s+)(?!\*{3})[\w~+/.=-]{6,}/gi
const signingKey = /\bsig_[A-Za-z0-9]{12,}/g
const userInfo = /:\/\/[^\s/?#@"']+@/g
const parameter = /([?&;]|%3F|%26)([\w.%[\]-]{1,80})=([^&#\s"']*)/gi
const jsonField =
  /("((?:[^"\\]|\\.){1,80})"\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|$)|(\[)(?:[\s,]*"(?:[^"\\]|\\.)*")*(?:[\s,]*\]|$))/g
const encodedField = /("(?:body|sourceBody)"\s*:\s*")([A-Za-z0-9+/]{8,}={0,2})(")/g
/** Commands whose words are passwords, as a store request brings them. */
const secretCommand = /\[\s*"(?:auth|acl|hello|migrate)"|\[\s*"config"\s*,\s*"set"/i
const secretPath = /(\/(?:auth|acl|hello|migrate|config\/set)\/)[^?#]*/i

/** Hides secrets in what is shown, never in what is kept. */
export class Redaction {
  readonly #secrets: RegExp | undefined
  readonly #names: ReadonlySet<string>
  readonly #allBodies: boolean
  readonly #allHeaders: boolean

  constructor({ secrets = [], redact = [] }: RedactionOptions = {}) {
    const known = [...new Set(secrets.filter((secret) => secret.length >= 6))].sort((a, b) => b.length - a.length)
    const spelled = known.flatMap((secret) => [secret, encodeURIComponent(secret)]).map(escaped)
    this.#secrets = spelled.length === 0 ? undefined : new RegExp([...new Set(spelled)].join('|'), 'g')
    this.#allBodies = redact.includes('body')
    this.#allHeaders = redact.includes('headers') || redact.includes('header')
    const names = redact.map((name) => /^headers?\[\s*(.+?)\s*\]$/i.exec(name)?.[1] ?? name).map(plainName)
    this.#names = new Set(names.filter((name) => !['body', 'header', 'headers'].includes(name)))
  }

  isSecretName(name: string): boolean {
    const plain = plainName(name)
    return this.#names.has(plain) || (secretName.test(plain) && !harmlessName.test(plain))
  }

  /** Any text: urls, JSON, prose. What is no secret stays as it was, byte for byte. */
  text(given: string): string {
    if (given.length < 4) return given
    let out = this.#secrets === undefined ? given : given.replace(this.#secrets, hidden)
    if (out.includes('eyJ')) out = out.replace(jwt, (_, head: string, claims: string) => this.#token(head, claims))
    out = out.replace(scheme, `$1$2${hidden}`)
    if (out.includes('sig_')) out = out.replace(signingKey, `sig_${hidden}`)
    if (out.includes('://')) out = out.replace(userInfo, `://${hidden}@`)
    if (out.includes('=')) {
      out = out.replace(parameter, (all, mark: string, name: string) =>
        this.isSecretName(name) ? `${mark}${name}=${hidden}` : all,
      )
    }
    if (!out.includes('"')) return out
    out = out.replace(jsonField, (all, before: string, name: string, list: string | undefined) =>
      this.isSecretName(name) || (list !== undefined && secretName.test(plainName(name)))
        ? `${before}${list === undefined ? `"${hidden}"` : `["${hidden}"]`}`
        : all,
    )
    // A callback carries what it reports on in base64.
    return out.includes('ody"')
      ? out.replace(encodedField, (all, before, code, after) => this.#encoded(all, before, code, after))
      : out
  }

  /** A token without its signature; without its claims too when they tell a secret, such as one in a destination's url. */
  #token(head: string, claims: string): string {
    const padded = claims.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (claims.length % 4)) % 4)
    const bytes = fromBase64(padded)
    const plain = bytes === undefined ? '' : text(bytes)
    return plain !== '' && this.text(plain) === plain ? `${head}.${claims}.${hidden}` : `${head}.${hidden}.${hidden}`
  }

  #encoded(all: string, before: string, code: string, after: string): string {
    const bytes = fromBase64(code)
    if (bytes === undefined || !isUtf8(bytes)) return all
    const plain = text(bytes)
    const out = this.text(plain)
    return out === plain ? all : `${before}${toBase64(utf8(out))}${after}`
  }

  /** A body as it may be shown. Bytes that spell no text are searched for the known secrets only. */
  body(bytes: Bytes, fields?: HiddenFields): Bytes {
    if (bytes === '') return bytes
    if (this.#allBodies || fields?.body === true) return latin1(hidden)
    if (isUtf8(bytes)) return utf8(this.text(text(bytes)))
    return this.#secrets === undefined ? bytes : latin1(bytes.replace(this.#secrets, hidden))
  }

  headers(headers: readonly Header[], fields?: HiddenFields): readonly Header[] {
    return headers.map(([name, value]) => [name, this.header(name, value, fields)] as const)
  }

  header(name: string, value: string, fields?: HiddenFields): string {
    const lower = name.toLowerCase()
    const hide = this.#allHeaders || fields?.allHeaders === true || fields?.headers.has(lower) === true
    if (hide || this.#names.has(plainName(name))) return hidden
    if (!this.isSecretName(name)) return this.text(value)
    // What was hidden before stays as it is: a trace may be written again.
    if (/^eyJ[\w-]+\.\*{3}\.\*{3}$/.test(value)) return value
    const token = /^(eyJ[\w-]+)\.(eyJ[\w-]+)\.(?:[\w-]+|\*{3})$/.exec(value)
    if (token !== null) return this.#token(token[1]!, token[2]!)
    const known = /^(bearer|basic|digest)\s/i.exec(value)?.[1]
    return known === undefined ? hidden : `${known} ${hidden}`
  }

  /** The words of a command; passwords are hidden where the command takes them. */
  words(argv: readonly string[]): string[] {
    const [name = '', verb = ''] = [argv[0]?.toUpperCase(), argv[1]?.toUpperCase()]
    const from = (first: number) => argv.map((word, index) => (index < first ? this.text(word) : hidden))
    if (name === 'AUTH') return from(1)
    if (name === 'CONFIG' && verb === 'SET')
      return argv.map((word, index) =>
        index > 2 && index % 2 === 1 && /pass|auth|key-file-pass/i.test(argv[index - 1]!) ? hidden : this.text(word),
      )
    if (name === 'ACL' && verb === 'RESTTOKEN') return from(3)
    if (name === 'ACL' && verb === 'SETUSER')
      return argv.map((word, index) => (index > 2 && /^[><#!]/.test(word) ? `${word[0]}${hidden}` : this.text(word)))
    if (name === 'HELLO' || name === 'MIGRATE') {
      const at = argv.findIndex((word) => /^auth2?$/i.test(word))
      if (at > 0) return from(at + 1)
    }
    // Nothing else takes a password: its words are looked at one by one.
    return argv.map((word) => this.text(word))
  }

  /** Whether a command takes passwords as words. */
  isSecretCommand(argv: readonly string[]): boolean {
    return /^(?:auth|acl|config|hello|migrate)$/i.test(argv[0] ?? '')
  }

  /** An error text; it may quote the password that it refuses. */
  errorOf(argv: readonly string[], error: string): string {
    if (!this.isSecretCommand(argv)) return this.text(error)
    const shown = this.words(argv)
    const secrets = argv.filter((word, index) => shown[index] !== word && word.length > 1)
    return this.text(secrets.reduce((out, secret) => out.replaceAll(secret, hidden), error))
  }

  get hidesBodies(): boolean {
    return this.#allBodies
  }

  /** Whether a command's reply is a secret, whatever it looks like. */
  hidesReply(argv: readonly string[]): boolean {
    return argv[0]?.toUpperCase() === 'ACL' && /^(?:resttoken|genpass|getuser|list)$/i.test(argv[1] ?? '')
  }

  url(url: string): string {
    return this.text(url)
  }

  /** How to show a request to one of the services. */
  request(entry: Extract<Entry, { type: 'request' }>): { url: string; fields: HiddenFields | undefined } {
    const ofStore = entry.service === 'store'
    const url = this.url(ofStore ? entry.url.replace(secretPath, `$1${hidden}`) : entry.url)
    const secretWords = ofStore && (secretCommand.test(entry.body) || secretPath.test(entry.url))
    const asked = entry.headers.find(([name]) => /-redact-fields$/i.test(name))?.[1]
    const batch = entry.service === 'queue' && /-redact-fields"/i.test(entry.body)
    const hideBody = secretWords || batch || (asked !== undefined && /(?:^|,)\s*body\s*(?:,|$)/i.test(asked))
    if (!hideBody && asked === undefined) return { url, fields: undefined }
    const allHeaders = asked !== undefined && /(?:^|,)\s*headers?\s*(?:,|$)/i.test(asked)
    const named = [...(asked ?? '').matchAll(/headers?\s*\[\s*([^\]]+?)\s*\]/gi)].map((match) =>
      match[1]!.toLowerCase(),
    )
    const forwarded = entry.headers
      .map(([name]) => name.toLowerCase())
      .filter(
        (name) =>
          named.some((one) => name === one || name.endsWith(`-forward-${one}`)) ||
          (allHeaders && name.includes('-forward-')),
      )
    return { url, fields: { body: hideBody, allHeaders: false, headers: new Set(forwarded) } }
  }
}

/** For renderings of entries whose world is not known: secrets are recognised by their names and shapes. */
export const standardRedaction: Redaction = new Redaction()

function plainName(name: string): string {
  return name.toLowerCase().replace(/%5b|%5d|[^a-z0-9]/g, '')
}

function escaped(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
