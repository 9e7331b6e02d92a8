import { type Bytes, fromBase64, utf8 } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'

// Parses JSON of the service's API: a dead letter, a log entry, the body of a callback, or a page of them. Each record
// becomes facts about one message. Unknown and invalid fields are ignored. [queue.md 1.5, 4.3, 5.4, 5.5]

export interface AttemptFact {
  /**
   * Number of the attempt, 0 for the first one. Log entries do not contain the number, so their attempts are counted.
   */
  readonly retried?: number | undefined
  readonly status: number
  readonly error?: string | undefined
  readonly headers: HeaderList
  readonly body: Bytes
  readonly startedAt?: number | undefined
  readonly endedAt?: number | undefined
}

/** Facts about a message from its publish. */
export interface MessageFacts {
  readonly url?: string | undefined
  readonly method?: string | undefined
  readonly headers?: HeaderList | undefined
  readonly body?: Bytes | undefined
  readonly maxRetries?: number | undefined
  readonly createdAt?: number | undefined
  readonly notBefore?: number | undefined
  readonly retryDelay?: string | undefined
  /** Timeout in seconds. */
  readonly timeout?: number | undefined
  readonly callback?: string | undefined
  readonly callbackHeaders?: HeaderList | undefined
  readonly failureCallback?: string | undefined
  readonly failureCallbackHeaders?: HeaderList | undefined
  readonly flowControlKey?: string | undefined
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  /** Period in seconds. */
  readonly period?: number | undefined
  readonly labels?: readonly string[] | undefined
  readonly urlGroup?: string | undefined
  readonly queue?: string | undefined
  readonly scheduleId?: string | undefined
}

export interface LogLine {
  readonly time: number
  readonly state: string
  readonly attempt?: AttemptFact
  readonly nextDeliveryTime?: number | undefined
}

/** Facts that one record of a file contains. */
export interface Fact {
  readonly messageId: string
  readonly message: MessageFacts
  readonly log?: LogLine
  /** Attempt that the callback reports, if the record is a callback. */
  readonly reported?: AttemptFact
  /** Last attempt, if the record is a dead letter. */
  readonly dead?: AttemptFact
}

/** Maximum number of attempts per message that an import reads or assumes. */
export const maxAttempts = 1000

/** Thrown when a file contains no records of the service. */
export class ImportError extends Error {}

type Json = Readonly<Record<string, unknown>>

/**
 * Returns the records in parsed JSON: one record, an array, or a page.
 * @throws ImportError
 */
export function recordsOf(value: unknown, place: string, notes: string[]): readonly Fact[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => recordsOf(item, `${place}[${index}]`, notes))
  if (typeof value !== 'object' || value === null)
    throw new ImportError(`${place} must be an object. Use dead letters, log entries or callback bodies as JSON.`)
  const given = value as Json
  for (const list of ['events', 'logs', 'messages']) {
    if (!Array.isArray(given[list])) continue
    if (textOf(given.cursor))
      notes.push(`${place} is only one page of the list. The next page begins at cursor ${textOf(given.cursor)}.`)
    // A page of `/v2/logs` contains the same list in two fields.
    return recordsOf(given[list], `${place}.${list}`, notes)
  }
  if (textOf(given.sourceMessageId)) return [callbackFact(given)]
  if (!textOf(given.messageId)) {
    throw new ImportError(
      `${place} must be a dead letter, a log entry or a callback body, but has no messageId (its fields are ${Object.keys(given).slice(0, 8).join(', ') || 'none'}).`,
    )
  }
  if (textOf(given.state) && given.time !== undefined) return [logFact(given)]
  return [
    given.dlqId === undefined && given.responseStatus === undefined
      ? { messageId: textOf(given.messageId)!, message: messageFacts(given, clearBody(given)) }
      : deadFact(given),
  ]
}

function deadFact(given: Json): Fact {
  const createdByQueue = /^(\d+)-\d+$/.exec(textOf(given.dlqId) ?? '')
  return {
    messageId: textOf(given.messageId)!,
    message: messageFacts(given, clearBody(given)),
    dead: {
      status: statusOf(given.responseStatus) ?? 0,
      error: textOf(given.error),
      headers: pairsOf(given.responseHeader ?? given.responseHeaders),
      body: bytesOf(given.responseBody, given.responseBodyBase64),
      endedAt: timeOf(createdByQueue?.[1]),
    },
  }
}

function logFact(given: Json): Fact {
  const state = textOf(given.state)!.replace(/^CANCELED$/, 'CANCELLED')
  const time = timeOf(given.time) ?? 0
  const ended = state === 'ERROR' || state === 'DELIVERED'
  return {
    messageId: textOf(given.messageId)!,
    message: messageFacts(given, base64Body(given.body)),
    log: {
      time,
      state,
      nextDeliveryTime: timeOf(given.nextDeliveryTime),
      ...(ended && {
        attempt: {
          status: statusOf(given.responseStatus) ?? (state === 'DELIVERED' ? 200 : 0),
          error: textOf(given.error),
          headers: pairsOf(given.responseHeaders ?? given.responseHeader),
          body: base64Body(given.responseBody) ?? utf8(''),
          endedAt: time,
        },
      }),
    },
  }
}

function callbackFact(given: Json): Fact {
  const retried = Math.min(countOf(given.retried) ?? 0, maxAttempts - 1)
  const attempt: AttemptFact = {
    retried,
    status: statusOf(given.status) ?? 0,
    headers: pairsOf(given.header),
    body: base64Body(given.body) ?? utf8(''),
  }
  const message = messageFacts({ ...given, header: given.sourceHeader }, base64Body(given.sourceBody))
  return {
    messageId: textOf(given.sourceMessageId)!,
    message,
    ...(textOf(given.dlqId) === undefined ? { reported: attempt } : { reported: attempt, dead: attempt }),
  }
}

function messageFacts(given: Json, body: Bytes | undefined): MessageFacts {
  const labels = Array.isArray(given.labels)
    ? given.labels.map(String)
    : textOf(given.label) === undefined
      ? undefined
      : [textOf(given.label)!]
  return {
    url: urlOf(given.url),
    method: methodOf(given.method),
    headers: given.header === undefined ? undefined : pairsOf(given.header),
    body,
    maxRetries: countOf(given.maxRetries),
    createdAt: timeOf(given.createdAt),
    notBefore: timeOf(given.notBefore),
    retryDelay: textOf(given.retryDelayExpression) ?? textOf(given.retryDelayExpr),
    timeout: countOf(numberOf(given.timeout) === undefined ? undefined : Math.ceil(numberOf(given.timeout)! / 1000), 1),
    callback: urlOf(given.callback),
    callbackHeaders: optionalPairs(given.callbackHeader ?? given.callbackHeaders),
    failureCallback: urlOf(given.failureCallback),
    failureCallbackHeaders: optionalPairs(given.failureCallbackHeader ?? given.failureCallbackHeaders),
    flowControlKey: textOf(given.flowControlKey),
    parallelism: countOf(given.parallelism, 1),
    rate: countOf(given.rate, 1),
    period: countOf(given.period, 1),
    labels,
    urlGroup: textOf(given.topicName),
    queue: textOf(given.queueName),
    scheduleId: textOf(given.scheduleId),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a whole number between `least` and 1,000,000. Returns `undefined` for any other value. */
function countOf(value: unknown, least = 0): number | undefined {
  const number = numberOf(value)
  return number !== undefined && Number.isInteger(number) && number >= least && number <= 1_000_000 ? number : undefined
}

/** The last millisecond of the year 9999. */
const lastTime = 253_402_300_799_999

function timeOf(value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 && number <= lastTime ? Math.floor(number) : undefined
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function statusOf(value: unknown): number | undefined {
  const status = countOf(value)
  return status !== undefined && status >= 200 && status <= 599 ? status : status === undefined ? undefined : 0
}

function methodOf(value: unknown): string | undefined {
  const method = textOf(value)?.toUpperCase()
  return method !== undefined && methods.includes(method) ? method : undefined
}

function urlOf(value: unknown): string | undefined {
  const url = textOf(value)
  return url !== undefined && /^https?:\/\//.test(url) && URL.canParse(url) ? url : undefined
}

/**
 * Returns a finite number, or `undefined` for any other value. A string with a number is accepted, because some sources
 * write times as strings. [queue.md 5.4, 16]
 */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function pairsOf(value: unknown): HeaderList {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value)
    .filter(([name]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && name !== '__proto__')
    .flatMap(([name, values]) =>
      [values].flat().map((item): [string, string] => [name, String(item).replace(/[\r\n\0]+/g, ' ')]),
    )
}

function optionalPairs(value: unknown): HeaderList | undefined {
  const pairs = pairsOf(value)
  return pairs.length === 0 ? undefined : pairs
}

function clearBody(given: Json): Bytes | undefined {
  if (given.body === undefined && given.bodyBase64 === undefined) return undefined
  return bytesOf(given.body, given.bodyBase64)
}

function bytesOf(clear: unknown, encoded: unknown): Bytes {
  const bytes = typeof encoded === 'string' ? fromBase64(encoded) : undefined
  return bytes ?? utf8(typeof clear === 'string' ? clear : '')
}

/** Decodes a base64 body of a log entry or callback. A text that is not base64 is used unchanged. */
function base64Body(value: unknown): Bytes | undefined {
  if (typeof value !== 'string') return undefined
  return (/^[\w+/=-]*$/.test(value) ? fromBase64(value) : undefined) ?? utf8(value)
}
