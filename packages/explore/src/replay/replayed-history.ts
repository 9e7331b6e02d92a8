import { stepOfEntry } from '../../../../src/workflow/history-file.js'
import type { RunHistory, StepIdentity } from '../../../../src/workflow/run-history.js'
import type { StepBody } from '../../../../src/workflow/step.js'

/** The steps of a history, and what followed after each of them. */
export class RecordedSteps {
  readonly #history: RunHistory
  /** The first entry of each step. The SDK ignores further entries of the same step. */
  readonly #steps: readonly { readonly at: number; readonly step: StepBody }[]
  readonly #duplicates: ReadonlySet<number>

  constructor(history: RunHistory) {
    this.#history = history
    const seen = new Set<string>()
    const duplicates = new Set<number>()
    this.#steps = history.entries.flatMap((entry, at) => {
      const step = stepOfEntry(entry, at)
      if (step === undefined) return []
      const key = keyOf(step)
      if (seen.has(key)) {
        duplicates.add(at)
        return []
      }
      seen.add(key)
      return [{ at, step }]
    })
    this.#duplicates = duplicates
  }

  /** Returns the step in the entry with this index. */
  at(at: number): StepBody | undefined {
    return this.#steps.find((one) => one.at === at)?.step
  }

  /** Returns the highest step ID in the entries up to this index. */
  highest(at: number): number {
    return this.#steps.reduce((most, one) => (one.at <= at ? Math.max(most, idOf(one.step)) : most), 0)
  }

  /** Returns what the code did with the steps up to this entry, or `undefined` if the history ends at that entry. */
  followers(at: number): readonly StepIdentity[] | 'end' | 'nothing' | undefined {
    if (this.#duplicates.has(at)) return 'nothing'
    const before = this.#steps.filter((one) => one.at <= at).map(({ step }) => step)
    const delivered = this.at(at)
    if (delivered?.targetStep !== undefined) {
      const { targetStep: stepId, stepName, stepType, concurrent } = delivered
      return [{ stepId, stepName, stepType, concurrent }]
    }
    if (delivered !== undefined && delivered.concurrent > 1 && !this.#isLast(delivered, before)) return 'nothing'
    const highest = this.highest(at)
    const [first, ...others] = this.#steps.map(({ step }) => step).filter((step) => idOf(step) > highest)
    if (first === undefined) return this.#behindTheLast(highest)
    if (first.targetStep === undefined) return [first]
    const plans = [first, ...others.filter(({ targetStep }) => targetStep !== undefined)].slice(0, first.concurrent)
    return plans.length === first.concurrent ? plans : undefined
  }

  #behindTheLast(highest: number): readonly StepIdentity[] | 'end' | undefined {
    const { open, state } = this.#history
    if (open !== undefined && open.stepId > highest) return [open]
    return state === 'RUN_SUCCESS' ? 'end' : undefined
  }

  /** Returns whether this result is the last one of a group of parallel branches. */
  #isLast({ stepId, concurrent }: StepBody, before: readonly StepBody[]): boolean {
    const plans = this.#steps.flatMap(({ step }) => (step.targetStep === undefined ? [] : [step]))
    const own = plans.findIndex(({ targetStep }) => targetStep === stepId)
    if (own < 0) return false
    const results = new Set(before.map((step) => (step.targetStep === undefined ? step.stepId : 0)))
    const group = groupOf(plans, own)
    return group.length === concurrent && group.every(({ targetStep }) => results.has(targetStep!))
  }
}

/**
 * Returns the plans of all parallel branches to which the plan `own` belongs. They are consecutive, and `concurrent` of
 * each is their number.
 */
function groupOf(plans: readonly StepBody[], own: number): readonly StepBody[] {
  for (let from = 0; from < plans.length; ) {
    const to = from + Math.max(1, Math.trunc(plans[from]!.concurrent) || 1)
    if (own < to) return plans.slice(from, to)
    from = to
  }
  return []
}

function idOf({ stepId, targetStep }: StepBody): number {
  return targetStep ?? stepId
}

function keyOf({ stepId, targetStep }: StepBody): string {
  return `${stepId} ${targetStep}`
}
