/**
 * HyperLogLog counters, byte for byte the strings that redis 7.0 stores: GET, STRLEN and DUMP show them.
 *
 * Layout: `HYLL`, encoding (0 dense, 1 sparse), 3 unused bytes, the cached count as 8 little-endian bytes (top bit set:
 * stale), then the 16384 registers. Dense: 6 bits each. Sparse: runs of `00llllll` ZERO (1–64 empty registers),
 * `01llllll llllllll` XZERO (1–16384), `1vvvvvll` VAL (value 1–32, 1–4 times).
 */
import { type Bytes, latin1 } from '../../kernel/bytes.js'

const indexBits = 14
const registerCount = 1 << indexBits
/** Number of bits of the hash in which the first 1 is searched. */
const tailBits = 64 - indexBits
const headerSize = 16
const denseSize = headerSize + (registerCount * 6) / 8
/** `hll-sparse-max-bytes` of redis: longer sparse strings become dense. */
const sparseLimit = 3000
const sparseValueLimit = 32
const sparseRunLimit = 4
const zeroRunLimit = 64
const dense = 0
const sparse = 1
const staleBit = 0x80

/** Returns an empty sparse counter: one run over all registers. */
export function createHyperLogLog(): Uint8Array {
  const hll = new Uint8Array(headerSize + 2)
  hll.set([0x48, 0x59, 0x4c, 0x4c, sparse])
  writeEmptyRun(hll, headerSize, registerCount)
  return hll
}

/** Returns whether the string has the header of a counter. A sparse body may still be damaged. */
export function isHyperLogLog(bytes: Uint8Array): boolean {
  if (bytes.length < headerSize) return false
  if (bytes[0] !== 0x48 || bytes[1] !== 0x59 || bytes[2] !== 0x4c || bytes[3] !== 0x4c) return false
  return bytes[4] === sparse || (bytes[4] === dense && bytes.length === denseSize)
}

/** Error for a sparse body that does not describe exactly 16384 registers. */
export class DamagedHyperLogLog extends Error {
  override readonly name = 'DamagedHyperLogLog'
}

/** Adds an element. Returns the same array if nothing changed, or if the array was changed in place. */
export function addElement(hll: Uint8Array, element: Bytes): { hll: Uint8Array; changed: boolean } {
  const [index, value] = placeOf(element)
  const result = setRegister(hll, index, value)
  return { hll: result ?? hll, changed: result !== undefined }
}

/** Marks the cached count as stale, as every PFADD with a change does. */
export function invalidateCount(hll: Uint8Array): void {
  hll[15]! |= staleBit
}

/** Returns the cached count, or `undefined` if it is stale. */
export function cachedCount(hll: Uint8Array): number | undefined {
  if ((hll[15]! & staleBit) !== 0) return undefined
  let count = 0
  for (let at = 15; at >= 8; at--) count = count * 256 + hll[at]!
  return count
}

export function writeCachedCount(hll: Uint8Array, count: number): void {
  let rest = count
  for (let at = 8; at < 16; at++) {
    hll[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
}

/** Returns the registers, one byte each. */
export function registersOf(hll: Uint8Array): Uint8Array {
  const registers = new Uint8Array(registerCount)
  if (hll[4] === dense) {
    for (let index = 0; index < registerCount; index++) registers[index] = denseRegister(hll, index)
    return registers
  }
  let index = 0
  for (let at = headerSize; at < hll.length; ) {
    const run = runAt(hll, at)
    if (run.value > 0) registers.fill(run.value, index, index + run.length)
    index += run.length
    at += run.size
  }
  if (index !== registerCount) throw new DamagedHyperLogLog('the runs do not add up to 16384 registers')
  return registers
}

/** Sets each register of `into` to the larger one of its value and the value in `registers`. */
export function mergeRegisters(into: Uint8Array, registers: Uint8Array): void {
  for (let index = 0; index < registerCount; index++) {
    if (registers[index]! > into[index]!) into[index] = registers[index]!
  }
}

/**
 * Returns a counter in which each register has at least the given value.
 * @param becomeDense whether any source of the merge was dense
 */
export function withRegisters(hll: Uint8Array, registers: Uint8Array, becomeDense: boolean): Uint8Array {
  let merged = becomeDense ? toDense(hll) : hll
  for (let index = 0; index < registerCount; index++) {
    const value = registers[index]!
    if (value > 0) merged = setRegister(merged, index, value) ?? merged
  }
  return merged
}

export function isDense(hll: Uint8Array): boolean {
  return hll[4] === dense
}

/** 1 / (2 ln 2): the constant of the estimator for an infinite number of registers. */
const alpha = 0.7213475204444817

/** Estimates the number of different elements with Ertl's improved raw estimator, which redis uses since 4.0. */
export function estimate(registers: Uint8Array): number {
  const histogram = new Int32Array(64)
  for (let index = 0; index < registerCount; index++) histogram[registers[index]!]!++
  let sum = registerCount * tau((registerCount - histogram[tailBits + 1]!) / registerCount)
  for (let value = tailBits; value >= 1; value--) sum = (sum + histogram[value]!) * 0.5
  sum += registerCount * sigma(histogram[0]! / registerCount)
  return Math.round((alpha * registerCount * registerCount) / sum)
}

function sigma(start: number): number {
  if (start === 1) return Infinity
  let x = start
  let y = 1
  let sum = start
  let before: number
  do {
    x *= x
    before = sum
    sum += x * y
    y += y
  } while (before !== sum)
  return sum
}

function tau(start: number): number {
  if (start === 0 || start === 1) return 0
  let x = start
  let y = 1
  let sum = 1 - start
  let before: number
  do {
    x = Math.sqrt(x)
    before = sum
    y *= 0.5
    sum -= (1 - x) * (1 - x) * y
  } while (before !== sum)
  return sum / 3
}

// ---- registers --------------------------------------------------------------------------------------------------

/**
 * Raises a register to a value and returns the counter. Returns `undefined` if the register already has this value or a
 * higher one.
 */
function setRegister(hll: Uint8Array, index: number, value: number): Uint8Array | undefined {
  return hll[4] === dense ? setDense(hll, index, value) : setSparse(hll, index, value)
}

function denseRegister(hll: Uint8Array, index: number): number {
  const bit = index * 6
  const at = headerSize + (bit >>> 3)
  return ((hll[at]! | ((hll[at + 1] ?? 0) << 8)) >>> (bit & 7)) & 63
}

function setDense(hll: Uint8Array, index: number, value: number): Uint8Array | undefined {
  if (denseRegister(hll, index) >= value) return undefined
  const bit = index * 6
  const at = headerSize + (bit >>> 3)
  const shift = bit & 7
  const pair = ((hll[at]! | ((hll[at + 1] ?? 0) << 8)) & ~(63 << shift)) | (value << shift)
  hll[at] = pair & 255
  if (at + 1 < hll.length) hll[at + 1] = pair >>> 8
  return hll
}

export function toDense(hll: Uint8Array): Uint8Array {
  if (hll[4] === dense) return hll
  const registers = registersOf(hll)
  const full = new Uint8Array(denseSize)
  full.set(hll.subarray(0, headerSize))
  full[4] = dense
  for (let index = 0; index < registerCount; index++)
    if (registers[index]! > 0) setDense(full, index, registers[index]!)
  return full
}

interface Run {
  /** Value of the registers of the run; 0 for both kinds of empty runs. */
  readonly value: number
  /** Number of registers. */
  readonly length: number
  /** Number of bytes of the run. */
  readonly size: number
}

function runAt(hll: Uint8Array, at: number): Run {
  const byte = hll[at]!
  if ((byte & 0x80) !== 0) return { value: ((byte >>> 2) & 31) + 1, length: (byte & 3) + 1, size: 1 }
  if ((byte & 0x40) === 0) return { value: 0, length: (byte & 63) + 1, size: 1 }
  return { value: 0, length: (((byte & 63) << 8) | (hll[at + 1] ?? 0)) + 1, size: 2 }
}

function valueRun(value: number, length: number): number {
  return 0x80 | ((value - 1) << 2) | (length - 1)
}

/** Writes an empty run and returns the position after it. */
function writeEmptyRun(into: Uint8Array | number[], at: number, length: number): number {
  if (length <= zeroRunLimit) {
    into[at] = length - 1
    return at + 1
  }
  into[at] = ((length - 1) >>> 8) | 0x40
  into[at + 1] = (length - 1) & 255
  return at + 2
}

/**
 * Sets a register in the sparse encoding. Equal additions must create the same bytes as in redis, so the steps are
 * those of redis. Find the run. If the run covers only one register, change the run in place, otherwise split the run.
 * Finally, join equal neighbors within five runs, beginning at the previous run.
 */
function setSparse(hll: Uint8Array, index: number, value: number): Uint8Array | undefined {
  let at = headerSize
  let before = -1
  let first = 0
  let run = runAt(hll, at)
  while (index >= first + run.length) {
    before = at
    first += run.length
    at += run.size
    if (at >= hll.length) throw new DamagedHyperLogLog('the runs end before the register')
    run = runAt(hll, at)
  }
  if (run.value >= value) return undefined
  if (value > sparseValueLimit) return setDense(toDense(hll), index, value)
  const parts = splitRun(run, index - first, value)
  if (parts.length > run.size && hll.length + parts.length - run.size > sparseLimit) {
    return setDense(toDense(hll), index, value)
  }
  const changed = splice(hll, at, run.size, parts)
  return joinRuns(changed, before < 0 ? headerSize : before)
}

function splitRun(run: Run, offset: number, value: number): number[] {
  const parts: number[] = []
  const rest = run.length - offset - 1
  const old = (length: number) => {
    if (length === 0) return
    if (run.value === 0) writeEmptyRun(parts, parts.length, length)
    else parts.push(valueRun(run.value, length))
  }
  old(offset)
  parts.push(valueRun(value, 1))
  old(rest)
  return parts
}

function splice(hll: Uint8Array, at: number, size: number, parts: readonly number[]): Uint8Array {
  const changed = parts.length === size ? hll : new Uint8Array(hll.length + parts.length - size)
  if (changed !== hll) {
    changed.set(hll.subarray(0, at))
    changed.set(hll.subarray(at + size), at + parts.length)
  }
  changed.set(parts, at)
  return changed
}

function joinRuns(hll: Uint8Array, start: number): Uint8Array {
  let at = start
  let end = hll.length
  for (let steps = 5; at < end && steps > 0; steps--) {
    const run = runAt(hll, at)
    if (run.value > 0 && at + 1 < end) {
      const next = runAt(hll, at + 1)
      if (next.value === run.value && run.length + next.length <= sparseRunLimit) {
        hll[at + 1] = valueRun(run.value, run.length + next.length)
        hll.copyWithin(at, at + 1, end)
        end--
        continue
      }
    }
    at += run.size
  }
  return end === hll.length ? hll : hll.slice(0, end)
}

/** Returns the runs of a sparse counter as PFDEBUG DECODE prints them: `Z:12711 v:2,1 Z:3672`. */
export function sparseText(hll: Uint8Array): string {
  const parts: string[] = []
  for (let at = headerSize; at < hll.length; ) {
    const { value, length, size } = runAt(hll, at)
    parts.push(value > 0 ? `v:${value},${length}` : `${size === 2 ? 'Z' : 'z'}:${length}`)
    at += size
  }
  return parts.join(' ')
}

const testedElements = 1500
/** Tolerated error of an estimate: six times the standard error for this many registers. [redis 7.0] */
const tolerance = (6 * 1.04) / Math.sqrt(registerCount)

/**
 * Runs the tests of PFSELFTEST: registers keep their values, and sparse and dense counters agree and are approximately
 * right.
 */
export function selfTest(): string | undefined {
  const filled = toDense(createHyperLogLog())
  for (let index = 0; index < registerCount; index++) setDense(filled, index, (index * 7) % 64)
  for (let index = 0; index < registerCount; index++) {
    if (denseRegister(filled, index) !== (index * 7) % 64) return `Register ${index} does not keep its value`
  }
  let sparse = createHyperLogLog()
  let dense = toDense(createHyperLogLog())
  for (let count = 1; count <= testedElements; count++) {
    const element = latin1(`element ${count}`)
    sparse = addElement(sparse, element).hll
    dense = addElement(dense, element).hll
    if (count % 500 !== 0) continue
    const estimates = [sparse, dense].map((hll) => estimate(registersOf(hll)))
    if (estimates[0] !== estimates[1]) return 'Sparse and dense counters disagree'
    if (Math.abs(estimates[0]! - count) > count * tolerance) return 'Too big error'
  }
  return undefined
}

/**
 * Returns register and value of an element: the low 14 bits of its hash, and the position of the first 1 in the other
 * bits.
 */
function placeOf(element: Bytes): [index: number, value: number] {
  const { low, high } = murmur64(element)
  const index = low & (registerCount - 1)
  const tailLow = (low >>> indexBits) | (high << (32 - indexBits))
  if (tailLow !== 0) return [index, trailingZeros(tailLow) + 1]
  // Bit 50 is set, so that the search for a 1 always ends.
  const tailHigh = (high >>> indexBits) | (1 << (tailBits - 32))
  return [index, trailingZeros(tailHigh) + 33]
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word)
}

const seed = 0xadc83b19
const multiplierLow = 0x5bd1e995
const multiplierHigh = 0xc6a4a793

/** Returns MurmurHash64A of the bytes as two 32-bit halves. redis hashes elements in this way on every machine. */
export function murmur64(bytes: Bytes): { low: number; high: number } {
  const length = bytes.length
  // The length is at most 2^29 bytes in JavaScript, so its product with the multiplier needs one partial product.
  let low = (seed ^ Math.imul(length, multiplierLow)) | 0
  let high = (multiplyHigh(length, multiplierLow) + Math.imul(length, multiplierHigh)) | 0
  let at = 0
  for (; at + 8 <= length; at += 8) {
    const wordLow = wordAt(bytes, at)
    const wordHigh = wordAt(bytes, at + 4)
    // word *= m
    let mixedLow = Math.imul(wordLow, multiplierLow)
    let mixedHigh =
      (multiplyHigh(wordLow, multiplierLow) + Math.imul(wordLow, multiplierHigh) + Math.imul(wordHigh, multiplierLow)) |
      0
    // word ^= word >> 47
    mixedLow ^= mixedHigh >>> 15
    // word *= m
    const wholeLow = Math.imul(mixedLow, multiplierLow)
    mixedHigh =
      (multiplyHigh(mixedLow, multiplierLow) +
        Math.imul(mixedLow, multiplierHigh) +
        Math.imul(mixedHigh, multiplierLow)) |
      0
    low ^= wholeLow
    high ^= mixedHigh
    // hash *= m
    high = (multiplyHigh(low, multiplierLow) + Math.imul(low, multiplierHigh) + Math.imul(high, multiplierLow)) | 0
    low = Math.imul(low, multiplierLow)
  }
  if (at < length) {
    for (let shift = 0; at < length; at++, shift += 8) {
      if (shift < 32) low ^= bytes.charCodeAt(at) << shift
      else high ^= bytes.charCodeAt(at) << (shift - 32)
    }
    high = (multiplyHigh(low, multiplierLow) + Math.imul(low, multiplierHigh) + Math.imul(high, multiplierLow)) | 0
    low = Math.imul(low, multiplierLow)
  }
  low ^= high >>> 15
  high = (multiplyHigh(low, multiplierLow) + Math.imul(low, multiplierHigh) + Math.imul(high, multiplierLow)) | 0
  low = Math.imul(low, multiplierLow)
  low ^= high >>> 15
  return { low: low >>> 0, high: high >>> 0 }
}

function wordAt(bytes: Bytes, at: number): number {
  return (
    bytes.charCodeAt(at) |
    (bytes.charCodeAt(at + 1) << 8) |
    (bytes.charCodeAt(at + 2) << 16) |
    (bytes.charCodeAt(at + 3) << 24)
  )
}

/** Returns the upper 32 bits of the product of two unsigned 32-bit numbers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const other = aLow * bHigh + (middle & 0xffff)
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000)) | 0
}
