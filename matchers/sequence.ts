import type { Entry } from '../src/kernel/traffic.js'
import { timeSeenFrom } from '../src/report/instants.js'
import { literal } from './literal.js'
import { missLines, rank, titleLine } from './near-misses.js'
import { type Evidence, evidenceOf } from './received.js'
import { type SequenceStep, type StepTest, stepTest } from './steps.js'
import { headOf } from './traffic.js'
import { replayLine, startOf, storyText, type Verdict } from './verdict.js'

/** Entries that fit the steps in this order, with anything between them. */
export function followsSequence(received: unknown, steps: readonly SequenceStep[]): Verdict {
  const matcher = 'toFollowSequence'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  if (!Array.isArray(steps) || steps.length === 0) {
    throw new TypeError(
      `${matcher}() needs a list of steps, for example [{ type: 'published', to: '…' }, { type: 'attempt', status: 500 }].`,
    )
  }
  const tests = steps.map((step) => stepTest(matcher, step))
  const { entries } = evidence
  const found: number[] = []
  let from = 0
  for (const test of tests) {
    const index = indexOfStep(entries, test, from)
    if (index === -1) break
    found.push(entries[index]!.seq)
    from = index + 1
  }
  return {
    pass: found.length === steps.length,
    found,
    explain: (not) => {
      const lines = [
        `expect(${evidence.role})${not ? '.not' : ''}.${matcher}([${steps.length === 1 ? '1 step' : `${steps.length} steps`}])`,
        '',
        not ? 'Expected that these steps do not follow each other, but they do:' : brokenAt(steps, found),
        ...steps.map((step, index) => stepLine(step, index, found)),
      ]
      if (!not) lines.push(...divergence(evidence, steps[found.length]!, tests[found.length]!, found, from))
      const focus = found.at(-1)
      lines.push(replayLine(evidence, focus), '', storyText(entries, focus))
      return lines.join('\n')
    },
  }
}

function indexOfStep(entries: readonly Entry[], { type, test }: StepTest, from: number): number {
  for (let index = from; index < entries.length; index++) {
    const entry = entries[index]!
    if (entry.type === type && test.fits(entry)) return index
  }
  return -1
}

function brokenAt(steps: readonly SequenceStep[], found: readonly number[]): string {
  const after = found.length === 0 ? '' : ` after #${found.at(-1)}`
  return `Expected these steps in order. Step ${found.length + 1} of ${steps.length} does not follow${after}:`
}

function stepLine(step: SequenceStep, index: number, found: readonly number[]): string {
  const seq = found[index]
  if (seq !== undefined) return `  ✓ ${literal(step)}   #${seq}`
  return `  ${index === found.length ? '✗' : '·'} ${literal(step)}`
}

/** Where the order broke: what came instead, or that the step had come too early. */
function divergence(
  evidence: Evidence,
  step: SequenceStep,
  test: StepTest,
  found: readonly number[],
  from: number,
): string[] {
  const { entries } = evidence
  const earlier = entries[indexOfStep(entries, test, 0)]
  if (earlier !== undefined && found.includes(earlier.seq)) {
    return [`It happened once only: #${earlier.seq} is the step above.`]
  }
  if (earlier !== undefined) {
    return [
      `It happened too early: #${earlier.seq} at ${timeSeenFrom(earlier.at, startOf(evidence))}, before the step above it.`,
    ]
  }
  const sameType = entries.slice(from).filter((entry) => entry.type === step.type)
  const [nearest] = rank(sameType, test.test, 1).nearest
  if (nearest === undefined) return [`No ${step.type} entry came afterwards.`]
  const { thing, compared } = nearest
  const candidate = { seq: thing.seq, at: thing.at, title: headOf(thing, evidence) }
  return ['Nearest afterwards:', titleLine(candidate, startOf(evidence)), ...missLines(compared)]
}
