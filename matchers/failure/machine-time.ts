import { text } from '../../src/kernel/bytes.js'
import { formatDuration } from '../../src/kernel/duration.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { plainText } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { TrafficContext } from '../../src/report/traffic-context.js'

/** What a log tells of an app that goes by the machine's clock. */
interface Log {
  readonly context: TrafficContext
  ofType<T extends 'command' | 'attempt' | 'clock' | 'fault' | 'request'>(type: T): readonly EntryOf<T>[]
}

const day = 86_400_000
/** Windows in which limiters number time, when a command does not tell its own. */
const usualWindows = [1000, 60_000, 3_600_000]
/** Commands in whose words times stand for windows: scripts of limiters, and sorted sets with a time as score. */
const windowed = /^(EVAL(SHA)?(_RO)?|FCALL(_RO)?|ZADD|ZREMRANGEBYSCORE|ZCOUNT|ZRANGEBYSCORE|ZRANGE)$/
const counting = /^(INCR|INCRBY|GET|SET|EXPIRE|PEXPIRE|TTL|HINCRBY|HGET)$/
const refusal = /\b429\b|too many|rate.?limit|success: false|denied|blocked/i

/**
 * Why a limiter still refuses although the test has moved time: the app reads the machine's clock, which has not moved.
 * Told when a command before the move carried the machine's time, and either it is one that limiters send or something
 * was refused.
 * @param failure the text of the failure, when it is known
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
  return `the app goes by the clock of this machine, which clock.advance() does not move: its ${plainText(nameOf(told))} at ${timeSeenFrom(told.at, now)} carried the time of the machine (${new Date(machine).toISOString().slice(0, 10)}), and the sandbox has moved on by ${moved} since. A rate limiter that reads Date still counts in the old window. ${follow}`
}

const follow =
  "Set timers: 'follow' in the options of the fixture, or fake the timers and call sandbox.clock.follow(fakeTimers(vi))."
const ofMemory = `a limiter that keeps its windows in memory and reads Date goes by the clock of this machine, which clock.advance() does not move. ${follow}`

/** The failure speaks of a 429, time has moved, and it was neither a fault nor this sandbox that said so. */
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

/** Milliseconds or seconds since 1970 in a word, or the number of a window at the end of a key: all near the machine's now. */
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
