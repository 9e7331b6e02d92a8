import { type Bytes, latin1 } from '../../kernel/bytes.js'

/**
 * Half of an ID: an unsigned 64-bit integer. It is a bigint only if a number would not be exact. JavaScript compares
 * numbers and bigints exactly, so only arithmetic must distinguish them.
 */
export type Half = number | bigint

/** Milliseconds and a sequence number: the position of an entry in a stream. */
export interface StreamId {
  readonly ms: Half
  readonly seq: Half
}

const maxHalf = 0xffff_ffff_ffff_ffffn

export const firstId: StreamId = { ms: 0, seq: 0 }
export const lastId: StreamId = { ms: maxHalf, seq: maxHalf }

export function compareIds(a: StreamId, b: StreamId): number {
  if (a.ms !== b.ms) return a.ms < b.ms ? -1 : 1
  return a.seq === b.seq ? 0 : a.seq < b.seq ? -1 : 1
}

export function isZero(id: StreamId): boolean {
  return id.ms === 0 && id.seq === 0
}

/** Returns the next ID; `undefined` after the last possible one. */
export function nextId({ ms, seq }: StreamId): StreamId | undefined {
  if (seq !== maxHalf) return { ms, seq: plus(seq, 1) }
  return ms === maxHalf ? undefined : { ms: plus(ms, 1), seq: 0 }
}

/** Returns the previous ID; `undefined` before the first possible one. */
export function previousId({ ms, seq }: StreamId): StreamId | undefined {
  if (seq !== 0) return { ms, seq: plus(seq, -1) }
  return ms === 0 ? undefined : { ms: plus(ms, -1), seq: maxHalf }
}

function plus(half: Half, step: 1 | -1): Half {
  return typeof half === 'number' && half < Number.MAX_SAFE_INTEGER ? half + step : toHalf(BigInt(half) + BigInt(step))
}

function toHalf(value: bigint): Half {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

export function formatId({ ms, seq }: StreamId): Bytes {
  return latin1(`${ms}-${seq}`)
}

/** Parses `5-1`, or `5` with a default sequence number. Returns `undefined` for other texts. */
export function parseId(word: Bytes, missingSeq: Half = 0): StreamId | undefined {
  const dash = word.indexOf('-')
  const ms = parseHalf(dash < 0 ? word : word.slice(0, dash))
  const seq = dash < 0 ? missingSeq : parseHalf(word.slice(dash + 1))
  return ms === undefined || seq === undefined ? undefined : { ms, seq }
}

/** Returns the milliseconds of `5-*`, for which the stream chooses the sequence number. */
export function parseOpenId(word: Bytes): Half | undefined {
  return word.endsWith('-*') ? parseHalf(word.slice(0, -2)) : undefined
}

const halfText = /^[ \t-\r]*\+?([0-9]+)$/

/** Parses an unsigned number as C does: leading blanks, a plus and zeros are allowed. */
function parseHalf(text: string): Half | undefined {
  if (text.length > 0 && text.length < 16) {
    let value = 0
    for (let index = 0; index < text.length; index++) {
      const digit = text.charCodeAt(index) - 48
      if (!(digit >= 0 && digit <= 9)) return parseOddHalf(text)
      value = value * 10 + digit
    }
    return value
  }
  return parseOddHalf(text)
}

function parseOddHalf(text: string): Half | undefined {
  const digits = text.length < 128 ? halfText.exec(text)?.[1] : undefined
  if (digits === undefined) return undefined
  const value = BigInt(digits)
  return value <= maxHalf ? toHalf(value) : undefined
}
