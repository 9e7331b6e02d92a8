import type { StepIdentity } from '../../../../src/workflow/run-history.js'
import type { DeliveryResult } from './replay-delivery.js'

// Texts of a replay report. Error messages of the SDK are quoted unchanged.

/** Describes the submitted steps. Parallel steps are sorted, because their order has no meaning. */
export function describeStep(done: DeliveryResult): string {
  if (done === 'end') return 'the end of the run'
  if (done === 'nothing' || done.length === 0) return 'nothing'
  return done
    .map(({ stepId, stepName, stepType, concurrent, targetStep }) => {
      const place = targetStep === undefined ? `step ${stepId}` : `the plan of step ${targetStep}`
      return `${place} '${stepName}' (${stepType}${concurrent > 1 ? `, one of ${concurrent}` : ''})`
    })
    .sort()
    .join(', ')
}

/** Describes the point of a workflow run after a list of steps. @param step last step of the list */
export function placeOf(step: StepIdentity | undefined): string {
  if (step === undefined) return 'At the beginning,'
  const isPlan = step.targetStep !== undefined
  return `After ${isPlan ? 'the plan of ' : ''}step ${step.targetStep ?? step.stepId} '${step.stepName}',`
}

const refusals: readonly (readonly [RegExp, (code: string, history: string) => string])[] = [
  [
    /Incompatible step name\. Expected '([\s\S]*?)', got '([\s\S]*?)' from the request/,
    (code, history) => `the code has a step '${code}' where the history has '${history}'`,
  ],
  [
    /Incompatible step type\. Expected '([\s\S]*?)', got '([\s\S]*?)' from the request/,
    (code, history) => `the code has a step of type ${code} where the history has one of type ${history}`,
  ],
  [
    /Incompatible number of parallel steps[\s\S]*?Expected (\d+), got (\w+) from the request/,
    (code, history) =>
      `the code has ${code} parallel steps where the history has ${history === 'undefined' ? 'none' : history}`,
  ],
]

/**
 * Returns the step name that the code has, from the SDK's error message about a different name in the list. Returns
 * `undefined` for other messages.
 */
export function nameExpected(refusal: string): string | undefined {
  return refusals[0]![0].exec(refusal)?.[1]
}

/**
 * Explains an error message of the SDK about a difference between the list and the code. Returns `undefined` for other
 * messages.
 */
export function meaningOf(refusal: string): string | undefined {
  for (const [pattern, words] of refusals) {
    const found = pattern.exec(refusal)
    if (found !== null) return words(found[1]!, found[2]!)
  }
  return undefined
}
