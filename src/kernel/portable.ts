import { type Bytes, fromBase64, isUtf8, text, toBase64, utf8 } from './bytes.js'

/** Bytes as JSON: text if they are valid UTF-8, otherwise base64. */
export type PortableString =
  | string
  | {
      /** Bytes in base64, because they are not valid UTF-8. */
      readonly base64: string
    }

export function portableString(bytes: Bytes): PortableString {
  return isUtf8(bytes) ? text(bytes) : { base64: toBase64(bytes) }
}

/** Returns an object without the fields that are `undefined`. */
export function stated<Facts extends object>(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Facts
}

/** @throws TypeError when the value is neither text nor base64 */
export function bytesOf(portable: PortableString): Bytes {
  if (typeof portable === 'string') return utf8(portable)
  const bytes = typeof portable?.base64 === 'string' ? fromBase64(portable.base64) : undefined
  if (bytes === undefined)
    throw new TypeError(`a portable string must be a string or { base64: '…' } (got ${JSON.stringify(portable)}).`)
  return bytes
}
