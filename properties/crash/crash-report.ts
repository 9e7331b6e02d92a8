import type { FaultRule } from '../../src/faults/fault.js'
import { counted } from '../../src/kernel/counted.js'
import { standardRedaction } from '../../src/report/redaction.js'
import { rulesLiteral } from '../delivery/rule-literal.js'
import type { CrashPointCheck } from './crash-points.js'
import type { CrashRun } from './crash-run.js'
import type { Disturbance } from './disturbance.js'
import type { RunDelivery } from './run-delivery.js'
import type { StepDifference } from './step-differences.js'

/** A schedule that left something else behind. */
export interface CrashFinding {
  /** Its name, for `only`. */
  readonly id: string
  readonly disturbances: readonly Disturbance[]
  /** What is different, as sentence parts. */
  readonly differences: readonly string[]
  /** How many deliveries its history has. */
  readonly deliveries: number
}

interface Found extends CrashPointCheck {
  readonly findings: readonly CrashFinding[]
  readonly strays: readonly StepDifference[]
}

/** What everyCrashPoint() found. */
export class CrashPointBroken extends Error {
  override readonly name = 'CrashPointBroken'
  declare readonly findings: readonly CrashFinding[]
  /** What code outside steps did otherwise when a delivery came again. */
  declare readonly strays: readonly StepDifference[]
  declare readonly deliveries: number
  declare readonly schedules: number
  declare readonly untried: number
  declare readonly skipped: number

  constructor(message: string, found: Found) {
    super(message)
    // Not enumerable: runners print the fields of an error, and the message has them already.
    for (const [field, value] of Object.entries(found)) Object.defineProperty(this, field, { value })
    this.stack = `${this.name}: ${message}`
  }
}

/** Its deliveries and its timeline, as text. */
export function crashHistory({ deliveries, sandbox }: CrashRun): CrashHistory {
  return { table: deliveryTable(deliveries), timeline: sandbox.traffic.timeline({ limit: 80 }) }
}

export interface CrashHistory {
  readonly table: string
  readonly timeline: string
  /** Fault rules that have an effect too, and the schedule that they stand for; `undefined` where none have. */
  readonly scenario?: { readonly id: string; readonly rules: readonly FaultRule[] } | undefined
}

/** The finding that is told first. */
export function smallestOf(findings: readonly CrashFinding[]): CrashFinding | undefined {
  return bySize(findings)[0]
}

/** With the fewest things that go wrong, then with the fewest deliveries. */
export function bySize(findings: readonly CrashFinding[]): readonly CrashFinding[] {
  return [...findings].sort((a, b) => a.disturbances.length - b.disturbances.length || a.deliveries - b.deliveries)
}

const mostRows = 40

/** The deliveries as a table: what each carries, what it submits, and what came of it. */
function deliveryTable(deliveries: readonly RunDelivery[]): string {
  const rows = deliveries.slice(0, mostRows).map(({ ordinal, carries, submissions, attempt }) => {
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
  const more = deliveries.length - mostRows
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
}

export function crashReport(
  { schedules, untried }: CrashPointCheck,
  findings: readonly CrashFinding[],
  strays: readonly StepDifference[],
  history: CrashHistory | undefined,
): string {
  const lines: string[] = []
  if (strays.length > 0) lines.push(...strayLines(strays), '')
  const smallest = smallestOf(findings)
  if (smallest !== undefined && history !== undefined) {
    const others = findings.filter((finding) => finding !== smallest)
    lines.push(`Fails in ${findings.length} of ${counted(schedules, 'schedule')}. The smallest history:`)
    lines.push(...historyLines(smallest, history), ...otherLines(others), '')
  }
  if (untried > 0) lines.push(`${counted(untried, 'schedule')} were not tried: raise \`bound\`.`, '')
  return lines.join('\n').trimEnd()
}

function strayLines(strays: readonly StepDifference[]): string[] {
  return [
    'Code outside steps does not do the same when the same delivery comes again:',
    ...strays.map(({ step, field, first, again }) =>
      standardRedaction.text(`  ${step}: ${field} was ${first}, again ${again}`),
    ),
    'Move what uses time, chance or what others change into context.run().',
  ]
}

function historyLines({ id, disturbances, differences }: CrashFinding, history: CrashHistory): string[] {
  return [
    ...disturbances.map(({ told }) => `  ${told}`),
    history.table,
    ...differences.map((line) => `  → ${standardRedaction.text(line)}`),
    '',
    history.timeline,
    '',
    ...scenarioLines(id, history.scenario),
    '',
    `Replay: everyCrashPoint(workflow, { only: ['${id}'] })`,
  ]
}

function scenarioLines(id: string, scenario: CrashHistory['scenario']): string[] {
  if (scenario === undefined) return ['No fault rule does the same: replay it by its name.']
  const which = scenario.id === id ? '' : ` (${scenario.id}, which fails too)`
  const literal = rulesLiteral(scenario.rules)
  return [`As a scenario, for sandbox.play()${which}:`, `defineScenario('found by everyCrashPoint', ${literal})`]
}

const mostOthers = 20

function otherLines(others: readonly CrashFinding[]): string[] {
  if (others.length === 0) return []
  const shown = others
    .slice(0, mostOthers)
    .flatMap(({ id, differences }) => [
      `  ${id}: ${standardRedaction.text(differences[0] ?? '')}${differences.length > 1 ? ` and ${differences.length - 1} more` : ''}`,
    ])
  const rest = others.length > mostOthers ? [`  and ${others.length - mostOthers} more`] : []
  return ['', 'It also fails:', ...shown, ...rest]
}
