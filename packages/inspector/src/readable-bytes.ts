import { toArray } from '../../../src/kernel/bytes.js'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import { bytesOf, type PortableString } from '../../../src/kernel/portable.js'

/** A body in the format of a trace. */
export type PortableBody = PortableString | { readonly cut: PortableString; readonly size: number } | null | undefined

/** Bytes, prepared for a reader. */
export interface ReadableBytes {
  /** The bytes as text. Absent if they are not text. */
  readonly text?: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Number of bytes of the whole body, if only its beginning was recorded. */
  readonly cutFrom?: number
}

export function readBody(body: PortableBody): ReadableBytes | undefined {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'object' && 'cut' in body) return { ...readBody(body.cut)!, cutFrom: body.size }
  return { ...(typeof body === 'string' && { text: body }), bytes: toArray(bytesOf(body)) }
}

/**
 * Formats JSON with indentation. Returns `undefined` if the text is not JSON, or if a long number would lose digits.
 */
export function laidOut(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || /\d{16}/.test(text)) return undefined
  const value = parsedJson(text)
  return value === undefined ? undefined : JSON.stringify(value, null, 2)
}

/** Formats bytes as a hex dump. Each line shows 16 bytes: offset, hexadecimal digits, and characters. */
export function hexLines(bytes: Uint8Array, most: number): string {
  const lines: string[] = []
  for (let from = 0; from < Math.min(bytes.length, most); from += 16) {
    const part = [...bytes.subarray(from, Math.min(from + 16, most))]
    const digits = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const chars = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${from.toString(16).padStart(8, '0')}  ${digits.padEnd(47)}  ${chars}`)
  }
  return lines.join('\n')
}

/** Formats an argument or a key as a user would type it. */
export function wordOf(value: unknown): string {
  if (typeof value !== 'string') {
    const { base64 } = (value ?? {}) as { base64?: unknown }
    return typeof base64 === 'string' ? `base64:${base64}` : (JSON.stringify(value) ?? '')
  }
  return /^[^\s"'\\]+$/.test(value) ? value : JSON.stringify(value)
}
