import { type Bytes, fromArray, fromBase64, toArray, toBase64 } from './bytes.js'

// Vectors of 32-bit floats as bytes and texts. [vector.md 2, 3]

/** Smallest 32-bit float with full precision. Smaller floats have fewer digits. */
const smallestNormal = 2 ** -126
/** Largest finite 32-bit float. */
export const largestFloat = 3.4028234663852886e38

/**
 * Formats a 32-bit float as the shortest decimal that reads back to the same float: `0.1`, and not the
 * `0.10000000149011612` of the same number as a double.
 */
export function formatFloat32(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  // Any six digits survive the conversion to 32 bits and back, so fewer digits need no attempt of their own. Nine
  // digits are always enough.
  if (size >= 1e-6 && size < 1e6) {
    // A quotient of exact numbers is the double that is nearest to the decimal, and far faster than a text.
    let scale = 1
    while (size * scale < 1e5) scale *= 10
    for (let digits = 6; digits < 9; digits++) {
      const short = Math.round(value * scale) / scale
      if (Math.fround(short) === value) return String(short)
      scale *= 10
    }
    return String(Math.round(value * scale) / scale)
  }
  // Only the smallest floats have less precision.
  for (let digits = size < smallestNormal ? 1 : 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/** Reads little-endian 32-bit floats. Returns `undefined` if the bytes are none or not a multiple of four. */
export function floatsOf(blob: Bytes): Float32Array | undefined {
  if (blob.length === 0 || blob.length % 4 !== 0) return undefined
  const { buffer, byteOffset } = toArray(blob)
  const view = new DataView(buffer, byteOffset)
  const floats = new Float32Array(blob.length / 4)
  for (let at = 0; at < floats.length; at++) floats[at] = view.getFloat32(4 * at, true)
  return floats
}

/** Returns floats as little-endian bytes in base64. */
export function base64OfFloats(floats: Float32Array): string {
  const view = new DataView(new ArrayBuffer(4 * floats.length))
  for (let at = 0; at < floats.length; at++) view.setFloat32(4 * at, floats[at]!, true)
  return toBase64(fromArray(new Uint8Array(view.buffer)))
}

/** Reads the base64 text of little-endian 32-bit floats. Returns `undefined` if it is invalid. */
export function floatsOfBase64(text: string): Float32Array | undefined {
  const blob = fromBase64(text)
  return blob === undefined ? undefined : floatsOf(blob)
}

/** Returns whether all floats are finite. */
export function areFinite(floats: Float32Array): boolean {
  for (let at = 0; at < floats.length; at++) if (!Number.isFinite(floats[at]!)) return false
  return true
}
