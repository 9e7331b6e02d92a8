import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { once } from '../../kernel/once.js'

// XXH3 with 64 bits and seed 0, from the published specification. DIGEST and IFDEQ use this digest. BigInt is slow, but
// keeps the code close to the specification, and digests are rare.

const mask = 0xffff_ffff_ffff_ffffn
const prime32x1 = 0x9e3779b1n
const prime32x2 = 0x85ebca77n
const prime32x3 = 0xc2b2ae3dn
const prime64x1 = 0x9e3779b185ebca87n
const prime64x2 = 0xc2b2ae3d27d4eb4fn
const prime64x3 = 0x165667b19e3779f9n
const prime64x4 = 0x85ebca77c2b2ae63n
const prime64x5 = 0x27d4eb2f165667c5n
const primeMx1 = 0x165667919e3779f9n
const primeMx2 = 0x9fb21c651e98df25n

/** Default secret of the specification: 192 bytes, stored as the 64-bit word that begins at each byte. */
const secretWords = once(() =>
  read64s(
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221' +
      'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
      'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17' +
      '0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
  ),
)

function secret(at: number): bigint {
  return secretWords()[at]!
}

const stripe = 64
const stripesPerBlock = (192 - stripe) / 8

/** Returns the digest as 16 lower-case hexadecimal digits. */
export function xxh3Hex(bytes: Bytes): Bytes {
  return latin1(hash(bytes).toString(16).padStart(16, '0'))
}

function hash(input: Bytes): bigint {
  const length = input.length
  if (length === 0) return avalanche64(secret(56) ^ secret(64))
  if (length <= 3) return upTo3(input)
  if (length <= 8) return upTo8(input)
  if (length <= 16) return upTo16(input)
  if (length <= 128) return upTo128(input)
  if (length <= 240) return upTo240(input)
  return long(input)
}

function upTo3(input: Bytes): bigint {
  const [first, middle, last] = [0, input.length >> 1, input.length - 1].map((at) => BigInt(input.charCodeAt(at)))
  const combined = (first! << 16n) | (middle! << 24n) | last! | (BigInt(input.length) << 8n)
  const flip = (secret(0) & 0xffff_ffffn) ^ (secret(0) >> 32n)
  return avalanche64(combined ^ flip)
}

function upTo8(input: Bytes): bigint {
  const length = BigInt(input.length)
  const combined = read32(input, input.length - 4) + (read32(input, 0) << 32n)
  let value = combined ^ secret(8) ^ secret(16)
  value ^= rotate(value, 49n) ^ rotate(value, 24n)
  value = multiply(value, primeMx2)
  value ^= (value >> 35n) + length
  value = multiply(value, primeMx2)
  return value ^ (value >> 28n)
}

function upTo16(input: Bytes): bigint {
  const low = read64(input, 0) ^ secret(24) ^ secret(32)
  const high = read64(input, input.length - 8) ^ secret(40) ^ secret(48)
  return avalanche(add(BigInt(input.length), swapBytes(low), high, fold(low, high)))
}

function upTo128(input: Bytes): bigint {
  let sum = multiply(BigInt(input.length), prime64x1)
  for (let pair = (input.length - 1) >> 5; pair >= 0; pair--) {
    sum = add(sum, mix16(input, 16 * pair, 32 * pair))
    sum = add(sum, mix16(input, input.length - 16 * (pair + 1), 32 * pair + 16))
  }
  return avalanche(sum)
}

function upTo240(input: Bytes): bigint {
  let sum = multiply(BigInt(input.length), prime64x1)
  const rounds = input.length >> 4
  for (let round = 0; round < 8; round++) sum = add(sum, mix16(input, 16 * round, 16 * round))
  sum = avalanche(sum)
  for (let round = 8; round < rounds; round++) sum = add(sum, mix16(input, 16 * round, 16 * (round - 8) + 3))
  return avalanche(add(sum, mix16(input, input.length - 16, 136 - 17)))
}

function long(input: Bytes): bigint {
  const lanes = [prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1]
  const blockLength = stripe * stripesPerBlock
  const blocks = Math.floor((input.length - 1) / blockLength)
  for (let block = 0; block < blocks; block++) {
    for (let at = 0; at < stripesPerBlock; at++) accumulate(lanes, input, block * blockLength + at * stripe, 8 * at)
    scramble(lanes)
  }
  const stripes = Math.floor((input.length - 1 - blockLength * blocks) / stripe)
  for (let at = 0; at < stripes; at++) accumulate(lanes, input, blocks * blockLength + at * stripe, 8 * at)
  accumulate(lanes, input, input.length - stripe, 192 - stripe - 7)
  let sum = multiply(BigInt(input.length), prime64x1)
  for (let at = 0; at < 4; at++) {
    sum = add(sum, fold(lanes[2 * at]! ^ secret(11 + 16 * at), lanes[2 * at + 1]! ^ secret(19 + 16 * at)))
  }
  return avalanche(sum)
}

function accumulate(lanes: bigint[], input: Bytes, from: number, secretFrom: number): void {
  for (let lane = 0; lane < 8; lane++) {
    const value = read64(input, from + 8 * lane)
    const key = value ^ secret(secretFrom + 8 * lane)
    lanes[lane ^ 1] = add(lanes[lane ^ 1]!, value)
    lanes[lane] = add(lanes[lane]!, (key & 0xffff_ffffn) * (key >> 32n))
  }
}

function scramble(lanes: bigint[]): void {
  for (let lane = 0; lane < 8; lane++) {
    const value = lanes[lane]!
    lanes[lane] = multiply(value ^ (value >> 47n) ^ secret(192 - stripe + 8 * lane), prime32x1)
  }
}

function mix16(input: Bytes, at: number, secretAt: number): bigint {
  return fold(read64(input, at) ^ secret(secretAt), read64(input, at + 8) ^ secret(secretAt + 8))
}

/** Returns the two halves of the 128-bit product, combined with XOR. */
function fold(a: bigint, b: bigint): bigint {
  const product = a * b
  return (product & mask) ^ (product >> 64n)
}

function avalanche(value: bigint): bigint {
  const mixed = multiply(value ^ (value >> 37n), primeMx1)
  return mixed ^ (mixed >> 32n)
}

function avalanche64(value: bigint): bigint {
  let mixed = multiply(value ^ (value >> 33n), prime64x2)
  mixed = multiply(mixed ^ (mixed >> 29n), prime64x3)
  return mixed ^ (mixed >> 32n)
}

function add(...values: bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n) & mask
}

function multiply(a: bigint, b: bigint): bigint {
  return (a * b) & mask
}

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & mask
}

function swapBytes(value: bigint): bigint {
  let swapped = 0n
  for (let rest = value, byte = 0; byte < 8; byte++, rest >>= 8n) swapped = (swapped << 8n) | (rest & 0xffn)
  return swapped
}

function read32(input: Bytes, at: number): bigint {
  const high = (input.charCodeAt(at + 3) << 8) | input.charCodeAt(at + 2)
  return BigInt(high * 0x1_0000 + ((input.charCodeAt(at + 1) << 8) | input.charCodeAt(at)))
}

function read64(input: Bytes, at: number): bigint {
  return read32(input, at) | (read32(input, at + 4) << 32n)
}

/** Returns the little-endian 64-bit word that begins at each byte of the secret. */
function read64s(hex: string): readonly bigint[] {
  const bytes = latin1(hex.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))
  return Array.from({ length: bytes.length - 7 }, (_, at) => read64(bytes, at))
}
