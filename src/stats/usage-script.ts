import { milliseconds } from '../kernel/duration.js'
import type { Random } from '../kernel/random.js'
import type { Grid } from './periods.js'
import { RateCurve, type RateSegment } from './rate-curve.js'
import { day, monthOf } from './usage-calendar.js'
import { checkSteps, type LatencyFigures, resolved, type UsageMetrics, type UsageStep } from './usage-steps.js'

interface Span {
  readonly from: number
  readonly until: number
}

interface Steady extends Span {
  readonly values: Readonly<Record<string, number>>
  readonly jitter: number
}

interface Burst extends Span {
  readonly times: number
  readonly of: readonly string[]
}

interface Latencies extends Span {
  readonly of: Readonly<Record<string, LatencyFigures | undefined>>
  readonly jitter: number
}

interface MonthEnd {
  readonly times: number
  readonly length: number
  readonly of: readonly string[]
}

/** Number of earlier months for which a report may need the increases of `usage.monthEnd()`. */
const monthsBefore = 2
const silence: RateSegment = { rate: 0, jitter: 0 }

export interface UsageScriptOptions {
  readonly words: UsageMetrics
  /** Virtual time at which the script was set, in milliseconds since the epoch. */
  readonly told: number
  readonly now: () => number
  readonly random: Random
}

/** Computes the usage at any instant, from the steps of a usage script. */
export class UsageScript {
  readonly told: number
  readonly #options: UsageScriptOptions
  readonly #steadies: readonly Steady[]
  readonly #spikes: readonly Burst[]
  readonly #gaps: readonly Span[]
  readonly #monthEnds: readonly MonthEnd[]
  readonly #latencies: readonly Latencies[]
  readonly #resets: readonly { readonly at: number; readonly of: readonly string[] }[]
  #paces = new Map<string, RateCurve>()
  /** First day of the latest month in `#bursts`, as a number counted from the epoch. */
  #knownMonth = Number.NEGATIVE_INFINITY
  #bursts: readonly Burst[] = []
  #changes: readonly number[] = []

  constructor(steps: readonly UsageStep[], options: UsageScriptOptions) {
    const { words, told } = options
    checkSteps(steps, words)
    this.#options = options
    this.told = told
    const of = <K extends UsageStep['kind']>(kind: K): Extract<UsageStep, { kind: K }>[] =>
      steps.filter((step) => step.kind === kind) as Extract<UsageStep, { kind: K }>[]
    const span = (step: { readonly from?: string | number; readonly until?: string | number }): Span => ({
      from: step.from === undefined ? Number.NEGATIVE_INFINITY : resolved(step.from, told),
      until: step.until === undefined ? Number.POSITIVE_INFINITY : resolved(step.until, told),
    })
    const during = (step: Extract<UsageStep, { kind: 'spike' | 'gap' }>): Span => {
      const from = resolved(step.at, told)
      return { from, until: from + milliseconds(step.for) }
    }
    this.#steadies = of('steady').map((step) => ({
      ...span(step),
      values: { ...step.rates },
      jitter: step.jitter ?? 0,
    }))
    this.#spikes = of('spike').map((step) => ({ ...during(step), times: step.factor, of: step.metrics ?? words.rates }))
    this.#gaps = of('gap').map(during)
    this.#monthEnds = of('month-end').map((step) => ({
      times: step.factor,
      length: lastDays(milliseconds(step.for)),
      of: step.metrics ?? words.rates,
    }))
    this.#latencies = of('latencies').map((step) => ({
      ...span(step),
      of: { ...step.metrics },
      jitter: step.jitter ?? 0,
    }))
    this.#resets = of('counter-reset').map((step) => ({ at: resolved(step.at, told), of: step.metrics ?? words.rates }))
  }

  mentions(name: string): boolean {
    return this.#steadies.some(({ values }) => name in values)
  }

  /** Returns the number of events in each interval. Events after the present time do not count. */
  series(name: string, { from, interval, points }: Grid): number[] {
    const [now, pace] = [this.#options.now(), this.#rate(name)]
    const edges = Array.from({ length: points + 1 }, (_, index) => Math.min(from + index * interval, now))
    const counts = pace.counts(edges)
    // For daily values, count from the start of the day, or from the latest counter reset on this day.
    if (interval !== day || this.#resets.length === 0) return counts
    return counts.map((_, index) => {
      const [start, end] = [edges[index]!, edges[index + 1]!]
      return pace.count(this.#since(name, start, end), end)
    })
  }

  /**
   * Returns the number of events since an instant. If a counter reset came after the instant, counts from the latest
   * reset.
   */
  total(name: string, since: number): number {
    const now = this.#options.now()
    return this.#rate(name).count(this.#since(name, since, now), now)
  }

  /** Returns the number of events since an instant. Counter resets have no effect. */
  count(name: string, since: number): number {
    return this.#rate(name).count(since, this.#options.now())
  }

  /**
   * Returns a level at an instant, such as `pending`. If several steps cover the instant, the last one determines the
   * level.
   */
  level(name: string, at: number): number {
    return this.#told(name, at)?.values[name] ?? 0
  }

  /**
   * Returns a level that changes at a rate: `vectors` changes at the rate `growth`. At the start of a step, the level
   * has the value that the step sets. A step without a start sets the value for the time at which the script was set.
   */
  moved(name: string, by: string, at: number): number {
    const step = this.#told(name, at)
    const reset = this.#since(name, step?.from ?? Number.NEGATIVE_INFINITY, at)
    const wasReset = reset !== (step?.from ?? Number.NEGATIVE_INFINITY)
    const anchor = wasReset ? reset : Number.isFinite(step?.from) ? step!.from : this.told
    const start = wasReset ? 0 : (step?.values[name] ?? 0)
    return Math.max(0, Math.floor(start + this.#rate(by).exact(anchor, at) + 1e-6))
  }

  /**
   * Returns the latency in each interval. Only the time in which the script sets a latency counts. `mean` is the mean.
   * `p99` is the value that is exceeded in 1 % of this time.
   */
  latency(operation: string, figure: 'mean' | 'p99', { from, interval, points }: Grid): number[] {
    const now = this.#options.now()
    const [means, high, told] = [
      this.#latency(operation, 'mean'),
      this.#latency(operation, 'p99'),
      this.#latency(operation, 'told'),
    ]
    return Array.from({ length: points }, (_, index) => {
      const start = from + index * interval
      if (start > now) return 0
      // An interval that begins at the present time has no length yet. Use at least 1 ms, so that it has the present
      // latency.
      const end = Math.min(start + interval, Math.max(now, start + 1))
      const minutes = told.exact(start, end)
      if (minutes === 0) return 0
      const mean = means.amount(start, end)
      if (figure === 'mean') return toMicroseconds(mean / minutes)
      const exact = means.exact(start, end)
      return toMicroseconds(exceeded(high, start, end) * (exact === 0 ? 1 : mean / exact))
    })
  }

  #rate(name: string): RateCurve {
    return this.#pace(name, (at) => {
      const step = this.#told(name, at)
      if (step === undefined) return silence
      const times = this.#bursts
        .filter((burst) => covers(burst, at) && burst.of.includes(name))
        .reduce((product, burst) => product * burst.times, 1)
      return { rate: step.values[name]! * times, jitter: name === 'growth' ? 0 : step.jitter }
    })
  }

  /**
   * Returns a latency as a curve, from which the mean is computed. The curve `told` is 1 while the script sets a
   * latency, and 0 otherwise.
   */
  #latency(operation: string, figure: 'mean' | 'p99' | 'told'): RateCurve {
    return this.#pace(`latency/${operation}/${figure}`, (at) => {
      const step = this.#latencies.findLast((one) => covers(one, at) && one.of[operation] !== undefined)
      if (step === undefined) return silence
      if (figure === 'told') return { rate: 1, jitter: 0 }
      return { rate: figureOf(step.of[operation]!, figure), jitter: figure === 'mean' ? step.jitter : 0 }
    })
  }

  #pace(name: string, stretchAt: (at: number) => RateSegment): RateCurve {
    this.#reach()
    const known = this.#paces.get(name)
    if (known !== undefined) return known
    const inGap = (at: number): boolean => this.#gaps.some((one) => covers(one, at))
    const pace = new RateCurve(
      this.#changes,
      this.told,
      (at) => (inGap(at) ? silence : stretchAt(at)),
      this.#options.random.fork(name),
    )
    this.#paces.set(name, pace)
    return pace
  }

  /**
   * Adds the increases of `usage.monthEnd()` up to the current month. They recur in every later month, so they cannot
   * all be added when the script is set.
   */
  #reach(): void {
    const month = monthOf(this.#options.now())[0]!
    if (month <= this.#knownMonth) return
    if (this.#knownMonth > Number.NEGATIVE_INFINITY && this.#monthEnds.length === 0) return
    this.#knownMonth = month
    this.#bursts = [...this.#spikes, ...this.#monthEnds.flatMap((step) => this.#ends(step))]
    const spans: readonly Span[] = [...this.#steadies, ...this.#bursts, ...this.#gaps, ...this.#latencies]
    const edges = [this.told, ...spans.flatMap(({ from, until }) => [from, until]).filter(Number.isFinite)]
    this.#changes = [...new Set(edges)].sort((a, b) => a - b)
    this.#paces = new Map()
  }

  #ends({ times, length, of }: MonthEnd): Burst[] {
    const ends: Burst[] = []
    let first = monthOf(this.told)[0]!
    for (let count = 0; count < monthsBefore; count++) first = monthOf((first - 1) * day)[0]!
    while (first <= this.#knownMonth) {
      first += monthOf(first * day).length
      ends.push({ from: first * day - length, until: first * day, times, of })
    }
    return ends
  }

  #told(name: string, at: number): Steady | undefined {
    return this.#steadies.findLast((step) => covers(step, at) && step.values[name] !== undefined)
  }

  /**
   * Returns the time of the last counter reset between two instants. Returns the first instant if there is no reset.
   */
  #since(name: string, since: number, until: number): number {
    return this.#resets.reduce((last, { at, of }) => (at > last && at <= until && of.includes(name) ? at : last), since)
  }
}

function covers({ from, until }: Span, at: number): boolean {
  return from <= at && at < until
}

function lastDays(length: number): number {
  if (length <= 28 * day) return length
  throw new RangeError('usage.monthEnd(): "for" must be at most 28 days, the length of the shortest month.')
}

function figureOf(figures: LatencyFigures, figure: 'mean' | 'p99'): number {
  return typeof figures === 'number' ? figures : figures[figure]
}

/** Returns a rate that is exceeded for at most 1 % of the time. Time in which the rate is 0 does not count. */
function exceeded(pace: RateCurve, from: number, until: number): number {
  const levels = [...pace.stretches(from, until)].sort((a, b) => b.rate - a.rate)
  let left = levels.reduce((sum, { rate, length }) => sum + (rate > 0 ? length : 0), 0) / 100
  for (const { rate, length } of levels) {
    if (length >= left) return rate
    left -= length
  }
  return 0
}

/** Rounds milliseconds to three decimals. */
function toMicroseconds(latency: number): number {
  return Math.round(latency * 1000) / 1000
}
