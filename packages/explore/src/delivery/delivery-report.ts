import type { FaultRule } from '../../../../src/faults/fault.js'
import { plural } from '../../../../src/kernel/plural.js'
import type { FailureData } from '../../../../src/report/failure.js'
import { replayLines } from '../../../../src/report/failure-text.js'
import type { ResilienceOptions } from './check-delivery-options.js'
import { differences, effectsOf } from './delivery-effects.js'
import { attemptTable, type DeliveryRun, runDelivery } from './delivery-run.js'
import { type Combination, choiceText, policyOf } from './policy-choices.js'
import { holdingNeighbor, policyLines, type ValueCount } from './policy-report.js'
import { literal, rulesLiteral } from './rule-literal.js'
import { swallowed } from './verified-places.js'

/** A counterexample, and how it was found. */
export interface Counterexample {
  readonly faults: readonly FaultRule[]
  readonly first: readonly FaultRule[]
  readonly combination: Combination
  readonly seed: number
  readonly path: string
  readonly runs: number
  readonly tried: number
  /** How often the property fails with each value of a varied policy. */
  readonly counts: ReadonlyMap<string, readonly ValueCount[]>
}

/** Returns the options with one value for each varied policy. */
export function withPolicy(options: ResilienceOptions, combination: Combination): ResilienceOptions {
  if (Object.keys(combination).length === 0) return options
  const { sandbox = {} } = options
  return { ...options, sandbox: { ...sandbox, policy: { ...sandbox.policy, ...policyOf(combination) } } }
}

interface DeliveryReport {
  readonly failure: FailureData
  readonly message: string
}

/** Reports a counterexample. @param verdict returns why the property does not hold */
export async function report(
  options: ResilienceOptions,
  found: Counterexample,
  verdict: (run: DeliveryRun) => Promise<Error | undefined>,
): Promise<DeliveryReport> {
  const { faults, combination, seed, path } = found
  const run = await runDelivery(withPolicy(options, combination), faults)
  try {
    const broken = await verdict(run)
    const isPlain = broken === undefined || broken.message === 'holds() returned false.'
    const why = isPlain ? swallowed(run.sandbox) : [firstLines(broken.message)]
    const causes = [...policyLines(found.counts), ...why, ...(await changes(options, found, run))]
    const timeline = run.sandbox.traffic.timeline({ limit: 80 })
    const policies = options.policies === undefined ? '' : `policies: ${literal(options.policies)}, `
    const replay = `assertResilient({ …, ${policies}seed: ${seed}, path: '${path}' })`
    const message = [
      headline(found),
      attemptTable(run.sandbox),
      ...causes.map((line) => `  → ${line}`),
      '',
      timeline,
      '',
      ...scenario(found),
      ...replayLines(replay),
    ].join('\n')
    return { failure: { causes, replay, timeline: timeline.split('\n') }, message }
  } finally {
    run.end()
  }
}

function headline({ faults, first, combination, seed, runs, tried }: Counterexample): string {
  const shrunk =
    first.length > faults.length ? `, shrunk from ${plural(first.length, 'fault')} to ${faults.length}` : ''
  const values = Object.entries(combination).map(([name, value]) => `${name} ${choiceText(value)}`)
  const policy = values.length === 0 ? '' : ` with ${values.join(', ')}`
  return faults.length === 0
    ? `Fails without any fault${policy}:`
    : `Fails after ${tried} of ${runs} fault plans${policy} (seed ${seed}${shrunk}):`
}

/**
 * Returns the differences from a run in which the property holds. That run has no faults, or another policy value if
 * the counterexample has no faults.
 */
async function changes(options: ResilienceOptions, found: Counterexample, run: DeliveryRun): Promise<string[]> {
  const { faults, combination, counts } = found
  const neighbor = faults.length === 0 ? holdingNeighbor(counts, combination) : { combination, name: '', value: '' }
  if (neighbor === undefined) return []
  const other = await runDelivery(withPolicy(options, neighbor.combination), [])
  other.end()
  const there = faults.length === 0 ? `with ${neighbor.name} ${choiceText(neighbor.value)}` : 'without faults'
  return differences(effectsOf(run), effectsOf(other), there)
}

function scenario({ faults, combination }: Counterexample): string[] {
  const policy = Object.keys(combination).length === 0 ? undefined : literal(policyOf(combination))
  const lines =
    faults.length === 0
      ? []
      : [
          `As a scenario, for sandbox.faults.add()${policy === undefined ? '' : `, in a sandbox with policy: ${policy}`}:`,
          `defineScenario('found by assertResilient', ${rulesLiteral(faults)})`,
          '',
        ]
  return faults.length === 0 && policy !== undefined ? [`In a sandbox with policy: ${policy}`, ''] : lines
}

/** Returns the first lines of an assertion's message, without its details. */
function firstLines(message: string): string {
  const [line = ''] = message.trim().split('\n\n')
  return line.split('\n').slice(0, 6).join('\n    ')
}
