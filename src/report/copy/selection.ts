import { type Bytes, fromBase64, utf8 } from '../../kernel/bytes.js'
import type { PortableString } from '../../kernel/portable.js'
import type { TraceEntry } from '../trace.js'

/** What somebody has chosen of a log: one entry, entries from one to another, or a message with all that became of it. */
export interface CopySelection {
  /** The log as far as it is known, oldest first, secrets hidden. */
  readonly entries: readonly TraceEntry[]
  /** `seq` of the entry. */
  readonly entry?: number
  /** `seq` of the first and of the last entry, both belonging to it. */
  readonly range?: readonly [from: number, to: number]
  readonly message?: string
}

/** What is known of the world that the entries come from. */
export interface CopyContext {
  /** Addresses of the services, as a trace has them. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** `Service-` for neutral words; without it those of the vendor, whose SDKs are called. */
  readonly headerPrefix?: string
  readonly seed?: number | string
  /** The assertion that failed, of a test that failed. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** What an agent is asked. */
  readonly question?: string
}

/** What a form of copying fits: a type of entry, a range, or the story of a message. */
export type SelectionKind = string

export function entryOf({ entries, entry }: CopySelection): TraceEntry | undefined {
  return entry === undefined ? undefined : entries.find(({ seq }) => seq === entry)
}

export function kindOf(selection: CopySelection): SelectionKind {
  if (selection.range !== undefined) return 'range'
  if (selection.message !== undefined) return 'message'
  return entryOf(selection)?.type ?? 'nothing'
}

/** A body as it was captured; `cut` when the trace has only its beginning. */
export interface CapturedBody {
  readonly bytes: Bytes
  /** The text, where it is one. */
  readonly text?: string
  /** Bytes that it had, of one that was cut. */
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

/** What of a url stands below the service's address: `/v2/publish/…`. */
export function pathOf(url: unknown, service: unknown, { addresses }: CopyContext): string {
  const known = addresses?.[service === 'stats' ? 'mgmt' : String(service)]
  const text = String(url)
  const path =
    typeof known === 'string' && text.startsWith(known)
      ? text.slice(known.length)
      : text.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

/** The entries that are meant: of a message its own and those of its callbacks. */
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

/** A message that is delivered within the range begins where it was published. */
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
  // Of a request that published more, only the message.
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
