// Side-by-side measurements. Absolute numbers depend on the machine and the day. Ratios of variants that take turns in
// one process are comparable, because load and heat affect all of them. Runs on Node's type stripping, so its syntax is
// erasable.
import { appendFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'

export interface Variant {
  readonly name: string
  /** Does the work this many times. */
  run(times: number): void | Promise<void>
}

export interface Figure {
  readonly name: string
  /** The variant that is the divisor of all others. */
  readonly baseline: Variant
  readonly variants: readonly Variant[]
  /** Highest ratio that is a goal of the project, by variant. A miss is marked and is not an error. */
  readonly atMost?: Readonly<Record<string, number>>
  /** The same goal as an amount, in the unit of the figure. */
  readonly within?: Readonly<Record<string, number>>
  /** Number of turns of each variant. Default 15. */
  readonly rounds?: number
  /** Milliseconds of one turn. Default 40. */
  readonly turn?: number
  /** Number of times the work is done in one turn, if a turn is not limited by time. */
  readonly times?: number
  /** Unit of the amount. Default `µs`. */
  readonly unit?: 'µs' | 'B' | 'runs'
  /**
   * Returns the amount of the last turn, if it is not the processor time of this process: bytes, or another process.
   */
  readonly reading?: () => number
  readonly dispose?: () => void | Promise<void>
}

export interface Measured {
  /** Name of the figure's file without its ending. */
  readonly word?: string
  readonly figure: string
  readonly variant: string
  readonly baseline: string
  /** Time of the variant over time of the baseline: median over the rounds, with the quartiles. */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** Median amount of one piece of work. */
  readonly amount: number
  readonly unit: 'µs' | 'B' | 'runs'
  readonly rounds: number
  readonly atMost?: number
  readonly within?: number
  /** Whether the goals hold; absent without goals. */
  readonly kept?: boolean
}

const resultsFile = new URL('./results.jsonl', import.meta.url)

/** Does work with one item after another, cyclically. Each turn continues where the previous one stopped. */
export function each<T>(name: string, items: readonly T[], run: (item: T) => unknown): Variant {
  let at = 0
  return {
    name,
    run(times) {
      for (let count = 0; count < times; count++) {
        run(items[at]!)
        if (++at === items.length) at = 0
      }
    },
  }
}

/**
 * Handles a failed request. A server closes a connection that was idle for five seconds, which happens while other
 * variants take their turns on a busy machine. A request that is sent at that moment is sent again.
 */
export function againIfClosed(
  sent: ClientRequest,
  ask: () => Promise<void>,
  resolve: (done: Promise<void>) => void,
  reject: (error: Error) => void,
): void {
  sent.on('error', (error: NodeJS.ErrnoException) =>
    sent.reusedSocket && error.code === 'ECONNRESET' ? resolve(ask()) : reject(error),
  )
}

/** Measures one figure, prints a line for each variant, and appends it to `bench/results.jsonl`. */
export async function measure(figure: Figure, word: string): Promise<readonly Measured[]> {
  const variants = [figure.baseline, ...figure.variants]
  const times = new Map<Variant, number>()
  for (const variant of variants) times.set(variant, figure.times ?? (await calibrated(variant, figure)))
  const samples = new Map<Variant, number[]>(variants.map((variant) => [variant, []]))
  const rounds = figure.rounds ?? 15
  globalThis.gc?.()
  for (let round = 0; round < rounds; round++) {
    // Alternates between forward and backward, so that no variant always runs after the same neighbor.
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      samples.get(variant)!.push(await sample(variant, times.get(variant)!, figure))
    }
  }
  await figure.dispose?.()
  const measured = variants.map((variant) => ({ word, ...summary(figure, variant, samples) }))
  report(measured)
  return measured
}

/** Returns how often the work fits into a turn, after a warm-up. */
async function calibrated(variant: Variant, figure: Figure): Promise<number> {
  // The first use loads code, which could fill a turn.
  await sample(variant, 1, figure)
  for (let times = 1; ; times *= 2) {
    const amount = await sample(variant, times, figure)
    if (amount * times > (figure.turn ?? 40) * 1000) return times
  }
}

/** Returns the amount of one piece of work. */
async function sample(variant: Variant, times: number, { reading }: Figure): Promise<number> {
  // A variant must not pay for the garbage of the previous one.
  globalThis.gc?.({ type: 'minor' })
  const start = process.cpuUsage()
  const done = variant.run(times)
  if (done instanceof Promise) await done
  if (reading !== undefined) return reading() / times
  // Processor time instead of elapsed time, because other programs run on the machine.
  const { user, system } = process.cpuUsage(start)
  return (user + system) / times
}

function summary(figure: Figure, variant: Variant, samples: ReadonlyMap<Variant, readonly number[]>): Measured {
  const base = samples.get(figure.baseline)!
  const own = samples.get(variant)!
  const ratios = own.map((value, round) => value / base[round]!)
  const ratio = quantile(ratios, 0.5)
  const amount = quantile(own, 0.5)
  const atMost = figure.atMost?.[variant.name]
  const within = figure.within?.[variant.name]
  return {
    figure: figure.name,
    variant: variant.name,
    baseline: figure.baseline.name,
    ratio,
    low: quantile(ratios, 0.25),
    high: quantile(ratios, 0.75),
    amount,
    unit: figure.unit ?? 'µs',
    rounds: own.length,
    ...(atMost !== undefined && { atMost }),
    ...(within !== undefined && { within }),
    ...((atMost !== undefined || within !== undefined) && {
      kept: ratio <= (atMost ?? Number.POSITIVE_INFINITY) && amount <= (within ?? Number.POSITIVE_INFINITY),
    }),
  }
}

/** Returns the value below which this fraction of all values is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const below = sorted[Math.floor(place)]!
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1)
}

function report(measured: readonly Measured[]): void {
  console.log(`\n${measured[0]!.figure}`)
  const width = Math.max(...measured.map(({ variant }) => variant.length))
  for (const line of measured) {
    const { variant, baseline, ratio, low, high, amount, unit, atMost, within, kept } = line
    const spread = variant === baseline ? '' : `  (${short(low)} to ${short(high)})`
    const goals = [atMost !== undefined && `${short(atMost)} ×`, within !== undefined && `${short(within)} ${unit}`]
    const goal = kept === undefined ? '' : `  goal ${goals.filter(Boolean).join(', ')}: ${kept ? 'kept' : 'MISSED'}`
    console.log(
      `  ${variant.padEnd(width)}  ${short(ratio).padStart(7)} ×  ${short(amount).padStart(8)} ${unit}${spread}${goal}`,
    )
  }
  const stamp = { node: process.version, at: new Date().toISOString() }
  appendFileSync(resultsFile, measured.map((line) => `${JSON.stringify({ ...line, ...stamp })}\n`).join(''))
}

/** Formats a number with about two significant digits. */
export function short(value: number): string {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 0.1
        ? value.toFixed(2)
        : value.toPrecision(2)
}
