import type { StepIdentity } from '../../../../src/workflow/run-history.js'
import type { DeliveryResult } from './replay-delivery.js'

// What a replay says. The SDK's words come along as they are.

/** Branches as a set: their order says nothing. */
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

/** The place that a list comes to. */
export function placeOf(step: StepIdentity | undefined): string {
  if (step === undefined) return 'At its beginning'
  const isPlan = step.targetStep !== undefined
  return `After ${isPlan ? 'the plan of ' : ''}step ${step.targetStep ?? step.stepId} '${step.stepName}'`
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
      `the code has ${code} steps beside each other where the history has ${history === 'undefined' ? 'none' : history}`,
  ],
]

/** The name of the step that the code has where the list has another; `undefined` where the SDK does not refuse it so. */
export function nameExpected(refusal: string): string | undefined {
  return refusals[0]![0].exec(refusal)?.[1]
}

/** What a refusal of the SDK means; `undefined` where it is none. */
export function meaningOf(refusal: string): string | undefined {
  for (const [pattern, words] of refusals) {
    const found = pattern.exec(refusal)
    if (found !== null) return words(found[1]!, found[2]!)
  }
  return undefined
}
