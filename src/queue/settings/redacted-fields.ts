import { type Bytes, toHex, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { HeaderList } from '../../kernel/http.js'

/** Fields of a message that API responses must redact. [queue.md 2.2 Redact-Fields] */
export interface FieldRedaction {
  readonly body: boolean
  readonly allHeaders: boolean
  /** Names of the redacted headers in lower case. */
  readonly headers: ReadonlySet<string>
}

/**
 * Parses the value of `Redact-Fields`: a list of `body`, `header`, `headers`, `header[Name]` and `headers[Name]`,
 * separated by commas. Returns `undefined` for other texts.
 */
export function parseRedaction(text: string): FieldRedaction | undefined {
  let body = false
  let allHeaders = false
  const headers = new Set<string>()
  for (const part of text.split(',')) {
    const field = part.trim()
    const named = /^headers?\s*\[([^\]]+)\]$/i.exec(field)?.[1]?.trim()
    if (/^body$/i.test(field)) body = true
    else if (/^headers?$/i.test(field)) allHeaders = true
    else if (named) headers.add(named.toLowerCase())
    else if (field !== '') return undefined
  }
  return body || allHeaders || headers.size > 0 ? { body, allHeaders, headers } : undefined
}

export function writeRedaction({ body, allHeaders, headers }: FieldRedaction): string {
  const named = [...headers].map((name) => `header[${name}]`)
  return [...(body ? ['body'] : []), ...(allHeaders ? ['header'] : []), ...named].join(', ')
}

export function redactedBody(body: Bytes, redaction: FieldRedaction | undefined): string | undefined {
  return redaction?.body === true ? mark(body) : undefined
}

export function redactedHeaders(headers: HeaderList, redaction: FieldRedaction | undefined): HeaderList {
  if (redaction === undefined || (!redaction.allHeaders && redaction.headers.size === 0)) return headers
  return headers.map(([name, value]) =>
    redaction.allHeaders || redaction.headers.has(name.toLowerCase()) ? [name, mark(utf8(value))] : [name, value],
  )
}

function mark(value: Bytes): string {
  return `REDACTED:${toHex(sha256Bytes(value))}`
}
