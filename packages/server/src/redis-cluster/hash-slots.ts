import { type Bytes, utf8 } from '../../../../src/kernel/bytes.js'

// Computes the hash slots of keys. A Redis Cluster has 16,384 hash slots. [Redis Cluster specification, key
// distribution model]

const slots = 16_384

/** Table for computing CRC-16/XMODEM: the checksum of each byte value. */
const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc & 0xffff
})

/**
 * Returns the hash slot of a key. If the key has a tag, which is a non-empty part in braces, only the first tag counts.
 */
export function slotOf(key: Bytes): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  let crc = 0
  for (let at = 0; at < hashed.length; at++) {
    crc = ((crc << 8) & 0xffff) ^ table[((crc >> 8) ^ hashed.charCodeAt(at)) & 0xff]!
  }
  return crc % slots
}

/** Returns the hash slot of all keys with this tag, such as `a:{tag}:b`. */
export function slotOfTag(tag: string): number {
  return slotOf(utf8(tag))
}
