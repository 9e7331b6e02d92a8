import { type Bytes, isUtf8, text } from '../kernel/bytes.js'
import { definedFields } from '../kernel/defined-fields.js'
import { formatDuration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import { instant } from '../kernel/instant.js'
import { isDeeper } from '../kernel/json-depth.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry, EntryOf } from '../kernel/traffic-log.js'
import { plainReply } from './decoded.js'
import { hidden, hiddenInRun, type Redaction } from './redaction.js'
import type { TrafficContext } from './traffic-context.js'

/** An entry as plain JSON. Details that differ between runs are removed or replaced. */
export type NormalizedEntry = {
  /** Time since the first entry, such as `T+12s`. */
  readonly at: string
  /** Type of the entry, such as `attempt`. */
  readonly type: string
} & { readonly [field: string]: unknown }

/** Headers that a client or the queue adds automatically. They are omitted. */
const noise =
  /^(?:accept(?:-encoding|-language)?|connection|content-length|host|user-agent|date|keep-alive|sec-.*|traceparent|x-forwarded-.*|.*-telemetry-.*|.*-(?:signature|message-id|retried|caller-ip|region|schedule-id|dlq-id|source-message-id))$/i

const idShape = /\b(?:(msg|scd|wfr|jwt|evt)_[A-Za-z0-9]{10,200}(?:_[A-Za-z0-9]{1,200}){0,20}|(\d{13})-(\d{1,20}))\b/g
const isoShape = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,20})?(?:Z|[+-]\d\d:\d\d)/g
const uuidShape = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const epochShape = /(?<![\w.-])\d{13}(?![\w.-])/g

const kinds: Readonly<Record<string, string>> = {
  msg: 'message',
  scd: 'schedule',
  wfr: 'run',
  jwt: 'signature',
  evt: 'event',
}

/**
 * Returns entries in which IDs and times have stable names: `<message 1>`, `<dead letter 1>`, `T+12s`. IDs are numbered
 * in order of appearance.
 */
export function normalizedTraffic(
  entries: readonly Entry[],
  context: TrafficContext,
  redaction: Redaction,
): NormalizedEntry[] {
  const names = new StableNames(entries[0]?.at ?? 0, context, redaction)
  const commands = new Map<number, EntryOf<'command'>[]>()
  for (const entry of entries) {
    if (entry.type !== 'command' || entry.cause === undefined) continue
    const list = commands.get(entry.cause)
    if (list) list.push(entry)
    else commands.set(entry.cause, [entry])
  }
  const seqs = new Set(entries.map((entry) => entry.seq))
  return entries.flatMap((entry) => {
    // Commands are shown in the entry of their request. Most keyspace entries repeat the effect of a command, so they
    // are omitted.
    if (entry.type === 'keyspace' && entry.event !== 'expired' && entry.event !== 'evicted') return []
    if (entry.type === 'command' && entry.cause !== undefined && seqs.has(entry.cause)) return []
    if (entry.type === 'clock' || entry.type === 'dropped') return []
    return [names.entry(entry, commands.get(entry.seq) ?? [])]
  })
}

type Fields = Record<string, unknown>

const day = 86_400_000

class StableNames {
  readonly #ids = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #hosts: readonly (readonly [address: string, name: string])[]

  constructor(
    readonly start: number,
    context: TrafficContext,
    readonly redaction: Redaction,
  ) {
    const { databases, ...services } = context.addresses ?? {}
    const added = Object.entries(Object(databases)).map(([name, address]) => [`store ${name}`, address] as const)
    this.#hosts = [...Object.entries(services), ...added]
      .filter((pair): pair is [string, string] => typeof pair[1] === 'string')
      .map(([name, address]) => [address, `<${name}>`] as const)
      .sort((a, b) => b[0].length - a[0].length)
  }

  entry(entry: Entry, commands: readonly EntryOf<'command'>[]): NormalizedEntry {
    const fields = definedFields(this.#fields(entry, commands))
    const { at, type, database } = entry
    return { at: this.#time(at), type, ...fields, ...(database !== undefined && { database }) }
  }

  #fields(entry: Entry, commands: readonly EntryOf<'command'>[]): Fields {
    switch (entry.type) {
      case 'request':
        return this.#request(entry, commands)
      case 'command':
        return { ...this.#command(entry), via: entry.via === 'direct' ? 'test' : entry.via }
      case 'keyspace':
        return { key: this.#text(text(entry.key)), event: entry.event, reason: entry.reason }
      case 'published':
        return this.#published(entry)
      case 'attempt':
        return this.#attempt(entry)
      case 'outbound':
        return this.#call(entry)
      case 'notify': {
        const { seq, at, cause, type, redact, body, ...rest } = entry
        return { ...(this.#json(rest) as Fields), body: this.#body(body, redact?.body) }
      }
      default: {
        const { seq, at, cause, type, ...rest } = entry as Entry & Fields
        return this.#json(rest) as Fields
      }
    }
  }

  #request(entry: EntryOf<'request'>, commands: readonly EntryOf<'command'>[]): Fields {
    const { url, fields, answer: hiddenInAnswer } = this.redaction.request(entry)
    const { response: answer } = entry
    const ran = commands.length > 0
    return {
      request: `${entry.method} ${this.#text(url)}`,
      headers: this.#headers(this.redaction.headers(entry.headers, fields)),
      // If the request ran commands, they contain the same information as the body in a more readable form. So the body
      // is omitted.
      body: ran ? undefined : this.#body(entry.body, fields?.body),
      commands: ran ? commands.map((command) => this.#command(command)) : undefined,
      status: answer?.status ?? 'no response',
      response:
        answer?.body === undefined || (ran && answer.status === 200)
          ? undefined
          : this.#body(answer.body, hiddenInAnswer?.body),
      took: answer === undefined || answer.at === entry.at ? undefined : formatDuration(answer.at - entry.at),
    }
  }

  #command(entry: EntryOf<'command'>): Fields {
    const argv = entry.argv.map((word) => text(word))
    const words = this.redaction.words(argv).map((word) => this.#text(word))
    if (entry.error !== undefined) return { argv: words, error: this.#text(this.redaction.errorOf(argv, entry.error)) }
    const reply = this.redaction.hidesReply(argv) ? hidden : this.redaction.reply(argv, plainReply(entry.reply))
    const waited = entry.waitedMs === undefined ? undefined : formatDuration(entry.waitedMs)
    return { argv: words, reply: this.#json(reply), waited }
  }

  #published(entry: EntryOf<'published'>): Fields {
    return {
      message: this.#text(entry.messageId),
      kind: entry.kind === 'message' ? undefined : entry.kind,
      to: this.#text(entry.url),
      method: entry.method === 'POST' ? undefined : entry.method,
      headers: this.#headers(this.redaction.headers(entry.headers, entry.redact)),
      body: this.#body(entry.body, entry.redact?.body),
      retries: entry.maxRetries,
      wait: entry.notBefore > entry.at ? formatDuration(entry.notBefore - entry.at) : undefined,
      deduplicated: entry.deduplicated || undefined,
      ...(this.#json({
        urlGroup: entry.urlGroup,
        endpointName: entry.endpointName,
        queue: entry.queue,
        schedule: entry.scheduleId,
        flowControlKey: entry.flowControlKey,
        labels: entry.labels,
        callback: entry.callback,
        failureCallback: entry.failureCallback,
        about: entry.sourceMessageId,
      }) as Fields),
    }
  }

  #attempt(entry: EntryOf<'attempt'>): Fields {
    const { outcome } = entry
    const state = outcome?.state ?? 'ACTIVE'
    return {
      message: this.#text(entry.messageId),
      kind: entry.kind === 'message' ? undefined : entry.kind,
      to: this.#text(entry.url),
      attempt: `${entry.retried + 1} of ${Math.max(entry.retried, entry.maxRetries) + 1}`,
      status: outcome?.status,
      error: outcome?.error === undefined ? undefined : this.#text(outcome.error),
      state,
      took: outcome === undefined || outcome.at === entry.at ? undefined : formatDuration(outcome.at - entry.at),
      next: outcome?.next && `in ${formatDuration(outcome.next.delayMs)}: ${this.#text(outcome.next.reason)}`,
      note: outcome?.note === undefined ? undefined : this.#text(outcome.note),
      response:
        outcome === undefined || outcome.body === '' ? undefined : this.#body(outcome.body, hiddenInRun(entry)?.body),
    }
  }

  #call(entry: EntryOf<'outbound'>): Fields {
    const { response: answer, handlerRuns: handled } = entry
    return {
      request: `${entry.method} ${this.#text(this.redaction.url(entry.url))}`,
      headers: this.#headers(this.redaction.headers(entry.headers)),
      body: this.#body(entry.body),
      status: answer?.status ?? 'no response',
      error: answer?.error === undefined ? undefined : this.#text(answer.error),
      handlerRuns: handled === 1 ? undefined : handled,
      response: answer?.body === undefined || answer.body === '' ? undefined : this.#body(answer.body),
      took: answer === undefined || answer.at === entry.at ? undefined : formatDuration(answer.at - entry.at),
    }
  }

  #headers(headers: HeaderList): Fields | undefined {
    const told = headers
      .filter(([name, value]) => !noise.test(name) && !value.endsWith(hidden))
      .map(([name, value]) => [name.toLowerCase(), this.#text(value)] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return told.length === 0 ? undefined : Object.fromEntries(told)
  }

  /** Returns a body as parsed JSON or as text. Returns only the size of a body that is not text. */
  #body(body: Bytes, isHidden = false): unknown {
    if (body === '') return undefined
    if (isHidden || this.redaction.hidesBodies) return '***'
    if (!isUtf8(body)) return `<${body.length} bytes>`
    const plain = this.redaction.text(text(body))
    const value = isDeeper(plain, deepest) ? undefined : parsedJson(plain)
    return value === undefined ? this.#text(plain) : this.#json(value)
  }

  #json(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number') return this.#epoch(value) ?? value
    if (Array.isArray(value)) return value.map((item) => this.#json(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([name, field]) => [this.#text(name), this.#json(field)]),
    )
  }

  #text(given: string): string {
    let out = this.redaction.text(given)
    for (const [address, name] of this.#hosts) out = out.replaceAll(address, name)
    return out
      .replace(idShape, (id, prefix: string | undefined) => this.#name(id, kinds[prefix ?? ''] ?? 'dead letter'))
      .replace(uuidShape, (id) => this.#name(id.toLowerCase(), 'uuid'))
      .replace(isoShape, (written) => this.#instant(written) ?? written)
      .replace(epochShape, (at) => this.#epoch(Number(at)) ?? at)
  }

  #name(id: string, kind: string): string {
    let name = this.#ids.get(id)
    if (name === undefined) {
      const count = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, count)
      name = `<${kind} ${count}>`
      this.#ids.set(id, name)
    }
    return name
  }

  #instant(written: string): string | undefined {
    try {
      return this.#epoch(instant(written))
    } catch {
      return undefined
    }
  }

  /**
   * Returns the relative time of an instant: `T+12s`. A number far from the times of the entries is not an instant, so
   * the result is then `undefined`.
   */
  #epoch(value: number): string | undefined {
    const isNear = value >= this.start - day && value <= this.start + 400 * day
    return Number.isInteger(value) && isNear && value > 100 * day ? this.#time(value) : undefined
  }

  #time(at: number): string {
    return at >= this.start ? `T+${formatDuration(at - this.start)}` : `T-${formatDuration(this.start - at)}`
  }
}

/**
 * Maximum nesting of JSON that is parsed. This code and test snapshots process JSON by recursion, so deeper JSON could
 * overflow the call stack.
 */
const deepest = 500
