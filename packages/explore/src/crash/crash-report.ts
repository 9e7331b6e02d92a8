import type { FaultRule } from '../../../../src/faults/fault.js'
import { plural } from '../../../../src/kernel/plural.js'
import type { FailureData } from '../../../../src/report/failure.js'
import { replayLines } from '../../../../src/report/failure-text.js'
import { standardRedaction } from '../../../../src/report/redaction.js'
import type { Coverage } from '../delivery/coverage.js'
import { rulesLiteral } from '../delivery/rule-literal.js'

import type { CrashRun } from './crash-run.js'
import type { Disruption } from './disruption.js'
import type { RunDelivery } from './run-delivery.js'
import type { StepDifference } from './step-differences.js'

/** Result of a check that found no failure. */
export interface CrashSafetyReport {
  /** Number of deliveries of the undisturbed run. */
  readonly deliveries: number
  /** Number of crash plans that were tried. */
  readonly plans: number
  /** Number of crash plans that were not tried because of `maxRuns`. */
  readonly notTried: number
  /**
   * Number of crash plans without a result. A crash plan has no result if it disrupts every attempt of a message, so
   * that no retries are left.
   */
  readonly skipped: number
  /**
   * Disruptions that the check tried, by delivery. A disruption counts as not reached if its crash plan was excluded by
   * `maxRuns` or `only`, or was skipped.
   */
  readonly coverage: Coverage
}

/** A crash plan whose effects differ from those of the undisturbed run. */
export interface CrashFailure {
  /** Name of the crash plan, for the option `only`. */
  readonly id: string
  /** Disruptions of the crash plan. */
  readonly disturbances: readonly Disruption[]
  /** Differences from the effects of the undisturbed run, as phrases. */
  readonly differences: readonly string[]
  /** Number of deliveries in the run with this crash plan. */
  readonly deliveries: number
}

interface Found extends CrashSafetyReport {
  readonly findings: readonly CrashFailure[]
  readonly nondeterminism: readonly StepDifference[]
}

/** Thrown by `assertCrashSafe()` with the smallest failing crash plan. */
export class CrashSafetyError extends Error {
  /** Name of the error class. */
  override readonly name = 'CrashSafetyError'
  /** Crash plans with other effects than the undisturbed run, in the order in which they were tried. */
  declare readonly findings: readonly CrashFailure[]
  /** Non-determinism of the code outside steps: differences between two identical deliveries. */
  declare readonly nondeterminism: readonly StepDifference[]
  /** Number of deliveries of the undisturbed run. */
  declare readonly deliveries: number
  /** Number of crash plans that were tried. */
  declare readonly plans: number
  /** Number of crash plans beyond `maxRuns`. */
  declare readonly notTried: number
  /** Number of crash plans that disrupted every attempt of a message until it had no retries left. */
  declare readonly skipped: number

  /** @internal */
  constructor(message: string, found: Found) {
    super(message)
    // The message already contains the fields. If they were enumerable, test runners would print them again.
    for (const [field, value] of Object.entries(found)) Object.defineProperty(this, field, { value })
    this.stack = `${this.name}: ${message}`
  }
}

/** Returns the deliveries and the timeline of a run. */
export function crashSequence({ deliveries, sandbox }: CrashRun, disturbances: readonly Disruption[]): CrashSequence {
  const { traffic } = sandbox
  const disturbed = deliveries.find(({ ordinal }) => ordinal === disturbances[0]?.delivery)
  return {
    table: deliveryTable(deliveries),
    timeline: (lines) => {
      // `limit` counts entries, and an entry can take several lines. Find the largest limit whose lines fit.
      for (let limit = lines; ; limit--) {
        const shown = traffic.timeline({ limit, ...(disturbed && { around: disturbed.attempt.seq }) }).split('\n')
        if (shown.length <= lines || limit === 1) return shown
      }
    },
  }
}

export interface CrashSequence {
  readonly table: readonly string[]
  /** Returns the timeline around the first disrupted delivery, in at most `lines` lines. */
  readonly timeline: (lines: number) => readonly string[]
  /**
   * Fault rules that make the check fail without a crash plan, and the name of the crash plan that they replace.
   * `undefined` if no such rules were found.
   */
  readonly scenario?: { readonly id: string; readonly rules: readonly FaultRule[] } | undefined
}

export function smallestOf(findings: readonly CrashFailure[]): CrashFailure | undefined {
  return bySize(findings)[0]
}

/** Sorts the failures: fewer disruptions first, then fewer deliveries. */
export function bySize(findings: readonly CrashFailure[]): readonly CrashFailure[] {
  return [...findings].sort((a, b) => a.disturbances.length - b.disturbances.length || a.deliveries - b.deliveries)
}

/**
 * Maximum number of lines of a report. The last lines explain how to replay, so they must stay visible in a terminal.
 */
const maxLines = 40
const leastOfTimeline = 8
const maxRows = 8
const maxDifferences = 4
const maxOthers = 6
const maxStrays = 6

/** Returns a table of the deliveries: the step that each delivery carries, its submissions, and its outcome. */
function deliveryTable(deliveries: readonly RunDelivery[]): string[] {
  const rows = deliveries.slice(0, maxRows).map(({ ordinal, carries, submissions, attempt }) => {
    const { outcome, retried } = attempt
    const answer = outcome === undefined ? 'never ended' : (outcome.error ?? `responded ${outcome.status}`)
    const sent = submissions.map(({ what }) => what).join(', ')
    return [
      `delivery ${ordinal}${retried > 0 ? `, retry ${retried}` : ''}`,
      `${carries}${sent === '' ? '' : ` → ${sent}`}`,
      outcome?.note ?? answer,
    ]
  })
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const lines = rows.map(
    ([which, what, came]) => `  ${which!.padEnd(widths[0]!)}  ${what!.padEnd(widths[1]!)}  ${came}`,
  )
  return [...lines, ...more(deliveries.length - maxRows)]
}

function more(count: number): string[] {
  return count > 0 ? [`  and ${count} more`] : []
}

interface CrashStory {
  readonly failure: FailureData
  readonly message: string
}

/**
 * Returns the message of a failure. It begins with the differences and the other failing crash plans. As many entries
 * of the timeline follow as fit.
 */
export function crashReport(
  { plans: schedules, notTried: untried }: CrashSafetyReport,
  findings: readonly CrashFailure[],
  strays: readonly StepDifference[],
  history: CrashSequence | undefined,
): CrashStory {
  const head: string[] = []
  const tail: string[] = []
  if (strays.length > 0) head.push(...strayLines(strays), '')
  const smallest = smallestOf(findings)
  let timeline: CrashSequence['timeline'] | undefined
  let replay: string | undefined
  if (smallest !== undefined && history !== undefined) {
    const { id, disturbances, differences } = smallest
    head.push(
      `Fails in ${findings.length} of ${plural(schedules, 'crash plan')}. The smallest one:`,
      ...disturbances.map(({ description: told }) => `  ${told}`),
      ...history.table,
      ...differences.slice(0, maxDifferences).map((line) => `  → ${standardRedaction.text(line)}`),
      ...more(differences.length - maxDifferences),
      '',
      ...otherLines(findings.filter((finding) => finding !== smallest)),
    )
    replay = `assertCrashSafe(workflow, { only: ['${id}'] })`
    tail.push('', ...scenarioLines(id, history.scenario), '', ...replayLines(replay), '')
    timeline = history.timeline
  }
  if (untried > 0) tail.push(`Not tried: ${plural(untried, 'crash plan')}. Raise \`maxRuns\`.`, '')
  const left = maxLines - linesOf(head) - linesOf(tail)
  const shown = timeline?.(Math.max(leastOfTimeline, left)) ?? []
  return {
    failure: {
      causes: (smallest?.differences ?? []).map((line) => standardRedaction.text(line)),
      timeline: shown,
      ...(replay !== undefined && { replay }),
    },
    message: [...head, ...shown, ...tail].join('\n').trimEnd(),
  }
}

function linesOf(parts: readonly string[]): number {
  return parts.join('\n').split('\n').length
}

function strayLines(strays: readonly StepDifference[]): string[] {
  return [
    'Code outside steps differs when the same delivery is repeated:',
    ...strays
      .slice(0, maxStrays)
      .map(({ step, field, first, again }) =>
        standardRedaction.text(`  ${step}: ${field} was ${first}, and ${again} when repeated`),
      ),
    ...more(strays.length - maxStrays),
    'Move code that uses time, randomness or changing data into context.run().',
  ]
}

function scenarioLines(id: string, scenario: CrashSequence['scenario']): string[] {
  if (scenario === undefined) return ['No fault rule reproduces this failure. Replay the crash plan by its name.']
  const which = scenario.id === id ? '' : ` (${scenario.id}, which fails too)`
  const literal = rulesLiteral(scenario.rules)
  return [`As a scenario, for sandbox.faults.add()${which}:`, `defineScenario('found by assertCrashSafe', ${literal})`]
}

function otherLines(others: readonly CrashFailure[]): string[] {
  if (others.length === 0) return []
  const shown = others
    .slice(0, maxOthers)
    .flatMap(({ id, differences }) => [
      `  ${id}: ${standardRedaction.text(differences[0] ?? '')}${differences.length > 1 ? ` and ${differences.length - 1} more` : ''}`,
    ])
  return ['Other crash plans that fail:', ...shown, ...more(others.length - maxOthers), '']
}
