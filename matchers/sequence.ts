import { plural } from '../src/kernel/plural.js'
import type { Entry } from '../src/kernel/traffic-log.js'
import { timeSeenFrom } from '../src/report/shown-times.js'
import { composeFailure } from './failure/compose-failure.js'
import { withoutSecrets } from './failure/hidden-values.js'
import { literal } from './literal.js'
import { missLines, rank, titleLine } from './near-misses.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { headOf } from './requests.js'
import { type SequenceStep, type StepTest, stepTest } from './step-matchers.js'
import { startOf, type Verdict, verdict } from './verdict.js'

/** Checks that entries match the steps in this order. Other entries may be between them. */
export function followsSequence(received: unknown, steps: readonly SequenceStep[]): Verdict {
  const matcher = 'toFollowSequence'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  if (!Array.isArray(steps) || steps.length === 0) {
    throw new TypeError(
      `${matcher}(): the steps must be a list with at least one step (got ${literal(steps)}). Write for example [{ type: 'published', to: '…' }, { type: 'attempt', status: 500 }].`,
    )
  }
  const tests = steps.map((step) => stepTest(matcher, step))
  const found: number[] = []
  let after = beforeAll
  for (const test of tests) {
    const entry = nextOf(evidence, test, after)
    if (entry === undefined) break
    found.push(entry.seq)
    after = entry.seq
  }
  return verdict(
    found.length === steps.length,
    (not, place) => {
      const told = steps.map((step, index) => stepLine(withoutSecrets(step, evidence.redaction), index, found))
      const broken = found.length
      return composeFailure({
        evidence,
        place,
        call: `expect(${evidence.role})${not ? '.not' : ''}.${matcher}([${plural(steps.length, 'step')}])`,
        expected: not ? 'Expected these steps not to occur in this order, but they did:' : brokenAt(steps, found),
        parts: [
          around(told, not ? 0 : broken),
          ...(not ? [] : [divergence(evidence, steps[broken]!, tests[broken]!, found, after)]),
        ],
        isMissing: !not,
        isUnwanted: not,
        focus: found.toReversed(),
        shown: () => true,
      })
    },
    () => found,
  )
}

const maxSteps = 6

/** Returns the lines of the first step without a match and of the steps near it. */
function around(lines: readonly string[], broken: number): string[] {
  if (lines.length <= maxSteps) return [...lines]
  const from = Math.min(Math.max(0, broken - maxSteps / 2), lines.length - maxSteps)
  const rest = lines.length - from - maxSteps
  return [
    ...(from > 0 ? [`  … ${plural(from, 'step')} before`] : []),
    ...lines.slice(from, from + maxSteps),
    ...(rest > 0 ? [`  … ${plural(rest, 'step')} after`] : []),
  ]
}

const beforeAll = Number.NEGATIVE_INFINITY

/** Returns the first entry after a `seq` that matches a step. */
function nextOf(evidence: MatcherInput, { type, test }: StepTest, after: number): Entry | undefined {
  const entries = evidence.ofType(type)
  for (let index = firstAfter(entries, after); index < entries.length; index++) {
    const entry = entries[index]!
    if (test.fits(entry)) return entry
  }
  return undefined
}

/** Returns the index of the first entry after a `seq`. Entries are sorted by `seq`. */
function firstAfter(entries: readonly Entry[], seq: number): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.seq > seq) high = middle
    else low = middle + 1
  }
  return low
}

function brokenAt(steps: readonly SequenceStep[], found: readonly number[]): string {
  const after = found.length === 0 ? '' : ` after #${found.at(-1)}`
  return `Expected these steps in order. No entry${after} matches step ${found.length + 1} of ${steps.length}:`
}

function stepLine(step: unknown, index: number, found: readonly number[]): string {
  const seq = found[index]
  if (seq !== undefined) return `  ✓ ${literal(step)}   #${seq}`
  return index === found.length ? `  ✗ ${literal(step)}` : `  · ${literal(step)}   not checked`
}

/**
 * Returns why no entry matches a step. An entry may match but come too early. Otherwise, the nearest later entry is
 * shown.
 */
function divergence(
  evidence: MatcherInput,
  step: SequenceStep,
  test: StepTest,
  found: readonly number[],
  after: number,
): string[] {
  const earlier = nextOf(evidence, test, beforeAll)
  if (earlier !== undefined && found.includes(earlier.seq)) {
    return [`This step occurred only once, and #${earlier.seq} already matches a step above.`]
  }
  if (earlier !== undefined) {
    return [
      `This step occurred too early: #${earlier.seq} at ${timeSeenFrom(earlier.at, startOf(evidence))}, before the step above it.`,
    ]
  }
  const sameType: readonly Entry[] = evidence.ofType(step.type)
  const [nearest] = rank(sameType.slice(firstAfter(sameType, after)), test.test, 1).nearest
  if (nearest === undefined) return [`There is no later ${step.type} entry.`]
  const { thing, compared } = nearest
  const candidate = { seq: thing.seq, at: thing.at, title: headOf(thing, evidence) }
  return ['Nearest later entry:', titleLine(candidate, startOf(evidence)), ...missLines(compared, evidence.redaction)]
}
