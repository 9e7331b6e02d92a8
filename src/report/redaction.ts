import { type Bytes, fromBase64, latin1, text } from '../kernel/bytes.js'
import { decodeSegment } from '../kernel/http.js'
import type { Entry, EntryOf, RedactedFields } from '../kernel/traffic-log.js'
import {
  hidePairs,
  isSecretCommand,
  isSecretReply,
  isSecretScript,
  isTelling,
  repliesInPairs,
  secretArguments,
} from '../secrets/command-secrets.js'
import { hidden } from '../secrets/secret-shapes.js'
import { SecretTexts } from '../secrets/texts.js'

export { hidden } from '../secrets/secret-shapes.js'

/** Secrets to hide. Tokens, passwords, cookies, signing keys and signatures are always hidden. */
export interface RedactionOptions {
  /** Texts that must not appear anywhere, such as the sandbox's own tokens and keys. */
  readonly secrets?: readonly string[]
  /**
   * Additional names of headers, JSON fields and query parameters. The name `body` hides all bodies, and the name
   * `headers` hides all headers.
   */
  readonly redact?: readonly string[]
}

type Header = readonly [name: string, value: string]

const longBody = 100_000

/** Hides secrets in output. The entries in the log stay unchanged. */
export class Redaction {
  readonly #texts: SecretTexts
  readonly #allBodies: boolean
  readonly #allHeaders: boolean
  readonly #longRequests = new WeakMap<object, { redact: unknown; shown: ReturnType<Redaction['request']> }>()

  constructor({ secrets, redact = [] }: RedactionOptions = {}) {
    if (!Array.isArray(redact) || redact.some((name) => typeof name !== 'string'))
      throw new TypeError(`redact must be a list of names, such as ['body', 'email'] (got ${JSON.stringify(redact)}).`)
    this.#allBodies = redact.includes('body')
    this.#allHeaders = redact.includes('headers') || redact.includes('header')
    const names = redact.map((name) => /^headers?\[(.+)\]$/i.exec(name)?.[1]?.trim() ?? name)
    this.#texts = new SecretTexts({
      secrets,
      names: names.filter((name) => !['body', 'header', 'headers'].includes(name)),
    })
  }

  isSecretName(name: string): boolean {
    return this.#texts.isSecretName(name)
  }

  /** Hides the secrets in any text, such as a URL, JSON or prose. The other characters stay unchanged. */
  text(given: string): string {
    return this.#texts.text(given)
  }

  body(bytes: Bytes, fields?: RedactedFields): Bytes {
    if (bytes === '') return bytes
    if (this.#allBodies || fields?.body === true) return latin1(hidden)
    return this.#texts.bytes(bytes)
  }

  headers(headers: readonly Header[], fields?: RedactedFields): readonly Header[] {
    return headers.map(([name, value]) => [name, this.header(name, value, fields)] as const)
  }

  header(name: string, value: string, fields?: RedactedFields): string {
    const lower = name.toLowerCase()
    const hide = this.#allHeaders || fields?.allHeaders === true || fields?.headers.has(lower) === true
    if (hide || this.#texts.isNamed(name)) return hidden
    if (!this.isSecretName(name)) return this.text(value)
    const [head = '', claims = '', ...rest] = value.slice(0, 65_536).split('.')
    // The token is already redacted, for example because the trace was loaded from a file. Keep it unchanged.
    if (head.startsWith('eyJ') && rest.length === 1 && claims === hidden) return value
    if (head.startsWith('eyJ') && rest.length === 1 && claims.startsWith('eyJ')) return this.#texts.token(head, claims)
    const known = /^(bearer|basic|digest)\s/i.exec(value)?.[1]
    return known === undefined ? hidden : `${known} ${hidden}`
  }

  /**
   * Returns the arguments of a command with secrets hidden.
   * @param shown what is to be shown of each argument. Default: the whole argument
   */
  words(argv: readonly string[], shown: readonly string[] = argv): string[] {
    const secrets = secretArguments(argv, this.#texts.isSecretName)
    return shown.map((word, index) => secrets.get(index) ?? this.text(word))
  }

  isSecretCommand(argv: readonly string[]): boolean {
    return isSecretCommand(argv) || secretArguments(argv, this.#texts.isSecretName).size > 0
  }

  /** Hides secrets in the error message of a command. For example, a message may quote a rejected password. */
  errorOf(argv: readonly string[], error: string): string {
    if (!this.isSecretCommand(argv)) return this.text(error)
    const shown = this.words(argv)
    // The first argument is parsed as the name of a command. An error message may quote it in upper case.
    const secrets = argv
      .filter((word, index) => shown[index] !== word && word.length > 1)
      .flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()])
    const left = secrets.reduce((out, secret) => out.replaceAll(secret, hidden), error)
    // An error message of Lua quotes a part of the script.
    return this.text(isSecretScript(argv) ? left.replace(/'.*'/s, `'${hidden}'`) : left)
  }

  get hidesBodies(): boolean {
    return this.#allBodies
  }

  /** Returns whether the whole reply of a command is a secret, in any format. */
  hidesReply(argv: readonly string[]): boolean {
    return isSecretReply(argv, this.#texts.isSecretName)
  }

  /**
   * Hides texts in a reply that are recognized as secret only with the command, such as the value that follows a secret
   * name. Other secrets are hidden later. In the reply to EXEC, all texts except OK are hidden, because the entry of
   * each command shows its own reply. The reply of a script that takes passwords is hidden in the same way.
   */
  reply(argv: readonly string[], reply: unknown): unknown {
    if (/^exec$/i.test(argv[0] ?? '') || isSecretScript(argv))
      return Array.isArray(reply) ? reply.map(withoutTexts) : withoutTexts(reply)
    return repliesInPairs(argv) ? hidePairs(reply, this.#texts.isSecretName) : reply
  }

  url(url: string): string {
    return this.text(url)
  }

  /** Hides secrets in the URL of a request to the store. Its path and query may contain a command. */
  storeUrl(url: string): string {
    const { words, parts } = commandIn(url)
    const secrets = secretArguments(words, this.#texts.isSecretName)
    if (secrets.size === 0) return this.text(url)
    let shown = ''
    let copied = 0
    for (const [index, { from, to }] of parts.entries()) {
      const secret = secrets.get(index)
      if (secret === undefined) continue
      shown += url.slice(copied, from) + secret
      copied = to
    }
    return this.text(shown + url.slice(copied))
  }

  /** Returns the URL of a request with secrets hidden, and which fields of the request and of its response to hide. */
  request(entry: Extract<Entry, { type: 'request' }>): {
    url: string
    fields: RedactedFields | undefined
    /**
     * Returns the URL of a request with secrets hidden. Also returns which fields of the request, and which fields of
     * its response, must be hidden.
     */
    answer: RedactedFields | undefined
  } {
    // A failure describes an entry several times, and a long body takes long to parse.
    if (entry.body.length <= longBody || entry.response === undefined) return this.#request(entry)
    const known = this.#longRequests.get(entry)
    if (known !== undefined && known.redact === entry.redact) return known.shown
    const shown = this.#request(entry)
    this.#longRequests.set(entry, { redact: entry.redact, shown })
    return shown
  }

  #request(entry: Extract<Entry, { type: 'request' }>): ReturnType<Redaction['request']> {
    const ofStore = entry.service === 'store'
    const url = ofStore ? this.storeUrl(entry.url) : this.url(entry.url)
    const rows = ofStore ? rowsOf(entry) : []
    const isSecret = rows.some((row) => this.isSecretCommand(row) || this.hidesReply(row))
    const asked = entry.headers.find(([name]) => /-redact-fields$/i.test(name))?.[1]
    const batch = entry.service === 'queue' && /-redact-fields"/i.test(entry.body)
    const hideBody =
      isSecret ||
      batch ||
      entry.redact?.body === true ||
      (asked !== undefined && /(?:^|,)\s*body\s*(?:,|$)/i.test(asked))
    const answersPairs = !hideBody && rows.some((row) => repliesInPairs(row)) && this.#tellsPairs(entry.response?.body)
    const whole: RedactedFields = { body: true, allHeaders: false, headers: new Set() }
    if (!hideBody && asked === undefined) return { url, fields: undefined, answer: answersPairs ? whole : undefined }
    const allHeaders = asked !== undefined && /(?:^|,)\s*headers?\s*(?:,|$)/i.test(asked)
    const named = [...(asked ?? '').matchAll(/\bheaders?\s*\[([^[\]]+)\]/gi)].map((match) =>
      match[1]!.trim().toLowerCase(),
    )
    const forwarded = entry.headers
      .map(([name]) => name.toLowerCase())
      .filter(
        (name) =>
          named.some((one) => name === one || name.endsWith(`-forward-${one}`)) ||
          (allHeaders && name.includes('-forward-')),
      )
    const fields = { body: hideBody, allHeaders: false, headers: new Set(forwarded) }
    return { url, fields, answer: hideBody ? whole : fields }
  }

  /**
   * Returns whether a response of the store contains a secret name followed by its value. The response is plain text,
   * base64 or RESP2.
   */
  #tellsPairs(body: Bytes | undefined): boolean {
    if (body === undefined) return false
    const names = body.startsWith('*')
      ? body.matchAll(/(?<=\$\d{1,4}\r\n)[^\r]{1,400}(?=\r\n\$)/g)
      : body.matchAll(/(?<=")[^"\\]{1,400}(?="\s*,\s*")/g)
    return [...names].some(([name]) => this.isSecretName(name) || this.isSecretName(fromBase64(name) ?? ''))
  }
}

/** Redaction for entries whose sandbox is unknown. It recognizes secrets only by their names and formats. */
export const standardRedaction: Redaction = /* @__PURE__ */ new Redaction()

function withoutTexts(reply: unknown): unknown {
  const isText = typeof reply === 'string' || (typeof reply === 'object' && reply !== null)
  return isText && reply !== 'OK' && (reply as { text?: unknown }).text !== 'OK' ? hidden : reply
}

/**
 * Returns which fields of the response must be hidden. In a workflow run, the response to a delivery contains results
 * of steps. So fields that the message redacts are also hidden in the response.
 */
export function hiddenInRun({ workflowRunId, redact }: EntryOf<'attempt'>): RedactedFields | undefined {
  return workflowRunId === undefined ? undefined : redact
}

interface Part {
  readonly from: number
  readonly to: number
}

/**
 * Returns the command in a URL with the position of each argument. Arguments in the path come before arguments in the
 * query.
 */
function commandIn(url: string): { readonly words: readonly string[]; readonly parts: readonly Part[] } {
  const end = url.indexOf('#')
  const whole = end === -1 ? url : url.slice(0, end)
  const query = whole.indexOf('?')
  const path = query === -1 ? whole : whole.slice(0, query)
  const segments = partsOf(path, 0, '/')
  const before = segments.findIndex(({ from, to }) => isTelling(decodeSegment(path.slice(from, to))))
  if (before === -1) return { words: [], parts: [] }
  const pairs = query === -1 ? [] : partsOf(whole.slice(query + 1), query + 1, '&')
  const further = pairs.flatMap(({ from, to }): Part[] => {
    const pair = whole.slice(from, to)
    if (pair === '' || /^_token(?:=|$)/.test(pair)) return []
    const equals = pair.indexOf('=')
    // The service ignores an empty value of a query parameter, so only the name is an argument.
    if (equals === -1 || equals === pair.length - 1) return [{ from, to: equals === -1 ? to : to - 1 }]
    return [
      { from, to: from + equals },
      { from: from + equals + 1, to },
    ]
  })
  const parts = [...segments.slice(before), ...further]
  return {
    parts,
    words: parts.map(({ from, to }) =>
      decodeSegment(query === -1 || from < query ? url.slice(from, to) : url.slice(from, to).replaceAll('+', ' ')),
    ),
  }
}

function partsOf(text: string, offset: number, mark: string): Part[] {
  let from = offset
  return text.split(mark).map((part) => {
    const found = { from, to: from + part.length }
    from = found.to + 1
    return found
  })
}

const commandName = /\b(?:auth|acl|hello|migrate|config|h[a-z]{2,9}|x[a-z]{3,9}|json\.|eval|fcall|script|function)/i

/** Returns those commands of a store request that may contain a secret. */
function rowsOf({ url, body }: Extract<Entry, { type: 'request' }>): readonly (readonly string[])[] {
  const { words } = commandIn(url)
  if (words.length > 0) {
    if (body === '') return [words]
    // The service inserts the body as an argument after those in the path and before those in the query.
    const path = commandIn(/^[^?#]*/.exec(url)![0]).words
    return [[...path, text(body), ...words.slice(path.length)]]
  }
  // Skip a body that contains no command name. In JSON, a command name can also be written with `\u` escapes, so do not
  // skip a body with such escapes.
  if (!commandName.test(body) && !body.includes('\\u')) return []
  try {
    const given: unknown = JSON.parse(text(body))
    if (Array.isArray(given)) {
      const rows: readonly unknown[] = Array.isArray(given[0]) ? given : [given]
      return rows.filter((row) => Array.isArray(row)).map((row: unknown[]) => row.map(String))
    }
  } catch {
    // The service does not run a body that is not JSON.
  }
  // A body that is not a list of commands was not run, but a password in it must still be hidden.
  return /(?:^|["'[])\s*(?:auth|acl|config|hello|migrate)[\s"'\]]/i.test(body) ? [['AUTH', '']] : []
}
