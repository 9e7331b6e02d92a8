import { type Bytes, isUtf8, text, toBase64 } from '../kernel/bytes.js'
import { iso } from '../kernel/instant.js'
import type { Entry, EntryOf, RedactedFields } from '../kernel/traffic-log.js'
import { commandLine } from './describe.js'
import { hiddenInRun, type Redaction } from './redaction.js'

/** Options of `traffic.toHar()`. */
export interface HarOptions {
  /**
   * Additional names of headers, JSON fields and query parameters that contain secrets. `body` and `headers` hide all
   * of them.
   */
  readonly redact?: readonly string[]
}

interface Pair {
  /** Name of the header or query parameter. */
  readonly name: string
  /** Value of the header or query parameter, with secrets hidden. */
  readonly value: string
}

/** One request with its response in an HTTP archive. */
export interface HarEntry {
  /** Virtual time of the request, in ISO 8601. */
  readonly startedDateTime: string
  /** Duration in milliseconds of virtual time. */
  readonly time: number
  /** The request, with secrets hidden. */
  readonly request: {
    readonly method: string
    readonly url: string
    readonly httpVersion: string
    readonly cookies: readonly Pair[]
    readonly headers: readonly Pair[]
    readonly queryString: readonly Pair[]
    readonly postData?: HarPostData
    readonly headersSize: number
    readonly bodySize: number
  }
  /** The response, with secrets hidden. Without a response, `status` is 0 and `_error` contains the reason. */
  readonly response: {
    readonly status: number
    readonly statusText: string
    readonly httpVersion: string
    readonly cookies: readonly Pair[]
    readonly headers: readonly Pair[]
    readonly content: HarContent
    readonly redirectURL: string
    readonly headersSize: number
    readonly bodySize: number
    readonly _error?: string
  }
  /** Always an empty object, which the HAR standard requires. */
  readonly cache: object
  /** Durations in milliseconds of virtual time. `wait` is the whole duration, and the others are 0. */
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number }
  /** For an attempt: its kind, reason and note. For an outbound request: its possible causes and note. */
  readonly comment?: string
  /** Type of the resource for browser tools that read the archive; always `fetch`. */
  readonly _resourceType: 'fetch'
  /**
   * Kind of the entry: a request that the sandbox received, a delivery attempt of the queue, or an outbound request of
   * the app.
   */
  readonly _type: 'request' | 'attempt' | 'outbound'
  /** Number of the entry in the traffic log. */
  readonly _seq: number
  /** Number of the entry that led to this one. Absent if there is none. */
  readonly _cause?: number
  /** For a request to an added database of the data store: its name. Absent for all other requests. */
  readonly _database?: string
  /** For an attempt: ID of the message, `msg_…`. */
  readonly _messageId?: string
  /** For a request to the store: the commands that it ran, as text with secrets hidden. */
  readonly _commands?: readonly string[]
}

interface HarPostData {
  /** Value of the header `content-type`; `application/octet-stream` without one. */
  readonly mimeType: string
  /** Always an empty list, because the body is not parsed as a form. */
  readonly params: readonly never[]
  /** The body as text, or in base64 if `_encoding` is set. */
  readonly text: string
  /**
   * `base64` if the request body is not text. The HAR standard has an encoding only for response bodies, so this field
   * is an extension.
   */
  readonly _encoding?: 'base64'
  /** Comment that the body is in base64. Absent for a body that is text. */
  readonly comment?: string
}

interface HarContent {
  /** Number of bytes of the body; 0 for a stream and without a response. */
  readonly size: number
  /**
   * Value of the header `content-type`. Without one: `application/octet-stream`, or `x-unknown` if there is no body.
   */
  readonly mimeType: string
  /** The body as text, or in base64 if `encoding` is set; absent for a stream and without a response. */
  readonly text?: string
  /** `base64` for a response body that is not text. */
  readonly encoding?: 'base64'
  /** Comment that the body of a stream was not captured. Absent for other bodies. */
  readonly comment?: string
}

/** An HTTP archive (HAR 1.2). */
export interface Har {
  /** Content of the archive: its version, its creator and the requests with their responses. */
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string; readonly comment: string }
    readonly pages: readonly never[]
    readonly entries: readonly HarEntry[]
    readonly comment: string
  }
}

type Header = readonly [name: string, value: string]

/**
 * Returns an HTTP archive with the requests that the sandbox received, the delivery attempts and the outbound requests,
 * in order. [HTTP Archive 1.2]
 */
export function harOf(entries: readonly Entry[], redaction: Redaction): Har {
  const commands = new Map<number, string[]>()
  for (const entry of entries) {
    if (entry.type !== 'command' || entry.cause === undefined) continue
    const list = commands.get(entry.cause)
    const line = commandLine(entry.argv, redaction)
    if (list) list.push(line)
    else commands.set(entry.cause, [line])
  }
  const dropped =
    entries[0]?.type === 'dropped' ? ` ${entries[0].count} earlier entries of the traffic log were dropped.` : ''
  return {
    log: {
      version: '1.2',
      creator: { name: 'stuntdouble', version: '1', comment: 'Version of the export format.' },
      pages: [],
      entries: entries.flatMap((entry) => {
        if (entry.type === 'request') return [requestEntry(entry, commands.get(entry.seq), redaction)]
        if (entry.type === 'outbound') return [callEntry(entry, redaction)]
        return entry.type === 'attempt' ? [attemptEntry(entry, redaction)] : []
      }),
      comment: `Times are virtual.${dropped}`,
    },
  }
}

function requestEntry(
  entry: EntryOf<'request'>,
  commands: readonly string[] | undefined,
  redaction: Redaction,
): HarEntry {
  const { response: answer } = entry
  const { url, fields, answer: hiddenInAnswer } = redaction.request(entry)
  return {
    startedDateTime: iso(entry.at),
    time: answer === undefined ? 0 : answer.at - entry.at,
    request: sent(entry, url, fields, redaction),
    response: received(
      answer,
      hiddenInAnswer,
      redaction,
      answer === undefined ? 'no response yet' : 'the connection was broken',
    ),
    cache: {},
    timings: { send: 0, wait: answer === undefined ? 0 : answer.at - entry.at, receive: 0 },
    _resourceType: 'fetch',
    _type: 'request',
    _seq: entry.seq,
    ...(entry.cause !== undefined && entry.cause > 0 && { _cause: entry.cause }),
    ...(entry.database !== undefined && { _database: entry.database }),
    ...(commands && { _commands: commands }),
  }
}

function attemptEntry(entry: EntryOf<'attempt'>, redaction: Redaction): HarEntry {
  const { outcome } = entry
  const took = outcome === undefined ? 0 : outcome.at - entry.at
  const note = outcome?.note === undefined ? '' : `; ${redaction.text(outcome.note)}`
  return {
    startedDateTime: iso(entry.at),
    time: took,
    request: sent(entry, redaction.url(entry.url), entry.redact, redaction),
    response: received(outcome, hiddenInRun(entry), redaction, redaction.text(outcome?.error ?? 'no response yet')),
    cache: {},
    timings: { send: 0, wait: took, receive: 0 },
    comment: `${entry.kind}, ${redaction.text(entry.reason)}${note}`,
    _resourceType: 'fetch',
    _type: 'attempt',
    _seq: entry.seq,
    ...(entry.cause !== undefined && entry.cause > 0 && { _cause: entry.cause }),
    _messageId: entry.messageId,
  }
}

function callEntry(entry: EntryOf<'outbound'>, redaction: Redaction): HarEntry {
  const { response: answer, possibleCauses } = entry
  const took = answer === undefined ? 0 : answer.at - entry.at
  const by = possibleCauses === undefined ? [] : [`made by ${possibleCauses.map((seq) => `#${seq}`).join(' or ')}`]
  const comment = [...by, ...(answer?.note === undefined ? [] : [redaction.text(answer.note)])].join('; ')
  return {
    startedDateTime: iso(entry.at),
    time: took,
    request: sent(entry, redaction.url(entry.url), undefined, redaction),
    response: received(answer, undefined, redaction, redaction.text(answer?.error ?? 'no response yet')),
    cache: {},
    timings: { send: 0, wait: took, receive: 0 },
    ...(comment !== '' && { comment }),
    _resourceType: 'fetch',
    _type: 'outbound',
    _seq: entry.seq,
    ...(entry.cause !== undefined && entry.cause > 0 && { _cause: entry.cause }),
  }
}

interface Sent {
  readonly method: string
  readonly headers: readonly Header[]
  readonly body: Bytes
}

function sent(entry: Sent, url: string, fields: RedactedFields | undefined, redaction: Redaction): HarEntry['request'] {
  const body = redaction.body(entry.body, fields)
  const mimeType = headerOf(entry.headers, 'content-type') ?? 'application/octet-stream'
  return {
    method: entry.method,
    url,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs(redaction.headers(entry.headers, fields)),
    queryString: queryOf(url),
    ...(entry.body !== '' && { postData: { mimeType, params: [], ...postText(body) } }),
    headersSize: -1,
    bodySize: entry.body.length,
  }
}

interface Received {
  readonly status: number
  readonly headers: readonly Header[]
  readonly body: Bytes | undefined
}

function received(
  answer: Received | undefined,
  fields: RedactedFields | undefined,
  redaction: Redaction,
  missing: string,
): HarEntry['response'] {
  const { status = 0, headers = [], body } = answer ?? {}
  const shown = body === undefined ? undefined : redaction.body(body, fields)
  const mimeType =
    headerOf(headers, 'content-type') ?? (body === undefined || body === '' ? 'x-unknown' : 'application/octet-stream')
  return {
    status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs(redaction.headers(headers)),
    content: {
      size: body?.length ?? 0,
      mimeType,
      ...(shown === undefined
        ? answer !== undefined && { comment: 'a stream: its body was not captured' }
        : contentText(shown)),
    },
    redirectURL: headerOf(headers, 'location') === undefined ? '' : redaction.url(headerOf(headers, 'location')!),
    headersSize: -1,
    bodySize: body?.length ?? -1,
    ...(status === 0 && { _error: missing }),
  }
}

function contentText(body: Bytes): Pick<HarContent, 'text' | 'encoding'> {
  return isUtf8(body) ? { text: text(body) } : { text: toBase64(body), encoding: 'base64' }
}

function postText(body: Bytes): Pick<HarPostData, 'text' | '_encoding' | 'comment'> {
  if (isUtf8(body)) return { text: text(body) }
  return { text: toBase64(body), _encoding: 'base64', comment: 'base64: the body is not text' }
}

function pairs(headers: readonly Header[]): Pair[] {
  return headers.map(([name, value]) => ({ name, value }))
}

function headerOf(headers: readonly Header[], wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function queryOf(url: string): Pair[] {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? ''
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at === -1
        ? { name: plain(part), value: '' }
        : { name: plain(part.slice(0, at)), value: plain(part.slice(at + 1)) }
    })
}

function plain(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return part
  }
}
