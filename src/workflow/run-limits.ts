import type { ResolvedPolicy } from '../policy/policy.js'
import { resultSize, type StepBody } from './step.js'
import type { WorkflowRunState } from './workflow-run.js'

/**
 * Maximum size in bytes of the list of one run: its payload and all its submissions. The requests of calls do not count
 * toward the context, but each delivery contains them, and no text in JavaScript can be much longer. This package chose
 * the number.
 */
export const maxListBytes = 209_715_200

/**
 * Returns which limit a submission would exceed, as an error text. Returns `undefined` if it exceeds none. Each delivery
 * contains all earlier submissions, so a run with twice as many steps sends four times as many bytes.
 *
 * Only finished steps count. If a run has finished as many steps as it may, it cannot finish another one. So the plan,
 * the call or the wait of another step exceeds the limit, too.
 * @param step the step, or `undefined` for a submission that is not a step
 */
export function exceededBy(
  run: WorkflowRunState,
  step: StepBody | undefined,
  { workflowMaxSteps: steps, workflowMaxContext: context, workflowMaxEntriesPerStep: perStep }: ResolvedPolicy,
): string | undefined {
  const isNew = step !== undefined && run.recordOf(step)?.result === undefined
  if (steps !== undefined && isNew && run.finishedSteps >= steps)
    return told(`more than ${steps} steps`, 'policy.workflowMaxSteps')
  const added = isNew && step.targetStep === undefined ? resultSize(step) : 0
  if (context !== undefined && run.contextBytes + added > context)
    return told(`more than ${context} bytes of payload and results`, 'policy.workflowMaxContext')
  // The payload is an entry, too, but no submission.
  if (perStep !== undefined && run.entries.length - 1 >= perStep * (run.steps.length + 1))
    return told(`more than ${perStep} submissions for each of its steps`, 'policy.workflowMaxEntriesPerStep')
  if (run.listBytes > maxListBytes)
    return told(`more than ${maxListBytes} bytes of payload and submissions`, 'a limit of this package')
  return undefined
}

function told(what: string, limit: string): string {
  return `-1 EXCEEDS_LIMIT: the run has ${what} (${limit}). Move some of its steps to another run with context.invoke().`
}
