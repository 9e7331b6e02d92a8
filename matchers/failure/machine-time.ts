import { text } from '../../src/kernel/bytes.js'
import { formatDuration } from '../../src/kernel/duration.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { plainText } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { TrafficContext } from '../../src/report/traffic-context.js'

/** The parts of a log that can show that an app reads the machine's clock. */
interface Log {
  readonly context: TrafficContext
  ofType<T extends 'command' | 'attempt' | 'clock' | 'fault' | 'request'>(type: T): readonly EntryOf<T>[]
}

const day = 86_400_000
/** Usual windows of rate limiters in milliseconds, for commands whose arguments contain no window. */
const usualWindows = [1000, 60_000, 3_600_000]
/**
 * Commands whose arguments contain the time of a window: scripts of rate limiters, and commands for sorted sets with
 * times as scores.
 */
const windowed = /^(EVAL(SHA)?(_RO)?|FCALL(_RO)?|ZADD|ZREMRANGEBYSCORE|ZCOUNT|ZRANGEBYSCORE|ZRANGE)$/
const counting = /^(INCR|INCRBY|GET|SET|EXPIRE|PEXPIRE|TTL|HINCRBY|HGET)$/
const refusal = /\b429\b|too many|rate.?limit|success: false|denied|blocked/i

/**
 * Returns a hint if an app reads the machine's clock. Then a rate limiter still rejects requests after the test has
 * moved virtual time. The log must contain a command with the machine's time from before the move. That command must be
 * typical of a rate limiter, or a response must have status 429.
 * @param failure text of the failure, if it is known
 */
export function machineTimeHint(log: Log, failure = ''): string | undefined {
  const { context } = log
  const now = context.now?.()
  const machine = Date.now()
  if (now === undefined || context.followed?.() === true || Math.abs(machine - now) < 1000) return undefined
  const isRefused = refusal.test(failure) || log.ofType('attempt').some(({ outcome }) => outcome?.status === 429)
  const told = log.ofType('command').find((command) => {
    if (command.via === 'direct' || now - command.at < 1000) return false
    const name = nameOf(command)
    return (windowed.test(name) || isRefused) && tellsTime(command, name, machine)
  })
  if (told === undefined) return isRefusedByApp(log, failure, now) ? ofMemory : undefined
  const moved = formatDuration(now - told.at)
  return `The app uses the clock of this machine, which clock.advance() does not move: its command ${plainText(nameOf(told))} at ${timeSeenFrom(told.at, now)} contained the time of this clock (${new Date(machine).toISOString().slice(0, 10)}), and the sandbox has advanced by ${moved} since. A rate limiter that reads Date still counts in the old window. ${follow}`
}

const follow =
  "Set timers: 'follow' in the options of the fixture, or fake the timers and call sandbox.clock.follow(fakeTimers(vi))."
const ofMemory = `A rate limiter that keeps its windows in memory and reads Date uses the clock of this machine, which clock.advance() does not move. ${follow}`

/**
 * Returns whether the failure mentions a 429 after virtual time has moved. The 429 must not come from a fault or from
 * the sandbox.
 */
function isRefusedByApp(log: Log, failure: string, now: number): boolean {
  if (!/\b429\b|too many requests/i.test(failure) || log.ofType('fault').length > 0) return false
  const [move] = log.ofType('clock')
  return (
    move !== undefined &&
    now - move.at >= 1000 &&
    !log.ofType('request').some(({ response: answer }) => answer?.status === 429)
  )
}

function nameOf({ argv }: EntryOf<'command'>): string {
  return text(argv[0]!).slice(0, 40).toUpperCase()
}

/**
 * Returns whether an argument contains a time near the machine's time. The argument is a Unix time, or a key that ends
 * in the number of a window.
 */
function tellsTime({ argv }: EntryOf<'command'>, name: string, machine: number): boolean {
  const isNear = (at: number, within = day): boolean => Math.abs(at - machine) <= within
  const words = argv.slice(1).map((word) => (word.length <= 200 ? text(word) : ''))
  const numbers = words
    .filter((word) => /^\(?\d{1,16}(\.\d+)?$/.test(word))
    .map((word) => Number(word.replace('(', '')))
  if (numbers.some((number) => isNear(number) || isNear(number * 1000))) return true
  if (!windowed.test(name) && !counting.test(name)) return false
  const windows = [...usualWindows, ...numbers.filter((number) => number >= 1000 && number <= 31 * day)]
  return words.some((word) => {
    const bucket = Number(/[:_-](\d{3,12})$/.exec(word)?.[1] ?? Number.NaN)
    return windows.some((window) => isNear(bucket * window, day + window))
  })
}
