import { type Bytes, fromBase64, isUtf8, text, toBase64, utf8 } from './bytes.js'

/** Bytes as JSON: the text itself when they are valid UTF-8, else their base64. */
export type PortableString = string | { readonly base64: string }

export function portableString(bytes: Bytes): PortableString {
  return isUtf8(bytes) ? text(bytes) : { base64: toBase64(bytes) }
}

/** Facts as JSON has them: what is not known is left out. */
export function stated<Facts extends object>(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Facts
}

/** Throws TypeError for what is neither. */
export function bytesOf(portable: PortableString): Bytes {
  if (typeof portable === 'string') return utf8(portable)
  const bytes = typeof portable?.base64 === 'string' ? fromBase64(portable.base64) : undefined
  if (bytes === undefined) throw new TypeError(`${JSON.stringify(portable)} is neither a text nor { base64: '…' }.`)
  return bytes
}
