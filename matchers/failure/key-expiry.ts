import { type Bytes, text } from '../../src/kernel/bytes.js'
import { formatDuration } from '../../src/kernel/duration.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { removals } from './key-effects.js'
import { replacements } from './without-ttl.js'

/** Returns the call that lets a key with a TTL expire. A test that sleeps, or moves fake timers, does not expire it. */
export function expiringCall(ttl: number): string {
  return `sandbox.clock.advance('${formatDuration(ttl)}')`
}

/**
 * Returns a hint about a key that a test expects to be gone, although its TTL has not passed in virtual time.
 * @param ttl remaining TTL in milliseconds
 */
export function expiryHint(name: string, ttl: number, { context }: MatcherInput): string | undefined {
  const now = context.now?.()
  // A real clock moves by itself. The clock of an outdated store never moves again.
  if (now === undefined || context.clock === 'real' || context.replacement?.by !== undefined) return undefined
  return `${name} expires at ${timeSeenFrom(now + ttl, now)} in virtual time. To let it expire, await ${expiringCall(ttl)} first.`
}

/** Keeps the instants at which keys expire, as the log proves them. */
export class KnownExpiries {
  readonly #expiries = new Map<Bytes, number>()

  /** Returns when a key that exists now expires. `undefined` if it does not expire, or if the log does not show when. */
  at(key: Bytes, now: number): number | undefined {
    const expiry = this.#expiries.get(key)
    return expiry === undefined || expiry <= now ? undefined : expiry
  }

  /** Takes a change of a key. @param command the command that made the change */
  take({ event, key }: EntryOf<'keyspace'>, command: EntryOf<'command'>): void {
    if (event === 'expire') {
      const expiry = expiryIn(command, key)
      if (expiry === undefined) this.#expiries.delete(key)
      else this.#expiries.set(key, expiry)
    } else if (event === 'persist' || removals.test(event) || (replacements.test(event) && !keepsTtl(command))) {
      this.#expiries.delete(key)
    }
  }

  clear(): void {
    this.#expiries.clear()
  }
}

function keepsTtl({ argv }: EntryOf<'command'>): boolean {
  return argv.some((word, index) => index > 2 && text(word).toUpperCase() === 'KEEPTTL')
}

/** Position of the time in the arguments of commands that have it at a fixed position, and the unit of this time. */
const fixed: Readonly<Record<string, readonly [index: number, unit: string]>> = {
  SETEX: [2, 'EX'],
  PSETEX: [2, 'PX'],
  EXPIRE: [2, 'EX'],
  PEXPIRE: [2, 'PX'],
  EXPIREAT: [2, 'EXAT'],
  PEXPIREAT: [2, 'PXAT'],
}

/**
 * Returns the instant at which a key expires, from the arguments of the command that set the TTL. Returns `undefined`
 * for commands whose arguments do not show it, such as a script.
 */
function expiryIn({ argv, at }: EntryOf<'command'>, key: Bytes): number | undefined {
  if (argv[1] !== key) return undefined
  const words = argv.map((word) => text(word))
  const name = words[0]!.toUpperCase()
  const [index, unit] = fixed[name] ?? optionOf(name, words)
  const time = Number(words[index])
  if (!Number.isSafeInteger(time)) return undefined
  const instant = /^EX/.test(unit) ? time * 1000 : time
  return unit.endsWith('AT') ? instant : at + instant
}

/** Returns the position of the time after an option such as `EX`, and this option. */
function optionOf(name: string, words: readonly string[]): readonly [index: number, unit: string] {
  const first = name === 'SET' ? 3 : name === 'GETEX' ? 2 : words.length
  const at = words.findIndex((word, index) => index >= first && /^[EP]X(?:AT)?$/i.test(word))
  return at === -1 ? [words.length, ''] : [at + 1, words[at]!.toUpperCase()]
}
