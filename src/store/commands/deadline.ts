import type { Bytes } from '../../kernel/bytes.js'
import { type Arg, bytes, named, toInt64 } from '../command/arguments.js'
import { invalidExpire, replyError } from '../command/errors.js'

const maxTime = 0x7fff_ffff_ffff_ffffn
const seconds = named('seconds', bytes)
const milliseconds = named('milliseconds', bytes)

/** The options that set a deadline, of which a command takes one. Times are parsed later, because their errors come last. */
export const deadlineOptions: {
  readonly ex: Arg<Bytes>
  readonly px: Arg<Bytes>
  readonly exat: Arg<Bytes>
  readonly pxat: Arg<Bytes>
} = {
  ex: seconds,
  px: milliseconds,
  exat: named('unix-time-seconds', bytes),
  pxat: named('unix-time-milliseconds', bytes),
}

export interface DeadlineWords {
  readonly ex?: Bytes
  readonly px?: Bytes
  readonly exat?: Bytes
  readonly pxat?: Bytes
}

/** Refuses more than one of the deadline options and of the flags that exclude them, such as KEEPTTL. */
export function oneDeadline({ ex, px, exat, pxat }: DeadlineWords, ...others: (true | undefined)[]): void {
  const given = [ex, px, exat, pxat, ...others].filter((option) => option !== undefined)
  if (given.length > 1) throw replyError('syntax')
}

/** The deadline in milliseconds since the Unix epoch, `undefined` when no option was given. */
export function deadlineOf(words: DeadlineWords, now: number, command: string): number | undefined {
  const { ex, px, exat, pxat } = words
  if (ex !== undefined) return deadline(ex, 1000, now, command)
  if (px !== undefined) return deadline(px, 1, now, command)
  if (exat !== undefined) return deadline(exat, 1000, 0, command)
  if (pxat !== undefined) return deadline(pxat, 1, 0, command)
  return undefined
}

/** A positive time in units of `unit` milliseconds after `from`; nothing may leave the range of 64 bits. */
export function deadline(word: Bytes, unit: 1 | 1000, from: number, command: string): number {
  const time = toInt64(word)
  if (time <= 0) throw invalidExpire(command)
  return deadlineIn(time, unit, from, command)
}

/** The same for times that may lie in the past. */
export function deadlineIn(time: number | bigint, unit: 1 | 1000, from: number, command: string): number {
  if (typeof time === 'number' && Math.abs(time) < 1e12) return time * unit + from
  const length = BigInt(time) * BigInt(unit)
  const at = length + BigInt(from)
  if (length < -maxTime - 1n || length > maxTime || at < -maxTime - 1n || at > maxTime) throw invalidExpire(command)
  return Number(at)
}
