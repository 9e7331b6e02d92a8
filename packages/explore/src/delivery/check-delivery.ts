import fc from 'fast-check'
import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { checkOptionNames, didYouMean } from '../../../../src/kernel/nearest-name.js'
import type { ResolvedPolicy } from '../../../../src/policy/policy.js'
import { carryFailure } from '../../../../src/report/failure.js'
import { ruleProblems } from '../../../../src/rules/rule-schema.js'
import { blockCount, blockLength } from '../campaign/blocks.js'
import { campaignUnderWay } from '../campaign/under-way.js'
import type { ResilienceOptions } from './check-delivery-options.js'
import { type Coverage, withCoverage } from './coverage.js'
import { type Counterexample, report } from './delivery-report.js'
import { checkHandler, inEnvironment } from './delivery-run.js'
import { deliverySpace, oneByOne } from './delivery-space.js'
import { drawBlock, pathFrom } from './drawn-block-arbitraries.js'
import { DrawnSchedules } from './drawn-schedules-arbitraries.js'
import { deliveryFaults } from './fault-arbitraries.js'
import { type Combination, checkChoices, combinationsOf, policyOf } from './policy-choices.js'
import { countByValue, schedulesPerValue } from './policy-report.js'
import { judged, type RunTally, verdict } from './run-verdict.js'
import type { Verified } from './verified-places.js'

/** Result of a check that found no failure. */
export interface ResilienceReport {
  /**
   * Number of random fault plans that were tried. Not included: plans with one fault of an outbound request, and plans
   * with a wrong signature.
   */
  readonly runs: number
  /** Number of fault plans without a result. A plan has no result if its faults hit every attempt of a message. */
  readonly skipped: number
  /** Which faults were injected, with their state and injection point, and which faults were never injected. */
  readonly coverage: Coverage
}

/** Thrown by `assertResilient()`. Contains the smallest failing fault plan. */
export class ResilienceError extends Error {
  /** Name of the error class. */
  override readonly name = 'ResilienceError'
  /** Fault rules of the smallest failing fault plan. */
  declare readonly faults: readonly FaultRule[]
  /** Policy values of the failing run, if the check varies policies. */
  declare readonly policy: Partial<ResolvedPolicy>
  /** Seed of the failing run, for the option `seed`. */
  declare readonly seed: number
  /** Path of the failing run, for the option `path`: `4:2:1`. */
  declare readonly path: string

  /** @internal */
  constructor(
    message: string,
    found: {
      readonly faults: readonly FaultRule[]
      readonly policy: Partial<ResolvedPolicy>
      readonly seed: number
      readonly path: string
    },
  ) {
    super(message)
    const { faults, policy, seed, path } = found
    // The message already contains the fields. If they were enumerable, test runners would print them again.
    for (const [field, value] of Object.entries({ faults, policy, seed, path }))
      Object.defineProperty(this, field, { value })
    // The stack trace would show only code of this package, so it is replaced by the message.
    this.stack = `${this.name}: ${message}`
  }
}

/**
 * Runs a publisher and a handler under generated faults, each time in a new sandbox, and checks a property at the end.
 * A failing fault plan is shrunk to the smallest one and reported as a timeline and as a scenario to paste.
 * @example
 * await assertResilient({
 *   publish: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } }),
 *   handler: ordersRoute,
 *   holds: ({ store }) => store.get('charged:42') === '1',
 * })
 * @throws ResilienceError with the counterexample
 */
export async function assertResilient(options: ResilienceOptions): Promise<ResilienceReport> {
  checkOptions(options)
  const campaign = campaignUnderWay()
  if (campaign === undefined) return inEnvironment(options, () => check(options))
  const { path: _, ...given } = { ...options, ...campaign.given }
  return campaign.explore(deliverySpace(given, (path) => inEnvironment(given, () => check({ ...given, path }))))
}

async function check(options: ResilienceOptions): Promise<ResilienceReport> {
  const { faults = deliveryFaults(), runs = 100, path } = options
  const tally: RunTally = { schedules: new DrawnSchedules(options, faults), runs: 0, skipped: 0, delivered: false }
  // Random plans have the numbers below `runs`. The other plans are numbered after them.
  const later = path === undefined ? undefined : Number(path) - runs
  const isDrawn = later === undefined || !(later >= 0)
  const drawn = isDrawn ? await draw(options, tally) : undefined
  if (drawn !== undefined) throw drawn
  if (isDrawn && !tally.delivered)
    throw new TypeError('assertResilient(): nothing was published. Publish a message in `publish`.')
  const isMore = options.faults === undefined && !(isDrawn && path !== undefined)
  const broken = isMore ? await tryOneByOne(options, tally, later) : undefined
  if (broken !== undefined) throw broken
  return withCoverage({ runs: tally.runs, skipped: tally.skipped }, tally.schedules.coverage.figure())
}

/** Draws random fault plans until the property fails with one of them. */
async function draw(options: ResilienceOptions, tally: RunTally): Promise<ResilienceError | undefined> {
  const { faults = deliveryFaults(), runs = 100, seed = 1, path, policies = {} } = options
  const only = path === undefined ? undefined : Math.floor(Number.parseInt(path, 10) / blockLength)
  for (let block = only ?? 0; block < (only === undefined ? blockCount(runs) : only + 1); block++) {
    let first: readonly FaultRule[] | undefined
    const found = await drawBlock(options, tally, block, async (rules, combination) => {
      const broken = await judged(options, rules, combination, tally)
      if (broken === undefined) tally.skipped++
      if (!broken) return
      first ??= rules
      throw broken
    })
    tally.runs += found.numRuns
    if (!found.failed) continue
    const [rules, combination] = found.counterexample ?? [[], {}]
    const sample = fc.sample(faults, { seed, numRuns: schedulesPerValue - 1 })
    const counts = await countByValue(policies, combination, [rules, ...sample], async (each, one) => {
      const broken = await judged(options, each, one, tally)
      return broken === undefined ? undefined : broken !== null
    })
    const place = { faults: rules, seed, path: pathFrom(found.counterexamplePath ?? '0', block * blockLength) }
    const tried = Number.parseInt(place.path, 10) + 1
    return brokenBy(options, { ...place, first: first ?? rules, combination, counts, runs, tried })
  }
  return undefined
}

/** Tries the fault plans that are not random. @param only index of the only plan to try, or `undefined` for all */
async function tryOneByOne(
  options: ResilienceOptions,
  tally: RunTally,
  only: number | undefined,
): Promise<ResilienceError | undefined> {
  const { runs = 100, seed = 1, policies = {} } = options
  const [combination] = combinationsOf(policies) as readonly [Combination]
  const { schedules, verified } = await oneByOne(options)
  for (const [index, faults] of schedules.entries()) {
    if (only !== undefined && only !== index) continue
    if (!(await judged(options, faults, combination, tally, verified))) continue
    const found = { faults, first: faults, combination, counts: new Map(), seed, path: String(runs + index) }
    return brokenBy(options, { ...found, runs: runs + schedules.length, tried: runs + index + 1 }, verified)
  }
  return undefined
}

async function brokenBy(
  options: ResilienceOptions,
  found: Counterexample,
  verified?: Verified,
): Promise<ResilienceError> {
  const { faults, combination, seed, path } = found
  const { message, failure } = await report(options, found, (run) => verdict(run, options, verified))
  return carryFailure(new ResilienceError(message, { faults, policy: policyOf(combination), seed, path }), failure)
}

const guidances: readonly string[] = ['coverage', 'none']

function checkOptions(options: ResilienceOptions): void {
  checkOptionNames('assertResilient()', options, {
    faults: true,
    holds: true,
    examples: true,
    runs: true,
    seed: true,
    path: true,
    guidance: true,
    stateOf: true,
    policies: true,
    includeExhausted: true,
    publish: true,
    handler: true,
    outbound: true,
    sandbox: true,
    drain: true,
  })
  checkFixture(options.sandbox)
  for (const name of ['publish', 'holds'] as const) {
    if (typeof options?.[name] === 'function') continue
    throw new TypeError(
      `assertResilient(): ${name} must be a function of the sandbox. Write assertResilient({ publish, handler, holds }).`,
    )
  }
  const { faults } = options
  if (faults !== undefined && typeof faults?.generate !== 'function') {
    throw new TypeError(
      'assertResilient(): faults must be a fast-check arbitrary that generates fault rules. Write, for example, arb.deliveryFaults({ maxRules: 2 }).',
    )
  }
  const { guidance } = options
  if (guidance !== undefined && !guidances.includes(guidance)) {
    throw new TypeError(
      `assertResilient(): guidance must be 'coverage' or 'none' (got ${JSON.stringify(guidance)}).${didYouMean(guidance, guidances)}`,
    )
  }
  checkHandler(options.handler, 'assertResilient()')
  const { runs = 1, seed = 1, path = '0', examples = [], policies } = options
  if (!Number.isInteger(runs) || runs < 1)
    throw new TypeError(`assertResilient(): runs must be a whole number, 1 or more (got ${JSON.stringify(runs)}).`)
  if (!Number.isInteger(seed))
    throw new TypeError(`assertResilient(): seed must be a whole number (got ${JSON.stringify(seed)}).`)
  if (!/^\d+(?::\d+)*$/.test(path))
    throw new TypeError(
      `assertResilient(): path must be a path that a report prints, such as '4:2:1' (got ${JSON.stringify(path)}).`,
    )
  if (policies !== undefined) checkChoices(policies, options.sandbox?.policy)
  examples.forEach((rules, index) => {
    const [problem] = rules.flatMap(ruleProblems)
    if (problem !== undefined) throw new TypeError(`assertResilient(): examples[${index}]: ${problem.sentence}`)
  })
}
