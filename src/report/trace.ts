import { type Bytes, latin1, text } from '../kernel/bytes.js'
import { definedFields } from '../kernel/defined-fields.js'
import { type PortableString, portableString } from '../kernel/portable.js'
import type { Entry, EntryOf, RedactedFields, StoreDiff } from '../kernel/traffic-log.js'
import { hidden, hiddenInRun, type Redaction } from './redaction.js'
import type { TrafficContext } from './traffic-context.js'

/** Options of `traffic.toTrace()`. */
export interface TraceOptions {
  /**
   * Additional names of headers, JSON fields and query parameters that contain secrets. The name `body` hides all
   * bodies, and the name `headers` hides all headers.
   */
  readonly redact?: readonly string[]
  /** Maximum number of bytes of a body. A longer body is truncated and marked. Default: no limit. */
  readonly bodies?: number
}

/** The traffic as plain JSON. The same entries always give the same bytes. */
export interface Trace {
  /** Name of the file format, by which `loadTrace()` recognizes a trace. */
  readonly format: 'stuntdouble/trace'
  /** Version of the file format. */
  readonly version: 1
  /** The sandbox's seed; absent if it is unknown. */
  readonly seed?: number | string
  /** Virtual time at which the trace was written, in milliseconds since the Unix epoch. */
  readonly now?: number
  /** Prefix of the service's own headers in the sandbox's dialect: `Service-`. */
  readonly headerPrefix?: string
  /** Base URLs of the services. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** Entries of the traffic log, oldest first. */
  readonly entries: readonly TraceEntry[]
}

/**
 * An entry as JSON, with the fields of its type. Bytes are text or `{ base64 }`. In replies, simple strings are
 * `{ status }`. Integers beyond 2^53 are `{ integer }`.
 */
export type TraceEntry = {
  /** Type of the entry, such as `attempt`. */
  readonly type: string
  /** Number of the entry in the log, counted from 1. */
  readonly seq: number
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the entry that led to this one; absent if there is none. */
  readonly cause?: number
} & {
  readonly [field: string]: unknown
}

export function traceOf(
  entries: readonly Entry[],
  { seed, now, headerPrefix, addresses }: TrafficContext,
  redaction: Redaction,
  { bodies = Number.POSITIVE_INFINITY }: TraceOptions = {},
): Trace {
  const writer = new EntryWriter(redaction, bodies)
  return {
    format: 'stuntdouble/trace',
    version: 1,
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now: now() }),
    ...(headerPrefix !== undefined && { headerPrefix }),
    ...(addresses !== undefined && { addresses }),
    entries: entries.map((entry) => writer.entry(entry)),
  }
}

type Plain = Record<string, unknown>

export class EntryWriter {
  constructor(
    readonly redaction: Redaction,
    readonly bodies: number,
  ) {}

  entry(entry: Entry): TraceEntry {
    const { type, seq, at, cause, region, database } = entry
    // Some types of entries must have a `cause`, and use 0 if there is none. The trace omits it then.
    const caused = cause !== undefined && cause > 0 && { cause }
    const stamp = { type, seq, at, ...caused, ...(region && { region }), ...(database && { database }) }
    return { ...stamp, ...definedFields(this.#fields(entry)) }
  }

  #fields(entry: Entry): Plain {
    switch (entry.type) {
      case 'request':
        return this.#request(entry)
      case 'command':
        return this.#command(entry)
      case 'keyspace':
        return {
          event: entry.event,
          key: portableString(this.redaction.body(entry.key)),
          ...(entry.reason !== undefined && { reason: entry.reason }),
        }
      case 'published':
        return this.#published(entry)
      case 'attempt':
        return this.#attempt(entry)
      case 'outbound':
        return this.#call(entry)
      case 'notify':
        return this.#notify(entry)
      default:
        return this.#other(entry)
    }
  }

  #request(entry: EntryOf<'request'>): Plain {
    const { url, fields, answer: hiddenInAnswer } = this.redaction.request(entry)
    const { response: answer } = entry
    return {
      service: entry.service,
      method: entry.method,
      url,
      headers: this.redaction.headers(entry.headers, fields),
      body: this.#body(entry.body, fields),
      redact: hiddenNames(entry.redact),
      note: entry.note,
      response: answer && {
        at: answer.at,
        status: answer.status,
        headers: this.redaction.headers(answer.headers),
        body: answer.body === undefined ? null : this.#body(answer.body, hiddenInAnswer),
      },
      endedAfterSeq: entry.endedAfterSeq,
    }
  }

  #call(entry: EntryOf<'outbound'>): Plain {
    const { redaction } = this
    const { response: answer } = entry
    return {
      method: entry.method,
      url: redaction.url(entry.url),
      headers: redaction.headers(entry.headers),
      body: this.#body(entry.body),
      possibleCauses: entry.possibleCauses,
      handlerRuns: entry.handlerRuns,
      fault: entry.fault,
      response: answer && {
        at: answer.at,
        status: answer.status,
        headers: redaction.headers(answer.headers),
        body: answer.body === undefined ? null : this.#body(answer.body),
        ...definedFields({ error: this.#json(answer.error), note: this.#json(answer.note) }),
      },
      endedAfterSeq: entry.endedAfterSeq,
    }
  }

  #command(entry: EntryOf<'command'>): Plain {
    const { redaction } = this
    const words = entry.argv.map((word) => text(word))
    const secret = redaction.isSecretCommand(words)
    const argv = secret ? redaction.words(words) : entry.argv.map((word) => portableString(redaction.body(word)))
    return {
      argv,
      user: entry.user,
      via: entry.via,
      reply:
        redaction.hidesReply(words) && entry.error === undefined
          ? hidden
          : this.#reply(redaction.reply(words, entry.reply)),
      error: entry.error === undefined ? undefined : redaction.errorOf(words, entry.error),
      waitedMs: entry.waitedMs,
      note: entry.note,
    }
  }

  #published(entry: EntryOf<'published'>): Plain {
    const { redaction } = this
    const url = (given: string | undefined) => given && redaction.url(given)
    return {
      messageId: entry.messageId,
      kind: entry.kind,
      url: redaction.url(entry.url),
      method: entry.method,
      headers: redaction.headers(entry.headers, entry.redact),
      body: this.#body(entry.body, entry.redact),
      maxRetries: entry.maxRetries,
      notBefore: entry.notBefore,
      deduplicated: entry.deduplicated,
      urlGroup: this.#json(entry.urlGroup),
      endpointName: this.#json(entry.endpointName),
      queue: this.#json(entry.queue),
      scheduleId: this.#json(entry.scheduleId),
      flowControlKey: this.#json(entry.flowControlKey),
      labels: this.#json(entry.labels),
      callback: url(entry.callback),
      failureCallback: url(entry.failureCallback),
      retryDelay: this.#json(entry.retryDelay),
      deduplicationId: this.#json(entry.deduplicationId),
      contentBasedDeduplication: entry.contentBasedDeduplication,
      sourceMessageId: entry.sourceMessageId,
      stepSettings: this.#json(entry.stepSettings),
      redact: hiddenNames(entry.redact),
    }
  }

  #attempt(entry: EntryOf<'attempt'>): Plain {
    const { redaction } = this
    const { outcome } = entry
    return {
      messageId: entry.messageId,
      kind: entry.kind,
      url: redaction.url(entry.url),
      method: entry.method,
      retried: entry.retried,
      maxRetries: entry.maxRetries,
      reason: this.#json(entry.reason),
      waitReason: this.#json(entry.waitReason),
      workflowRunId: entry.workflowRunId,
      headers: redaction.headers(entry.headers, entry.redact),
      body: this.#body(entry.body, entry.redact),
      redact: hiddenNames(entry.redact),
      fault: entry.fault,
      store: entry.store && this.#json(entry.store),
      outcome: outcome && {
        ...definedFields({
          at: outcome.at,
          status: outcome.status,
          error: outcome.error && redaction.text(outcome.error),
          headers: redaction.headers(outcome.headers),
          body: this.#body(outcome.body, hiddenInRun(entry)),
          state: outcome.state,
          next: this.#json(outcome.next),
          note: outcome.note && redaction.text(outcome.note),
        }),
      },
      endedAfterSeq: entry.endedAfterSeq,
    }
  }

  #notify(entry: EntryOf<'notify'>): Plain {
    const { eventId, runIds, runId, body, redact, kept } = entry
    return {
      eventId: this.#json(eventId),
      runIds,
      runId,
      body: this.#body(body, redact),
      redact: hiddenNames(redact),
      kept,
    }
  }

  /** Converts an entry whose type has no bodies. Only secrets in its texts are hidden. */
  #other(entry: Entry): Plain {
    const { type, seq, at, cause, ...rest } = entry as Entry & Plain
    return this.#json(rest) as Plain
  }

  #json(value: StoreDiff | unknown): unknown {
    if (typeof value === 'string') return this.redaction.text(value)
    if (typeof value === 'bigint') return { integer: String(value) }
    if (Array.isArray(value)) return value.map((item) => this.#json(item))
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Set) return [...value].map((item) => this.#json(item))
    // A captured field may be named `__proto__`. Assigning it would set the prototype of the object, but
    // `Object.fromEntries` creates an ordinary field.
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined && typeof field !== 'function')
        .map(([name, field]) => [
          name,
          typeof field === 'string' && this.redaction.isSecretName(name) ? hidden : this.#json(field),
        ]),
    )
  }

  #body(
    body: Bytes,
    fields?: RedactedFields,
  ): PortableString | { readonly cut: PortableString; readonly size: number } {
    if (body.length <= this.bodies) return portableString(this.redaction.body(body, fields))
    // Redact some text after the limit, too. Otherwise, a secret at the limit would be split and not recognized.
    const start = this.redaction.body(body.slice(0, this.bodies + 8192) as Bytes, fields)
    return { cut: portableString(wholeChars(start.slice(0, this.bodies) as Bytes)), size: body.length }
  }

  #reply(reply: unknown): unknown {
    if (reply === undefined || reply === null) return reply
    if (typeof reply === 'string') return portableString(this.redaction.body(reply as Bytes))
    if (typeof reply === 'bigint') return { integer: String(reply) }
    if (Array.isArray(reply)) return reply.map((item) => this.#reply(item))
    if (typeof reply !== 'object') return reply
    const { text: status } = reply as { text?: unknown }
    return typeof status === 'string' ? { status: portableString(this.redaction.body(latin1(status))) } : null
  }
}

function hiddenNames(fields: RedactedFields | undefined): object | undefined {
  if (fields === undefined) return undefined
  return { body: fields.body, allHeaders: fields.allHeaders, headers: [...fields.headers] }
}

/** Removes a character at the end that may be incomplete, because the text was cut after a number of bytes. */
function wholeChars(bytes: Bytes): Bytes {
  let end = bytes.length
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const code = bytes.charCodeAt(bytes.length - back)
    if (code >= 0xc0) end = bytes.length - back
    if (code < 0x80 || code >= 0xc0) break
  }
  return bytes.slice(0, end) as Bytes
}

/** Creates an EntryWriter. */
export function entryWriter(...given: ConstructorParameters<typeof EntryWriter>): EntryWriter {
  return new EntryWriter(...given)
}
