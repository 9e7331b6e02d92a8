// Side-by-side measurements. Figures of one machine on one day mean little, ratios of variants that take turns in one
// process mean something: load and heat hit all of them. Runs on Node's type stripping, so its syntax is erasable.
import { appendFileSync } from 'node:fs'

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
  /** Highest ratio of time that the project allows itself, by variant; a miss is marked, not an error. */
  readonly atMost?: Readonly<Record<string, number>>
  /** Times a variant takes its turn. Default 15. */
  readonly rounds?: number
  /** Milliseconds of one turn. Default 40. */
  readonly turn?: number
  /** Work of one turn, when a turn should not be measured in milliseconds. */
  readonly times?: number
  /** Microseconds of the turn just run, for work that measures itself, such as another process. */
  readonly clock?: () => number
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
  /** Median microseconds of one piece of work. */
  readonly microseconds: number
  readonly rounds: number
  readonly atMost?: number
}

const resultsFile = new URL('./results.jsonl', import.meta.url)

/** Measures one figure, prints a line for each variant and appends it to `bench/results.jsonl`. */
export async function measure(figure: Figure): Promise<readonly Measured[]> {
  const variants = [figure.baseline, ...figure.variants]
  const times = new Map<Variant, number>()
  for (const variant of variants) times.set(variant, figure.times ?? (await calibrated(variant, figure.turn ?? 40)))
  const samples = new Map<Variant, number[]>(variants.map((variant) => [variant, []]))
  const rounds = figure.rounds ?? 15
  for (let round = 0; round < rounds; round++) {
    // Forward and backward in turn, so that nobody always runs in the wake of the same neighbour.
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      samples.get(variant)!.push(await timed(variant, times.get(variant)!, figure.clock))
    }
  }
  await figure.dispose?.()
  const base = samples.get(figure.baseline)!
  const measured = variants.map((variant): Measured => {
    const own = samples.get(variant)!
    const ratios = own.map((value, round) => value / base[round]!)
    const atMost = figure.atMost?.[variant.name]
    return {
      figure: figure.name,
      variant: variant.name,
      baseline: figure.baseline.name,
      ratio: quantile(ratios, 0.5),
      low: quantile(ratios, 0.25),
      high: quantile(ratios, 0.75),
      microseconds: quantile(own, 0.5),
      rounds,
      ...(atMost !== undefined && { atMost }),
    }
  })
  report(measured)
  return measured
}

/** How often the work fits into a turn, after it has been run warm. */
async function calibrated(variant: Variant, turn: number): Promise<number> {
  for (let times = 1; ; times *= 2) {
    const microseconds = await timed(variant, times)
    if (microseconds * times > turn * 1000) return times
  }
}

/** Microseconds of one piece of work. */
async function timed(variant: Variant, times: number, clock?: () => number): Promise<number> {
  globalThis.gc?.()
  const start = process.hrtime.bigint()
  const done = variant.run(times)
  if (done instanceof Promise) await done
  const microseconds = clock === undefined ? Number(process.hrtime.bigint() - start) / 1000 : clock()
  return microseconds / times
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const below = sorted[Math.floor(place)]!
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1)
}

function report(measured: readonly Measured[]): void {
  console.log(`\n${measured[0]!.figure}`)
  const width = Math.max(...measured.map(({ variant }) => variant.length))
  for (const line of measured) {
    const spread = line.variant === line.baseline ? '' : `  (${short(line.low)} to ${short(line.high)})`
    const goal =
      line.atMost === undefined
        ? ''
        : line.ratio <= line.atMost
          ? `  goal ${short(line.atMost)}: kept`
          : `  goal ${short(line.atMost)}: MISSED`
    console.log(
      `  ${line.variant.padEnd(width)}  ${short(line.ratio).padStart(7)} ×  ${short(line.microseconds).padStart(8)} µs${spread}${goal}`,
    )
  }
  const stamp = { node: process.version, at: new Date().toISOString() }
  appendFileSync(resultsFile, measured.map((line) => `${JSON.stringify({ ...line, ...stamp })}\n`).join(''))
}

function short(value: number): string {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 0.1
        ? value.toFixed(2)
        : value.toPrecision(2)
}
