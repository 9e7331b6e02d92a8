import { plural } from '../../../../src/kernel/plural.js'
import { carryFailureOf, type FailureData } from '../../../../src/report/failure.js'
import { failureText } from '../../../../src/report/failure-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { InterleavingStep, OrderRun } from './client-run.js'
import type { Exploration } from './exploration.js'
import { type Anomaly, type AnomalyName, flawIn, hintsFor } from './flaws.js'
import { differencesFrom, endingOf, type SerialDifference, type SerialEnding } from './order-endings.js'
import { anomalyWords, differenceText, flawText, namesList, stepRows } from './order-text.js'
import type { OrderTree } from './order-tree.js'
import type { ExplorationOutcome } from './outcome.js'

/** An outcome that one or more of the tried orders have. */
export interface InterleavingOutcome extends ExplorationOutcome {
  /** Requests and responses of one order with this outcome, the one that is easiest to follow. */
  readonly steps: readonly InterleavingStep[]
  /** The order of `steps`, for the option `replay`: `alice bob alice bob`. */
  readonly replay: string
  /** The anomaly of the order, if there is one. */
  readonly anomaly?: Anomaly
  /** Differences from the serial orders. */
  readonly differences: readonly SerialDifference[]
}

/** Result of the orders that were tried. */
export interface InterleavingExploration extends Exploration {
  /** Different outcomes of the tried orders, in the order in which they first occurred. */
  readonly outcomes: readonly InterleavingOutcome[]
  /** Outcomes that do not hold. */
  readonly failures: readonly InterleavingOutcome[]
  /** Estimated number of all orders. The number is exact if all orders were tried. */
  readonly estimatedTotal: number
  /** Orders that were not tried, as text, or `''` if all orders were tried. */
  readonly notTried: string
  /**
   * Returns the failure as text with its timeline; `''` if all orders hold.
   * @example
   * const tried = await exploreInterleavings({
   *   setup: ({ store }) => void store.run('SET', 'stock', 2),
   *   clients: { alice: buyOne, bob: buyOne },
   * })
   * console.log(tried.report())
   */
  report(): string
}

interface Progress {
  readonly complete: boolean
  readonly isReplay?: boolean
  /** Whether the search stopped at the first failure. */
  readonly isEarly?: boolean
  readonly tree?: OrderTree
  readonly runs?: number
}

interface GroupedOutcome {
  readonly run: OrderRun
  readonly complaint: string | undefined
  times: number
}

/** Counts the tried orders by their outcome. */
export class TriedInterleavings {
  readonly #clients: readonly string[]
  readonly #serial: readonly SerialEnding[]
  readonly #seen = new Set<string>()
  readonly #endings = new Map<string, GroupedOutcome>()
  #expected: ReadonlySet<string> | undefined
  #requests: ReadonlyMap<string, number> = new Map()

  constructor(clients: readonly string[], serial: readonly SerialEnding[]) {
    this.#clients = clients
    this.#serial = serial
  }

  get size(): number {
    return this.#seen.size
  }

  get hasFailed(): boolean {
    return [...this.#endings.values()].some(({ complaint }) => complaint !== undefined)
  }

  has({ order }: OrderRun): boolean {
    return this.#seen.has(order.join(' '))
  }

  forget(): void {
    this.#seen.clear()
    this.#endings.clear()
  }

  /**
   * Counts an order.
   * @param said reason why the order fails, from an error or from `holds`
   * @param isClaimed whether `holds` decides. If false, a serial order must have the same outcome
   */
  add(run: OrderRun, said: string | undefined, isClaimed: boolean): void {
    this.#seen.add(run.order.join(' '))
    const requests = new Map<string, number>()
    for (const { client: who } of run.steps) requests.set(who, (requests.get(who) ?? 0) + 1)
    this.#requests = requests
    const ending = endingText(run)
    const complaint = this.complaintOf(run, said, isClaimed)
    const id = `${complaint ?? ''}\n${ending}`
    const kept = this.#endings.get(id)
    if (kept === undefined) this.#endings.set(id, { run, complaint, times: 1 })
    else {
      const isSimpler = simplicity(run) < simplicity(kept.run)
      this.#endings.set(id, { complaint, times: kept.times + 1, run: isSimpler ? run : kept.run })
    }
  }

  /** Returns why an order does not hold, or `undefined` if it holds. `add()` describes the parameters. */
  complaintOf(run: OrderRun, said: string | undefined, isClaimed: boolean): string | undefined {
    this.#expected ??= new Set(this.#serial.map(({ ending }) => textOf(ending)))
    const isSerial = isClaimed || this.#expected.has(endingText(run))
    return said ?? (isSerial ? undefined : 'no serial order of the clients has this outcome')
  }

  tried(progress: Progress): InterleavingExploration {
    const outcomes = [...this.#endings.values()].map((kept) => this.#outcome(kept))
    const failures = outcomes.filter(({ holds }) => !holds).sort((a, b) => a.steps.length - b.steps.length)
    const { complete } = progress
    const all = ordersOf([...this.#requests.values()])
    const about = complete ? this.size : this.#about(progress, all)
    const untried = complete ? '' : this.#untried(progress)
    const holds = failures.length === 0
    const summary = (): string => this.#summary({ failures, complete, about, all, untried }, progress)
    const table = (): string => `${outcomes.map(row).join('\n')}\n${summary()}`
    const failure = (): FailureData => ordersFailure(failures, summary())
    const report = (): string => (holds ? '' : failureText(failure()))
    const tried = {
      outcomes,
      failures,
      complete,
      runs: this.size,
      estimatedTotal: about,
      notTried: untried,
      holds,
      table,
      report,
    }
    return carryFailureOf(tried, failure)
  }

  #outcome({ run, complaint, times }: GroupedOutcome): InterleavingOutcome {
    const { sandbox, steps, order } = run
    const replay = order.join(' ')
    const base = {
      title: replay,
      count: times,
      holds: complaint === undefined,
      reason: complaint ?? '',
      sandbox,
      order,
      steps,
      replay,
    }
    if (complaint === undefined) return { ...base, differences: [] }
    const right = this.#serial.filter(({ holds }) => holds)
    const differences = differencesFrom(right, endingOf(run))
    if (right.length === 0 || run.error !== undefined)
      return { ...base, differences, anomaly: noFlaw(run.error !== undefined) }
    return { ...base, differences, anomaly: flawIn(steps, new Set(differences.map(({ subject: what }) => what))) }
  }

  /**
   * Returns the total number of orders. The number is exact if no orders are skipped, otherwise an estimate from the
   * tree.
   */
  #about({ tree, runs = 0 }: Progress, all: number): number {
    const promised = tree === undefined || tree.share <= 0 || runs < 3 ? all : runs / tree.share
    return Math.max(this.size + 1, rounded(Math.min(all, promised)))
  }

  #untried({ tree }: Progress): string {
    const left = tree?.left() ?? []
    if (left.length === 0) return 'all others'
    return left
      .slice(0, 2)
      .map(({ after, next }) =>
        after.length === 0
          ? `orders that begin with ${namesList(next, 'or')}`
          : `orders that begin with ${after.join(' ')} and continue with ${namesList(next, 'or')}`,
      )
      .concat(left.length > 2 ? ['and others'] : [])
      .join('; ')
  }

  #summary(found: Found, { isReplay, isEarly, tree }: Progress): string {
    const { failures, complete, about, all, untried } = found
    const failed = failures.reduce((sum, { count: times }) => sum + times, 0)
    const who = namesList(this.#clients)
    const size = number(this.size)
    if (isReplay) return `This order of ${who} ${failed > 0 ? 'does not hold' : 'holds'}.`
    const verdict = failed > 0 ? `${failed} of ${size} orders of ${who} fail.` : `${size} orders of ${who} hold.`
    if (isEarly) return `${verdict} The search stopped at the first failure. There are about ${number(about)} orders.`
    if (!complete) return `${verdict} Tried ${size} of about ${number(about)} orders; not tried: ${untried}.`
    if (!tree?.reduces || all <= this.size) return `${verdict} All orders were tried.`
    return `${verdict} They represent all ${number(all)} orders, because the other orders only swap requests that do not affect each other.`
  }
}

function number(given: number): string {
  return given.toLocaleString('en-US')
}

interface Found {
  readonly failures: readonly InterleavingOutcome[]
  readonly complete: boolean
  readonly about: number
  readonly all: number
  readonly untried: string
}

/** Returns the value of `anomaly` for a failure in which no anomaly between clients was found. */
function noFlaw(isBroken: boolean): Anomaly {
  const sentence = isBroken ? 'The order was not played to its end.' : 'The serial orders of the clients fail too.'
  return { name: 'none', steps: [], keys: [], sentence }
}

function endingText(run: OrderRun): string {
  return textOf(endingOf(run))
}

function textOf(ending: ReadonlyMap<string, string>): string {
  return JSON.stringify([...ending].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns a rank by which the order that is easiest to follow comes first: few switches between clients, then few
 * requests.
 */
function simplicity({ order }: OrderRun): number {
  return order.filter((who, at) => who !== order[at - 1]).length * 1000 + order.length
}

/** Returns how many orders of the requests are possible. @param turns number of requests of each client */
function ordersOf(turns: readonly number[]): number {
  let count = 1
  let place = 0
  for (const each of turns) for (let turn = 1; turn <= each; turn++) count = (count * ++place) / turn
  return Math.round(count)
}

/** Rounds to two significant digits. */
function rounded(given: number): number {
  let unit = 1
  while (given / unit >= 100) unit *= 10
  return Math.round(given / unit) * unit
}

function row({ holds, count: times, anomaly: flaw, replay, differences, reason: why }: InterleavingOutcome): string {
  const named = flaw === undefined || flaw.name === 'none' ? '' : `${anomalyWords(flaw)}: `
  const told = differences.slice(0, 2).map(differenceText).join(', ')
  return [holds ? '✓' : '✗', `${times} ×`, `${named}${replay}`, told || why].filter(Boolean).join('  ').trimEnd()
}

const maxDifferences = 2

/** Returns the data of a failure: at most thirteen lines of text, and the timeline. */
function ordersFailure(failures: readonly InterleavingOutcome[], summary: string): FailureData {
  const [first, ...others] = failures
  const { anomaly: flaw = noFlaw(false), steps, differences, reason: why, replay, sandbox } = first!
  const shown = differences.slice(0, maxDifferences).map((one) => {
    const { serial } = one
    return `  ${differenceText(one)} (${serial.join(', then ')})`
  })
  const left = differences.length - shown.length
  const names = new Map<AnomalyName, number>()
  for (const { anomaly: flaw, count: times } of others) names.set(flaw!.name, (names.get(flaw!.name) ?? 0) + times)
  const named = [...names]
    .filter(([name]) => name !== 'none')
    .map(([name, times]) => `${anomalyWords({ name })} ${times} ×`)
  return {
    received: [
      `${flawText(flaw)}: ${summary}`,
      ...stepRows(steps, flaw),
      flaw.sentence,
      ...shown,
      ...(left > 0 ? [`  and ${plural(left, 'more difference')}`] : []),
      ...(shown.length === 0 || why.startsWith('no serial order') ? [] : [`  ${why}`]).slice(0, left > 0 ? 0 : 1),
      ...(shown.length === 0 ? [`  ${why}`] : []),
      ...(named.length > 0 ? [`Other orders: ${named.join(', ')}.`] : []),
    ],
    hints: hintsFor(flaw),
    replay: `exploreInterleavings({ …, replay: '${replay}' })`,
    timeline: (sandbox as Sandbox).traffic.timeline({ limit: 60 }).split('\n'),
  }
}
