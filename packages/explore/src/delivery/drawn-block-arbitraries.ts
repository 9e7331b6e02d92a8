import fc from 'fast-check'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { blockLength, runsOf } from '../campaign/blocks.js'
import type { ResilienceOptions } from './check-delivery-options.js'
import { seedOfBlock } from './coverage-guide.js'
import { type Combination, combinationsOf, type PolicyChoices } from './policy-choices.js'
import { judged, type RunTally } from './run-verdict.js'

/** Tries the fault plans of a block in order. If the options contain a path, tries only that plan. */
export async function drawBlock(
  options: ResilienceOptions,
  tally: RunTally,
  block: number,
  attempt: (rules: readonly FaultRule[], combination: Combination) => Promise<void>,
): Promise<fc.RunDetails<Schedule>> {
  const { examples = [], runs = 100, seed = 1, path, policies = {} } = options
  const combinations = combinationsOf(policies)
  const tried = [
    ...examples.flatMap((rules) => combinations.map((one): Schedule => [rules, one])),
    ...(combinations.length > 1 ? combinations.map((one): Schedule => [[], one]) : []),
  ]
  const { schedules } = tally
  const { from, to } = runsOf(block, runs)
  const given = tried.slice(from, from + blockLength)
  const drawn = combinationArbitrary(policies)
  schedules.begin(block)
  if (path !== undefined) {
    const nth = Number.parseInt(path, 10) - from - given.length
    await schedules.comeTo(block, nth, drawn, (rules, one) => judged(options, rules, one, tally))
  }
  return fc.check(fc.asyncProperty(schedules.arbitrary, drawn, attempt), {
    numRuns: path === undefined ? to - from : 1,
    seed: seedOfBlock(seed, block),
    examples: given,
    ...(path !== undefined && { path: pathFrom(path, -from) }),
  })
}

/** Adds `runs` to the run number with which a path begins. */
export function pathFrom(path: string, runs: number): string {
  const [run = '0', ...steps] = path.split(':')
  return [Number(run) + runs, ...steps].join(':')
}

type Schedule = [rules: readonly FaultRule[], combination: Combination]

/** Draws one value of each policy. Shrinks to the first value of each policy. */
function combinationArbitrary(policies: PolicyChoices): fc.Arbitrary<Combination> {
  const values = Object.entries(policies) as [string, readonly unknown[]][]
  if (values.length === 0) return fc.constant({})
  return fc.record(Object.fromEntries(values.map(([name, list]) => [name, fc.constantFrom(...list)])))
}
