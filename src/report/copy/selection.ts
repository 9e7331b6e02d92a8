import { type Bytes, fromBase64, utf8 } from '../../kernel/bytes.js'
import type { PortableString } from '../../kernel/portable.js'
import type { TraceEntry } from '../trace.js'

/** What somebody has chosen of a log: one entry, entries from one to another, or a message with all that became of it. */
export interface Selection {
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

export function entryOf({ entries, entry }: Selection): TraceEntry | undefined {
  return entry === undefined ? undefined : entries.find(({ seq }) => seq === entry)
}

export function kindOf(selection: Selection): SelectionKind {
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
