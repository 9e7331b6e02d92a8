import type { Fault, FaultRule } from '../../../../src/faults/fault.js'
import { faultProblems } from '../../../../src/faults/fault-schema.js'
import type { InjectionPoint } from '../../../../src/faults/points.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { carryFailureOf, type FailureData } from '../../../../src/report/failure.js'
import { failureText } from '../../../../src/report/failure-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import {
  checkPlayOptions,
  type PlayOptions,
  type PlayResult,
  playOptionNames,
  playOptionsOf,
  playScenario,
} from '../../../../src/scenarios/play-scenario.js'
import { checkedScenario } from '../../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { type Coverage, CoverageTracker, withCoverage } from '../delivery/coverage.js'
import { faultName } from '../delivery/fault-names.js'
import { handledOutboundOf } from '../delivery/handled-outbound.js'
import type { InterleavingStep } from './client-run.js'
import { DeliveryGate } from './delivery-gate.js'
import { explorationFailure, reasonOf } from './exploration-text.js'
import { flawIn } from './flaws.js'
import { placesOf } from './interleaving-moments.js'
import { differencesFrom, type Ending, endingOf, type SerialEnding } from './order-endings.js'
import type { ExplorationOutcome } from './outcome.js'

/** Options of `exploreInterleavings()` for a scenario. */
export interface ExploreOptions extends PlayOptions {
  /**
   * Returns whether a property holds in the end state. The function may also throw. The expectations of the scenario
   * are checked too.
   */
  readonly holds?: (sandbox: Sandbox) => unknown
  /** Maximum number of runs. Default 1000. */
  readonly maxRuns?: number
}

/** Options of `exploreFaults()`. */
export interface FaultExplorationOptions extends ExploreOptions {
  /** Faults to inject. Each run injects one of them, once. Default: a lost acknowledgement. */
  readonly fault?: Fault | readonly Fault[]
  /**
   * Injection points at which the faults are injected. Points of workflow runs are possible too. Default
   * `queue.delivery`.
   */
  readonly on?: InjectionPoint | readonly InjectionPoint[]
}

/** The result of an exploration of a scenario. */
export interface Exploration {
  /** Outcomes in the order in which they first occurred. For interleavings, equal outcomes are combined. */
  readonly outcomes: readonly ExplorationOutcome[]
  /** Whether all runs were played. False if `maxRuns` excluded some. */
  readonly complete: boolean
  /** Number of runs. For `exploreFaults()`, it includes the run without a fault. */
  readonly runs: number
  /** Whether all outcomes hold. */
  readonly holds: boolean
  /** Only for `exploreFaults()`: faults that were injected, by state, and faults that were not injected. */
  readonly coverage?: Coverage
  /**
   * Returns a text with one line for each outcome.
   * @example
   * const tried = await exploreInterleavings(scenarios.flappingDestination)
   * console.log(tried.table())
   */
  table(): string
  /**
   * Returns the failing outcomes, with the timeline of the first one; `''` if all hold.
   * @example
   * const tried = await exploreInterleavings(scenarios.flappingDestination)
   * console.log(tried.report())
   */
  report(): string
}

function checkRuns(called: string, { maxRuns }: ExploreOptions): void {
  if (maxRuns === undefined || (Number.isInteger(maxRuns) && maxRuns > 0)) return
  throw new TypeError(`${called}: maxRuns must be a whole number, 1 or more (got ${JSON.stringify(maxRuns)}).`)
}

/**
 * Plays a scenario repeatedly, each time with one additional fault: at the first delivery, at the second, and so on.
 * @throws TypeError when an option, the scenario or a fault is invalid
 * @example
 * const tried = await exploreFaults(scenarios.flappingDestination, { maxRuns: 10 })
 * console.log(tried.table())
 */
export async function exploreFaults(given: Scenario, options: FaultExplorationOptions = {}): Promise<Exploration> {
  checkOptionNames('exploreFaults()', options, {
    ...playOptionNames(),
    holds: true,
    maxRuns: true,
    fault: true,
    on: true,
  })
  checkPlayOptions(options)
  checkRuns('exploreFaults()', options)
  for (const one of [options.fault ?? []].flat()) {
    const [problem] = faultProblems(one)
    if (problem !== undefined) throw new TypeError(`exploreFaults(): fault: ${problem.sentence}`)
  }
  const scenario = checkedScenario(given)
  const { fault = { kind: 'lost-ack' }, on = 'queue.delivery', maxRuns: bound = 1000 } = options
  const outcomes: ExplorationOutcome[] = []
  const places = await placesOf(scenario, [on].flat() as InjectionPoint[], [fault].flat() as Fault[], options)
  const undisturbed = await judged(await play(scenario, options), options)
  outcomes.push({ title: 'no fault', count: 1, ...undisturbed })
  const kinds = [...new Set([fault].flat().map(({ kind }) => kind))]
  const coverage = new CoverageTracker(kinds)
  coverage.note(outcomes[0]!.sandbox)
  let complete = true
  for (const { point, faults, moments } of places) {
    for (const each of faults) {
      for (const [skip, where] of moments.entries()) {
        complete &&= outcomes.length < bound
        if (!complete) break
        // The added rule must be evaluated before the scenario's own rules. If a rule of the scenario injected a fault
        // first, `skip` would count wrong.
        const rule = { on: point, ...(skip > 0 && { skip }), times: 1, fault: each } as FaultRule
        const run = await play({ ...scenario, faults: [rule, ...(scenario.faults ?? [])] }, options)
        coverage.note(run.sandbox)
        const verdict = await judged(run, options)
        outcomes.push({
          title: `${faultName(each, faults)} at ${where}`,
          count: 1,
          rule,
          ...verdict,
          ...(!verdict.holds &&
            undisturbed.holds && { differences: differencesFrom([leftBy(undisturbed)], leftBy(verdict).ending) }),
        })
      }
    }
  }
  const quiet = places.filter(({ moments }) => moments.length === 0).map(({ point }) => point)
  return withCoverage(exploration(outcomes, complete, outcomes.length, quiet), coverage.figure())
}

/**
 * Plays a scenario in every order in which concurrent deliveries can take turns.
 * Each start of a handler, and each of its requests to the sandbox, waits until it is admitted. Equal outcomes are
 * reported once.
 * @example
 * const tried = await exploreInterleavings(twoBuyers, { setup, holds: ({ store }) => store.get('stock') === '0' })
 * expect(tried.holds, tried.table()).toBe(true)
 */
export async function interleaveDeliveries(given: Scenario, options: ExploreOptions = {}): Promise<Exploration> {
  checkOptionNames('exploreInterleavings()', options, { ...playOptionNames(), holds: true, maxRuns: true })
  checkPlayOptions(options)
  checkRuns('exploreInterleavings()', options)
  const scenario = checkedScenario(given)
  const { maxRuns: bound = 1000 } = options
  const endings = new Map<string, Ended>()
  const serial: SerialEnding[] = []
  let runs = 0
  let isComplete = true
  for (let picks: readonly number[] | undefined = []; picks !== undefined && isComplete; ) {
    isComplete = runs < bound
    if (!isComplete) break
    runs++
    const turnstile: DeliveryGate = new DeliveryGate(picks)
    const prepare = async (sandbox: Sandbox): Promise<void> => {
      await options.setup?.(sandbox)
      turnstile.guard(sandbox)
    }
    const run = await play(scenario, { ...options, setup: prepare })
    const verdict = await judged(run, options)
    const found = endingOf({ sandbox: run.sandbox, results: new Map() })
    if (isOneByOne(turnstile.steps))
      serial.push({ clients: namesIn(turnstile.steps), ending: found, holds: verdict.holds })
    const stored = run.sandbox.stores.map((store) => store.dump().keys)
    const ending = JSON.stringify([verdict.holds, verdict.reason, stored])
    const before = endings.get(ending)
    if (before !== undefined) before.times++
    else endings.set(ending, { times: 1, turnstile, verdict, found })
    picks = turnstile.next()
  }
  const right = serial.filter(({ holds }) => holds)
  return exploration(
    [...endings.values()].map((ended) => outcomeOf(ended, right)),
    isComplete,
    runs,
  )
}

/** Returns the effects of a run. They include the requests that reached external hosts. */
function leftBy({ sandbox, holds }: Verdict): SerialEnding {
  return { clients: [], holds, ending: endingOf({ sandbox, results: new Map() }, handledOutboundOf(sandbox)) }
}

interface Ended {
  times: number
  readonly turnstile: DeliveryGate
  readonly verdict: Verdict
  readonly found: Ending
}

function outcomeOf({ times, turnstile, verdict, found }: Ended, right: readonly SerialEnding[]): ExplorationOutcome {
  const { order, steps } = turnstile
  const outcome = { title: order.join(', '), count: times, order, steps, ...verdict }
  if (verdict.holds || right.length === 0) return outcome
  const differences = differencesFrom(right, found)
  return { ...outcome, differences, anomaly: flawIn(steps, new Set(differences.map(({ subject: what }) => what))) }
}

/** Returns whether each delivery sent all its requests before another delivery continued. */
function isOneByOne(steps: readonly InterleavingStep[]): boolean {
  return steps.filter(({ client: who }, at) => who !== steps[at - 1]?.client).length === namesIn(steps).length
}

function namesIn(steps: readonly InterleavingStep[]): readonly string[] {
  return [...new Set(steps.map(({ client: who }) => who))]
}

function play(scenario: Scenario, options: ExploreOptions): Promise<PlayResult> {
  // The added fault can prevent a fault of the scenario. A strict play would then report the scenario's rule as unused.
  return playScenario(scenario, { strict: false, ...playOptionsOf(options) })
}

interface Verdict {
  readonly holds: boolean
  readonly reason: string
  readonly sandbox: Sandbox
}

async function judged(run: PlayResult, { holds }: ExploreOptions): Promise<Verdict> {
  const { sandbox } = run
  const broken = run.checks
    .filter((finding) => !finding.holds)
    .map(({ path: place, expected }) => `${place}: ${expected}`)
  try {
    if (holds !== undefined && (await holds(sandbox)) === false) broken.push('holds() returned false')
  } catch (error) {
    broken.push(((error as Error).message ?? String(error)).trim().split('\n')[0]!)
  }
  return { holds: broken.length === 0, reason: broken.join('; '), sandbox }
}

function exploration(
  outcomes: readonly ExplorationOutcome[],
  complete: boolean,
  runs: number,
  quiet: readonly InjectionPoint[] = [],
): Exploration {
  const broken = outcomes.filter(({ holds }) => !holds).reduce((sum, { count: times }) => sum + times, 0)
  const table = (): string => {
    const rows = outcomes.map((outcome) => [
      outcome.holds ? '✓' : '✗',
      outcome.count > 1 ? `${outcome.count} ×` : '',
      outcome.title || 'no requests at the same time',
      reasonOf(outcome),
    ])
    const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
    const lines = rows.map((row) =>
      row
        .map((cell, column) => (column < 3 ? cell.padEnd(widths[column]!) : cell))
        .join('  ')
        .trimEnd(),
    )
    const cut = complete ? '' : '; more runs were not tried: raise `maxRuns`'
    const nowhere = quiet.length === 0 ? '' : ` No run reached ${quiet.join(', ')}, so no fault was injected there.`
    return `${lines.join('\n')}\n${runs - broken} of ${runs} hold${cut}.${nowhere}`
  }
  const failure = (): FailureData => explorationFailure(outcomes, table())
  const report = (): string => (broken === 0 ? '' : failureText(failure()))
  return carryFailureOf({ outcomes, complete, runs, holds: broken === 0, table, report }, failure)
}
