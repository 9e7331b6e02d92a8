import type { Bytes } from '../kernel/bytes.js'
import { categoriesOf, type Permissible } from './access/categories.js'
import type { CommandDescription } from './command/command-description.js'
import { type Reply, Status } from './command/reply.js'

/** Billed commands and bytes since the start or the last reset. */
export interface StoreCost {
  /**
   * Number of commands, including those in pipelines, transactions and scripts. A transaction counts two more, for
   * MULTI and EXEC. [store.md 4]
   */
  readonly commands: number
  /** Number of commands that do not change keys. */
  readonly reads: number
  /** Number of commands that can change keys. */
  readonly writes: number
  /** Number of bytes of the arguments. */
  readonly bytesIn: number
  /** Number of bytes of the replies. */
  readonly bytesOut: number
  /** Number of commands in the current virtual day in UTC, which the policy `dailyRequestLimit` limits. */
  readonly today: number
  /** Number of commands in the current virtual month in UTC, which the policy `monthlyRequestLimit` limits. */
  readonly thisMonth: number
}

/** Counters that INFO shows. */
export type InfoStatistics = Pick<StoreCost, 'commands' | 'reads' | 'writes' | 'bytesIn' | 'bytesOut'>

/** The service also bills the MULTI and EXEC around the commands of a transaction. [store.md 4] */
export const transactionOverhead = 2

const dayMs = 86_400_000

/**
 * Kind of a command in the usage statistics, by its access-control category: `@read`, `@write`, `@scripting` or none of
 * them.
 */
export type CommandKind = 'reads' | 'writes' | 'scripts' | 'others'

/** Receives everything that the meter counts. The usage statistics implement it. */
export interface UsageListener {
  /** Called in a new minute, before anything changes or counts in it. */
  reach(now: number): void
  ran(name: string, kind: CommandKind): void
  /** Called after a read command with the number of its keys that exist, and of those that do not. */
  lookedUp(hits: number, misses: number): void
  transferred(bytes: number): void
}

/** The facts of a command by which it counts. */
export type CountedCommand = Pick<CommandDescription, 'writes'> & Permissible

const minuteMs = 60_000

/** Counts commands and bytes. Commands that a test runs directly do not count. */
export class CostMeter {
  /** Listener that also gets every count, with its time. */
  listener: UsageListener | undefined
  #minuteEnds = Number.NEGATIVE_INFINITY
  readonly #kinds = new Map<string, CommandKind>()
  #reads = 0
  #writes = 0
  /** Number of billed MULTI and EXEC commands, which are neither reads nor writes. */
  #overhead = 0
  #bytesIn = 0
  #bytesOut = 0
  /** Number of commands before the current day. */
  #beforeToday = 0
  #beforeThisMonth = 0
  #dayEnds = 0
  #month = 0
  #paused = false
  /** Counters at the time of the last CONFIG RESETSTAT. INFO subtracts these values from the present counters. */
  #forgotten: InfoStatistics = { commands: 0, reads: 0, writes: 0, bytesIn: 0, bytesOut: 0 }

  constructor(private readonly now: () => number) {}

  /**
   * Tells the listener when a new minute has begun. Must be called before each change of the store, also by commands
   * that do not count.
   */
  reach(): number {
    const now = this.now()
    if (now >= this.#minuteEnds) {
      this.#minuteEnds = (Math.floor(now / minuteMs) + 1) * minuteMs
      this.listener?.reach(now)
    }
    return now
  }

  /** Counts one command and returns its kind, or `undefined` if the command does not count. */
  count(command: CountedCommand): CommandKind | undefined {
    const now = this.reach()
    if (this.#paused) return undefined
    if (now >= this.#dayEnds) this.#turnPage()
    if (command.writes) this.#writes++
    else this.#reads++
    if (this.listener === undefined) return undefined
    const kind = this.#kindOf(command)
    this.listener.ran(command.name, kind)
    return kind
  }

  countTransaction(): void {
    const now = this.reach()
    if (now >= this.#dayEnds) this.#turnPage()
    this.#overhead += transactionOverhead
    this.listener?.ran('MULTI', 'others')
    this.listener?.ran('EXEC', 'others')
  }

  countBytes(received: number, sent: number): void {
    this.reach()
    this.#bytesIn += received
    this.#bytesOut += sent
    this.listener?.transferred(received + sent)
  }

  countLookups(hits: number, misses: number): void {
    this.listener?.lookedUp(hits, misses)
  }

  /** Runs `work` without billing its commands. */
  pause<T>(work: () => T): T {
    const before = this.#paused
    this.#paused = true
    try {
      return work()
    } finally {
      this.#paused = before
    }
  }

  spend(): StoreCost {
    if (this.now() >= this.#dayEnds) this.#turnPage()
    const commands = this.#commands
    return {
      commands,
      reads: this.#reads,
      writes: this.#writes,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      today: commands - this.#beforeToday,
      thisMonth: commands - this.#beforeThisMonth,
    }
  }

  /** Returns the counters of INFO: everything since the start or since CONFIG RESETSTAT. */
  statistics(): InfoStatistics {
    const spend = this.spend()
    const since = (name: keyof InfoStatistics): number => spend[name] - this.#forgotten[name]
    return {
      commands: since('commands'),
      reads: since('reads'),
      writes: since('writes'),
      bytesIn: since('bytesIn'),
      bytesOut: since('bytesOut'),
    }
  }

  /** Resets the counters of INFO (CONFIG RESETSTAT). Billed amounts do not change. */
  resetStatistics(): void {
    this.#forgotten = this.spend()
  }

  #kindOf(command: CountedCommand): CommandKind {
    let kind = this.#kinds.get(command.name)
    if (kind === undefined) {
      const categories = categoriesOf(command)
      kind = categories.has('scripting')
        ? 'scripts'
        : categories.has('write')
          ? 'writes'
          : categories.has('read')
            ? 'reads'
            : 'others'
      this.#kinds.set(command.name, kind)
    }
    return kind
  }

  get #commands(): number {
    return this.#reads + this.#writes + this.#overhead
  }

  /** Starts the counters of a new day or month. */
  #turnPage(): void {
    const day = Math.floor(this.now() / dayMs)
    this.#dayEnds = (day + 1) * dayMs
    this.#beforeToday = this.#commands
    const month = monthOf(day)
    if (month === this.#month) return
    this.#month = month
    this.#beforeThisMonth = this.#commands
  }
}

/** Returns the billed bytes of the arguments. */
export function sizeOfWords(argv: readonly Bytes[]): number {
  let size = 0
  for (const word of argv) size += word.length
  return size
}

/** Returns the billed bytes of a reply. */
export function sizeOfReply(reply: Reply): number {
  if (typeof reply === 'string') return reply.length
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply).length
  if (reply instanceof Status) return reply.text.length
  if (!Array.isArray(reply)) return 0
  let size = 0
  for (const item of reply as readonly Reply[]) size += sizeOfReply(item)
  return size
}

/** Returns the number of months since year 0 in the Gregorian calendar. @param day days since 1970-01-01 */
export function monthOf(day: number): number {
  // In this calculation, years begin in March, so that the leap day is the last day of a year. An era is 400 years.
  const days = day + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  return (era * 400 + yearOfEra) * 12 + monthFromMarch + 2
}
