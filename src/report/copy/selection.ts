import { type Bytes, fromBase64, utf8 } from '../../kernel/bytes.js'
import type { PortableString } from '../../kernel/portable.js'
import type { TraceEntry } from '../trace.js'

/** A selection in a log: one entry, a range of entries, or a message with all entries about it. */
export interface CopySelection {
  /** The known entries of the log, oldest first, with secrets hidden. */
  readonly entries: readonly TraceEntry[]
  /** `seq` of the selected entry. */
  readonly entry?: number
  /** `seq` of the first and of the last entry, inclusive. */
  readonly range?: readonly [from: number, to: number]
  /** ID of the selected message, `msg_…`. */
  readonly message?: string
}

/** Facts about the sandbox in which the entries were logged. */
export interface CopyContext {
  /** Base URLs of the services, as in a trace. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /**
   * Prefix of the service's headers, such as `Service-`. Default: the vendor's prefix, because the copied code calls
   * the vendor's SDKs.
   */
  readonly headerPrefix?: string
  /** The sandbox's seed. Copied tests and scenarios contain it. */
  readonly seed?: number | string
  /** Failed assertion, if a test failed. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** Question to an agent. A copied prompt begins with it. */
  readonly question?: string
}

/** Kind of a selection: a type of entry, `range`, or `message`. */
export type SelectionKind = string

export function entryOf({ entries, entry }: CopySelection): TraceEntry | undefined {
  return entry === undefined ? undefined : entries.find(({ seq }) => seq === entry)
}

export function kindOf(selection: CopySelection): SelectionKind {
  if (selection.range !== undefined) return 'range'
  if (selection.message !== undefined) return 'message'
  return entryOf(selection)?.type ?? 'nothing'
}

/** A captured body. If the trace contains only its beginning, `cut` is set. */
export interface CapturedBody {
  readonly bytes: Bytes
  /** The body as text. Absent if the body is not text. */
  readonly text?: string
  /** Number of bytes of the whole body. Absent if the trace contains the whole body. */
  readonly cut?: number
}

export function bodyOf(given: unknown): CapturedBody {
  const { cut, size } = (given ?? {}) as { cut?: PortableString; size?: number }
  const portable = cut ?? given ?? ''
  const rest = cut === undefined || size === undefined ? {} : { cut: size }
  if (typeof portable === 'string') return { bytes: utf8(portable), text: portable, ...rest }
  return { bytes: fromBase64(String((portable as { base64?: unknown }).base64)) ?? utf8(''), ...rest }
}

export type Headers = readonly (readonly [name: string, value: string])[]

export function headersOf(given: unknown): Headers {
  return Array.isArray(given) ? (given as Headers) : []
}

export function headerIn(headers: Headers, name: string): string | undefined {
  return headers.find(([own]) => own.toLowerCase() === name)?.[1]
}

/**
 * Returns the base URL of a service, if it is known.
 * @param database name of an added database of the data store
 */
export function baseOf(service: unknown, database: unknown, { addresses }: CopyContext): string | undefined {
  const from = database === undefined ? addresses : (addresses?.databases as CopyContext['addresses'])
  const name = database === undefined ? (service === 'stats' ? 'mgmt' : String(service)) : String(database)
  const known = from !== undefined && Object.hasOwn(from, name) ? from[name] : undefined
  return typeof known === 'string' ? known : undefined
}

/** Returns the path of the URL of a request below the base URL of its service: `/v2/publish/…`. */
export function pathOf(
  { url, service, database }: { readonly url?: unknown; readonly service?: unknown; readonly database?: unknown },
  context: CopyContext,
): string {
  const known = baseOf(service, database, context)
  const text = String(url)
  const path =
    known !== undefined && text.startsWith(known) ? text.slice(known.length) : text.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

/** Returns the selected entries. If a message is selected, entries about its callbacks are included. */
export function entriesOf(selection: CopySelection): readonly TraceEntry[] {
  const { entries, range } = selection
  if (range !== undefined) return ofRange(entries, range)
  const entry = entryOf(selection)
  const message = selection.message ?? messageOf(entry, entries)
  if (message !== undefined) return ofMessage(entries, message)
  if (entry === undefined) return []
  return entries.filter(({ seq, cause, type }) => seq === entry.seq || (cause === entry.seq && type === 'command'))
}

function messageOf(entry: TraceEntry | undefined, entries: readonly TraceEntry[]): string | undefined {
  if (entry?.type === 'request') {
    const published = entries.filter(({ type, cause }) => type === 'published' && cause === entry.seq)
    return published.length === 1 ? String(published[0]!.messageId) : undefined
  }
  return typeof entry?.messageId === 'string' ? entry.messageId : undefined
}

/**
 * Returns the entries of a range. If a message is delivered in the range but was published before, the range begins at
 * its publish.
 */
function ofRange(entries: readonly TraceEntry[], [from, to]: readonly [number, number]): readonly TraceEntry[] {
  const begins = new Map<unknown, number>()
  for (const { type, messageId, seq, cause = seq } of entries) {
    if (type === 'published' && !begins.has(messageId)) begins.set(messageId, Math.min(cause, seq))
  }
  let first = from
  for (const { seq, type, messageId } of entries.toReversed()) {
    if (seq <= to && seq >= first && type === 'attempt') first = Math.min(first, begins.get(messageId) ?? seq)
  }
  return entries.filter(({ seq }) => seq >= first && seq <= to)
}

function ofMessage(entries: readonly TraceEntry[], message: string): readonly TraceEntry[] {
  // Include the request that published the message, but only if it published no other message.
  const requests = new Map<unknown, boolean>()
  for (const { type, cause, messageId } of entries) {
    if (type === 'published' && cause !== undefined) requests.set(cause, messageId === message && !requests.has(cause))
  }
  const ids = new Set<unknown>([message])
  const seqs = new Set<unknown>()
  return entries.filter(({ type, messageId, sourceMessageId, seq, cause }) => {
    if (type === 'published' && ids.has(sourceMessageId)) ids.add(messageId)
    const isPart =
      ids.has(messageId) || (type === 'fault' && seqs.has(cause)) || (type === 'request' && requests.get(seq) === true)
    if (isPart) seqs.add(seq)
    return isPart
  })
}
