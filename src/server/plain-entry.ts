import type { Bytes } from '../kernel/bytes.js'
import type { Entry } from '../kernel/traffic.js'
import { NilArray, Status } from '../store/reply.js'
import { wireBytes } from './wire-value.js'

const byteFields = new Set(['body', 'key', 'argv', 'reply'])

/** An entry as JSON: byte strings are shown as text, or as `{"base64":…}` when they are none. */
export function plainEntry(entry: Entry): unknown {
  return plain(entry, false)
}

function plain(value: unknown, bytes: boolean): unknown {
  if (typeof value === 'string') return bytes ? wireBytes(value as Bytes) : value
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map((item) => plain(item, bytes))
  if (value instanceof Status) return wireBytes(value.text as Bytes)
  if (value instanceof NilArray) return null
  if (typeof value !== 'object' || value === null) return value
  // An entry that builds its fields when they are read lists them there.
  if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON(), bytes)
  if (value instanceof Map) return [...value].map((pair) => plain(pair, bytes))
  const out: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) out[name] = plain(field, bytes || byteFields.has(name))
  return out
}
