import type { ResolvedPolicy } from '../policy/policy.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import type { StepBody } from './step.js'
import type { WorkflowRunState } from './workflow-run.js'

/**
 * Maximum number of entries per step. This package chose the number, because the limit of the real service is not
 * public. [workflow.md 12]
 */
const entriesPerStep = 10

/**
 * Rejects a submission that exceeds a limit of the run. Each delivery contains all earlier submissions, so a run with
 * twice as many steps sends four times as many bytes. The run fails at the end of the delivery that made the
 * submission.
 * @param step the step, or `undefined` for a submission that is not a step
 * @throws Refusal 429 when a limit is exceeded
 */
export function checkRoom(
  run: WorkflowRunState,
  step: StepBody | undefined,
  bytes: number,
  policy: ResolvedPolicy,
): void {
  run.exceeded ??= exceeded(run, step, bytes, policy)
  if (run.exceeded !== undefined) throw refusals.exceedsLimit()
}

function exceeded(
  run: WorkflowRunState,
  step: StepBody | undefined,
  bytes: number,
  { maxRunSteps, maxRunContext }: ResolvedPolicy,
): string | undefined {
  const { steps, entries } = run
  if (
    maxRunSteps !== undefined &&
    steps.length >= maxRunSteps &&
    step !== undefined &&
    run.recordOf(step) === undefined
  )
    return told(`more than ${maxRunSteps} steps`, 'maxRunSteps')
  if (maxRunSteps !== undefined && entries.length >= entriesPerStep * (steps.length + 1))
    return told(`more than ${entriesPerStep} submissions for each of its steps`, 'maxRunSteps')
  if (maxRunContext !== undefined && run.weight + bytes > maxRunContext)
    return told(`more than ${maxRunContext} bytes of payload and steps`, 'maxRunContext')
  return undefined
}

function told(what: string, policy: string): string {
  return `-1 EXCEEDS_LIMIT: the run has ${what} (policy.${policy}). Move some of its steps to another run with context.invoke().`
}
