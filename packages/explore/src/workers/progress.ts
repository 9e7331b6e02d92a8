import { hostTime } from '../../../../src/kernel/host.js'
import type { ShardProgress } from './shard-run.js'

/** Milliseconds of host time between two progress lines, on a terminal and in a file or pipe. */
const everyMs = { terminal: 500, pipe: 10_000 } as const
/** If no run ends for this many milliseconds of host time, the campaign counts as stalled. */
const stillAfter = 30_000

/** Prints progress lines on standard error. @returns a function that stops printing */
export function showProgress(progress: () => ShardProgress): () => void {
  const { stderr } = process
  const isTerminal = stderr.isTTY === true
  const begun = hostTime()
  let last = { runs: 0, at: begun }
  const tell = (): void => {
    const now = hostTime()
    const is = progress()
    if (is.runs !== last.runs) last = { runs: is.runs, at: now }
    const still = now - last.at >= stillAfter ? now - last.at : 0
    const line = progressLine(is, now - begun, still)
    // Some terminals report 0 columns.
    stderr.write(isTerminal ? `\r\x1b[K${cut(line, stderr.columns || 80)}` : `${line}\n`)
  }
  const timer = setInterval(tell, isTerminal ? everyMs.terminal : everyMs.pipe)
  return () => {
    clearInterval(timer)
    if (isTerminal) stderr.write('\r\x1b[K')
    const is = progress()
    if (is.of !== undefined) stderr.write(`${progressLine(is, hostTime() - begun)}\n`)
  }
}

/** Cuts a line to the width of the terminal. The next line could not overwrite a longer line. */
function cut(line: string, columns: number): string {
  return line.length < columns ? line : `${line.slice(0, columns - 2)}…`
}

/**
 * Formats the progress as one line.
 * @param elapsed host time since the start, in milliseconds
 * @param still host time since the last run ended, in milliseconds. 0 if the campaign is not stalled
 */
export function progressLine(
  { runs, of, failed, reached, possible, underWay }: ShardProgress,
  elapsed: number,
  still = 0,
): string {
  if (of === undefined) return `counting the runs, for ${spanText(elapsed)} now; Ctrl-C ends the campaign`
  if (still > 0)
    return `no run has ended for ${spanText(still)}: running ${underWay.length === 0 ? 'none yet' : `run ${underWay.join(', run ')}`}; Ctrl-C ends the campaign`
  const rate = elapsed > 0 ? (1000 * runs) / elapsed : 0
  return [
    `${number(runs)} of ${number(of)} runs, ${of === 0 ? 100 : Math.floor((100 * runs) / of)} %`,
    `${number(Math.round(rate))}/s`,
    ...(rate > 0 && runs < of ? [`${spanText((1000 * (of - runs)) / rate)} left`] : []),
    ...(possible > 0 ? [`reached ${reached} of ${possible}`] : []),
    failed === 0 ? 'none failed' : `${number(failed)} failed`,
  ].join(', ')
}

function spanText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 6) / 10} h`
}

function number(given: number): string {
  return given.toLocaleString('en-US')
}
