import { type Bytes, utf8 } from '../../../../src/kernel/bytes.js'

// Which of the 16384 slots of a Redis Cluster a key is in. [Redis Cluster specification, key distribution model]

const slots = 16_384

/** CRC-16/XMODEM of each byte. */
const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc & 0xffff
})

/** The slot of a key: of what stands between its first braces, where anything does. */
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

/** The slot of all keys `…{tag}…`. */
export function slotOfTag(tag: string): number {
  return slotOf(utf8(tag))
}
