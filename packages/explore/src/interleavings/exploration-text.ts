import type { FailureData } from '../../../../src/report/failure.js'
import { literal } from '../delivery/rule-literal.js'
import { hintsFor } from './flaws.js'
import { anomalyWords, differenceText, flawText, stepRows } from './order-text.js'
import type { ExplorationOutcome } from './outcome.js'

// Texts about failures that an exploration found.

/** Returns why an outcome does not hold: first the anomaly with the differing values, then the failed expectation. */
export function reasonOf({ reason: why, anomaly: flaw, differences = [] }: ExplorationOutcome): string {
  const told = differences.slice(0, 2).map(differenceText).join(', ')
  return [flaw === undefined ? told : `${anomalyWords(flaw)}: ${told}`, why].filter(Boolean).join('; ')
}

const maxRows = 8

/**
 * Returns the data for the failure message of an exploration.
 * @param table the outcomes, one in each line, and a last line that counts them
 */
export function explorationFailure(outcomes: readonly ExplorationOutcome[], table: string): FailureData {
  const lines = table.split('\n')
  const failing = lines.filter((line) => line.startsWith('✗'))
  const first = outcomes.find(({ holds }) => !holds)!
  const { anomaly: flaw, steps, differences = [], rule, sandbox } = first
  const story =
    flaw === undefined || steps === undefined
      ? failing.slice(0, maxRows)
      : [...stepRows(steps, flaw), flaw.sentence, ...differences.slice(0, 2).map((one) => `  ${differenceText(one)}`)]
  const told = flaw === undefined ? maxRows : 1
  return {
    received: [
      ...(flaw === undefined ? [] : [`${flawText(flaw)}: ${first.reason}`]),
      ...story,
      ...(failing.length > told ? [`… and ${failing.length - told} more that fail`] : []),
      lines.at(-1)!,
    ],
    ...(flaw !== undefined && { hints: hintsFor(flaw) }),
    ...(rule !== undefined && { replay: `sandbox.faults.add(${literal(rule)})` }),
    timeline: sandbox.traffic.timeline({ limit: 60 }).split('\n'),
  }
}
