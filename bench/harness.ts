// Side-by-side measurements. Figures of one machine on one day mean little, ratios of variants that take turns in one
// process mean something: load and heat hit all of them. Runs on Node's type stripping, so its syntax is erasable.
import { appendFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'

export interface Variant {
  readonly name: string
  /** Does the work so many times. */
  run(times: number): void | Promise<void>
}

export interface Figure {
  readonly name: string
  /** The variant that all others are divided by. */
  readonly baseline: Variant
  readonly variants: readonly Variant[]
  /** Highest ratio that the project allows itself, by variant; a miss is marked, not an error. */
  readonly atMost?: Readonly<Record<string, number>>
  /** The same as an amount, in the unit of the figure. */
  readonly within?: Readonly<Record<string, number>>
  /** Times a variant takes its turn. Default 15. */
  readonly rounds?: number
  /** Milliseconds of one turn. Default 40. */
  readonly turn?: number
  /** Work of one turn, when a turn should not be measured in milliseconds. */
  readonly times?: number
  /** What is measured. Default `µs`. */
  readonly unit?: 'µs' | 'B' | 'runs'
  /** The amount of the turn just run, where it is not the time that this process computed: bytes, or another process. */
  readonly reading?: () => number
  readonly dispose?: () => void | Promise<void>
}

export interface Measured {
  readonly figure: string
  readonly variant: string
  readonly baseline: string
  /** Time of the variant over time of the baseline: median over the rounds, with the quartiles. */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** Median of one piece of work. */
  readonly amount: number
  readonly unit: 'µs' | 'B' | 'runs'
  readonly rounds: number
  readonly atMost?: number
  readonly within?: number
  /** Whether the goals hold, when there are any. */
  readonly kept?: boolean
}

const resultsFile = new URL('./results.jsonl', import.meta.url)

/** Does something with one item after another, round and round; goes on where the turn before it stopped. */
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
 * What to do when a request fails: a server closes a connection on which nothing came for five seconds, which is while
 * others take their turn on a busy machine, and the request that goes out meanwhile is sent again.
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

/** Measures one figure, prints a line for each variant and appends it to `bench/results.jsonl`. */
export async function measure(figure: Figure): Promise<readonly Measured[]> {
  const variants = [figure.baseline, ...figure.variants]
  const times = new Map<Variant, number>()
  for (const variant of variants) times.set(variant, figure.times ?? (await calibrated(variant, figure)))
  const samples = new Map<Variant, number[]>(variants.map((variant) => [variant, []]))
  const rounds = figure.rounds ?? 15
  globalThis.gc?.()
  for (let round = 0; round < rounds; round++) {
    // Forward and backward in turn, so that nobody always runs in the wake of the same neighbor.
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      samples.get(variant)!.push(await sample(variant, times.get(variant)!, figure))
    }
  }
  await figure.dispose?.()
  const measured = variants.map((variant) => summary(figure, variant, samples))
  report(measured)
  return measured
}

/** How often the work fits into a turn, after it has been run warm. */
async function calibrated(variant: Variant, figure: Figure): Promise<number> {
  // What is loaded by the first use would fill a turn by itself.
  await sample(variant, 1, figure)
  for (let times = 1; ; times *= 2) {
    const amount = await sample(variant, times, figure)
    if (amount * times > (figure.turn ?? 40) * 1000) return times
  }
}

/** The amount of one piece of work. */
async function sample(variant: Variant, times: number, { reading }: Figure): Promise<number> {
  // Nobody pays for what the one before left behind.
  globalThis.gc?.({ type: 'minor' })
  const start = process.cpuUsage()
  const done = variant.run(times)
  if (done instanceof Promise) await done
  if (reading !== undefined) return reading() / times
  // Time that the process computed, not time that passed: what others do on the machine does not count.
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

/** The value below which this part of all values is. */
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

/** A number as tables show it: with about two digits that matter. */
export function short(value: number): string {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 0.1
        ? value.toFixed(2)
        : value.toPrecision(2)
}
