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

/** What a check that found nothing has done. */
export interface CrashSafetyReport {
  /** Deliveries of the run that nothing disturbed. */
  readonly deliveries: number
  /** Schedules that were tried. */
  readonly plans: number
  /** Schedules beyond the bound. */
  readonly notTried: number
  /** Schedules that left a message nothing but crashes until it was given up. */
  readonly skipped: number
  /** What went wrong at which delivery, and what never did: beyond the bound, left out by `only`, or skipped. */
  readonly coverage: Coverage
}

/** A schedule that left something else behind. */
export interface CrashFailure {
  /** Its name, for `only`. */
  readonly id: string
  readonly disturbances: readonly Disruption[]
  /** What is different, as sentence parts. */
  readonly differences: readonly string[]
  /** How many deliveries its history has. */
  readonly deliveries: number
}

interface Found extends CrashSafetyReport {
  readonly findings: readonly CrashFailure[]
  readonly nondeterminism: readonly StepDifference[]
}

/** What assertCrashSafe() found. */
export class CrashSafetyError extends Error {
  override readonly name = 'CrashSafetyError'
  declare readonly findings: readonly CrashFailure[]
  /** What code outside steps did otherwise when a delivery came again. */
  declare readonly nondeterminism: readonly StepDifference[]
  declare readonly deliveries: number
  declare readonly plans: number
  declare readonly notTried: number
  declare readonly skipped: number

  /** @internal */
  constructor(message: string, found: Found) {
    super(message)
    // Not enumerable: runners print the fields of an error, and the message has them already.
    for (const [field, value] of Object.entries(found)) Object.defineProperty(this, field, { value })
    this.stack = `${this.name}: ${message}`
  }
}

/** Its deliveries and its timeline. */
export function crashSequence({ deliveries, sandbox }: CrashRun, disturbances: readonly Disruption[]): CrashSequence {
  const { traffic } = sandbox
  const disturbed = deliveries.find(({ ordinal }) => ordinal === disturbances[0]?.delivery)
  return {
    table: deliveryTable(deliveries),
    timeline: (lines) => {
      // An entry has one line or more: the most entries whose lines fit.
      for (let limit = lines; ; limit--) {
        const shown = traffic.timeline({ limit, ...(disturbed && { around: disturbed.attempt.seq }) }).split('\n')
        if (shown.length <= lines || limit === 1) return shown
      }
    },
  }
}

export interface CrashSequence {
  readonly table: readonly string[]
  /** At most so many lines of the timeline, with the delivery that is disturbed first. */
  readonly timeline: (lines: number) => readonly string[]
  /** Fault rules that have an effect too, and the schedule that they stand for; `undefined` where none have. */
  readonly scenario?: { readonly id: string; readonly rules: readonly FaultRule[] } | undefined
}

/** The finding that is told first. */
export function smallestOf(findings: readonly CrashFailure[]): CrashFailure | undefined {
  return bySize(findings)[0]
}

/** With the fewest things that go wrong, then with the fewest deliveries. */
export function bySize(findings: readonly CrashFailure[]): readonly CrashFailure[] {
  return [...findings].sort((a, b) => a.disturbances.length - b.disturbances.length || a.deliveries - b.deliveries)
}

/** Lines of a report that can be read at a glance. Its last lines say how to replay, and are not to scroll away. */
const maxLines = 40
const leastOfTimeline = 8
const maxRows = 8
const maxDifferences = 4
const maxOthers = 6
const maxStrays = 6

/** The deliveries as a table: what each carries, what it submits, and what came of it. */
function deliveryTable(deliveries: readonly RunDelivery[]): string[] {
  const rows = deliveries.slice(0, maxRows).map(({ ordinal, carries, submissions, attempt }) => {
    const { outcome, retried } = attempt
    const answer = outcome === undefined ? 'never ended' : (outcome.error ?? `answered ${outcome.status}`)
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

/** A failure, and its message. */
interface CrashStory {
  readonly failure: FailureData
  readonly message: string
}

/** What differs and what else fails come first, then the history as far as there is room. */
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
      `Fails in ${findings.length} of ${plural(schedules, 'schedule')}. The smallest history:`,
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
  if (untried > 0) tail.push(`${plural(untried, 'schedule')} were not tried: raise \`maxRuns\`.`, '')
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

/** A part may be several lines. */
function linesOf(parts: readonly string[]): number {
  return parts.join('\n').split('\n').length
}

function strayLines(strays: readonly StepDifference[]): string[] {
  return [
    'Code outside steps does not do the same when the same delivery comes again:',
    ...strays
      .slice(0, maxStrays)
      .map(({ step, field, first, again }) =>
        standardRedaction.text(`  ${step}: ${field} was ${first}, again ${again}`),
      ),
    ...more(strays.length - maxStrays),
    'Move what uses time, chance or what others change into context.run().',
  ]
}

function scenarioLines(id: string, scenario: CrashSequence['scenario']): string[] {
  if (scenario === undefined) return ['No fault rule does the same: replay it by its name.']
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
  return ['It also fails:', ...shown, ...more(others.length - maxOthers), '']
}
