/**
 * Byte string: a JavaScript string in which every character is one byte (U+0000 to U+00FF). The string works as a Map
 * key, compares like `memcmp`, slices like `GETRANGE`, and costs one byte per character in JavaScript engines. Code
 * that receives or sends text converts it from or to UTF-8 with the functions of this file.
 */
export type Bytes = string & {
  /**
   * This field exists only in the type. Because of this field, the compiler rejects strings that were not converted to
   * bytes.
   */
  readonly __bytes: unique symbol
}

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Characters above U+007F, the only ones for which UTF-8 and byte strings differ. */
const beyondAscii = /[^\x00-\x7f]/

/** `String.fromCharCode` takes one argument per character, and JavaScript engines limit the number of arguments. */
const charsAtOnce = 0x2000

/** Converts a string that has one character per byte, such as an ASCII literal or the output of `atob`. */
export function latin1(text: string): Bytes {
  return text as Bytes
}

/**
 * Maximum length, in bytes, of a text that a slice may keep in memory. For a shorter text, the copy would cost more
 * than it saves.
 */
const shortWhole = 4096

/**
 * Returns a part of a text as a copy, so that the whole text can be freed.
 * JavaScript engines implement slices as views, so a slice of 10 bytes could keep a body of 10 MB in memory.
 */
export function partOf(whole: string, from: number, to?: number): Bytes {
  const part = whole.slice(from, to)
  if (whole.length <= shortWhole || part.length > whole.length / 2) return part as Bytes
  // Slicing a concatenated string forces the engine to copy it.
  return ` ${part}`.slice(1) as Bytes
}

/** Encodes text as UTF-8. Each lone surrogate becomes U+FFFD, as `TextEncoder` encodes it. */
export function utf8(text: string): Bytes {
  return beyondAscii.test(text) ? fromArray(encoder.encode(text)) : (text as Bytes)
}

/** Decodes UTF-8, with one U+FFFD for each byte that is not part of a valid sequence. */
export function text(bytes: Bytes): string {
  if (!beyondAscii.test(bytes)) return bytes
  try {
    return strictDecoder.decode(toArray(bytes))
  } catch {
    return replaceInvalid(bytes)
  }
}

export function isAscii(text: string): boolean {
  return !beyondAscii.test(text)
}

export function isUtf8(bytes: Bytes): boolean {
  if (!beyondAscii.test(bytes)) return true
  try {
    strictDecoder.decode(toArray(bytes))
    return true
  } catch {
    return false
  }
}

export function fromArray(array: Uint8Array): Bytes {
  let bytes = ''
  for (let start = 0; start < array.length; start += charsAtOnce) {
    const chunk = array.length <= charsAtOnce ? array : array.subarray(start, start + charsAtOnce)
    // `apply` reads the array directly; spreading would use an iterator, at several times the cost.
    bytes += String.fromCharCode.apply(null, chunk as unknown as number[])
  }
  return bytes as Bytes
}

export function toArray(bytes: Bytes): Uint8Array<ArrayBuffer> {
  const array = new Uint8Array(bytes.length)
  for (let index = 0; index < bytes.length; index++) array[index] = bytes.charCodeAt(index)
  return array
}

/** Encodes bytes as standard base64 with padding. */
export function toBase64(bytes: Bytes): string {
  return btoa(bytes)
}

/** Decodes standard or URL-safe base64, with or without padding. Returns `undefined` for other text. */
export function fromBase64(encoded: string): Bytes | undefined {
  try {
    return atob(encoded.replaceAll('-', '+').replaceAll('_', '/')) as Bytes
  } catch {
    return undefined
  }
}

function urlSafe(sign: string): string {
  return sign === '+' ? '-' : '_'
}

/** Encodes bytes as URL-safe base64 without padding, as in JSON Web Tokens. */
export function toBase64Url(bytes: Bytes): string {
  const encoded = btoa(bytes)
  const padding = encoded.endsWith('==') ? 2 : encoded.endsWith('=') ? 1 : 0
  const unpadded = padding === 0 ? encoded : encoded.slice(0, -padding)
  return unpadded.includes('+') || unpadded.includes('/') ? unpadded.replace(/[+/]/g, urlSafe) : unpadded
}

export function toHex(bytes: Bytes): string {
  let hex = ''
  for (let index = 0; index < bytes.length; index++) hex += bytes.charCodeAt(index).toString(16).padStart(2, '0')
  return hex
}

/**
 * Decodes UTF-8 with one U+FFFD per invalid byte.
 * `TextDecoder` replaces a truncated sequence by a single U+FFFD. The service is written in Go, whose JSON encoder
 * replaces every invalid byte. [store.md 3.1]
 */
function replaceInvalid(bytes: Bytes): string {
  const valid = new Uint8Array(3 * bytes.length)
  let end = 0
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes, index)
    if (length === 0) {
      valid[end++] = 0xef
      valid[end++] = 0xbf
      valid[end++] = 0xbd
      index++
    }
    for (const next = index + length; index < next; index++) valid[end++] = bytes.charCodeAt(index)
  }
  return strictDecoder.decode(valid.subarray(0, end))
}

/** Returns the length of the valid UTF-8 sequence that starts at an index, or 0. */
function sequenceLength(bytes: Bytes, index: number): number {
  const lead = bytes.charCodeAt(index)
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  const second = bytes.charCodeAt(index + 1)
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (!(second >= lowest && second <= highest)) return 0
  for (let offset = 2; offset < length; offset++) {
    if ((bytes.charCodeAt(index + offset) & 0xc0) !== 0x80) return 0
  }
  return length
}
