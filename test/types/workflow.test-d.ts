// Compiled, never run: valid and invalid uses of workflow runs and stubs, in process and over connect().
import type { Sandbox, WorkflowRun } from 'stuntdouble'
import type { RemoteSandbox } from 'stuntdouble/client'

declare const sandbox: Sandbox
declare const remote: RemoteSandbox

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(..._: Equal<A, B> extends true ? [] : [never]): void {}

type Steps = {
  stubStep(name: string, nth?: number): Fates
  stubEvent(id: string, data?: unknown): { timesOut(): unknown }
}
interface Fates {
  returns(value?: unknown): unknown
  throws(error?: Error | string | { message: string }, options?: { times?: number }): unknown
  timesOut(options?: { times?: number }): unknown
}

/** Every stub in its valid forms, and mistakes that must not compile. */
function written(workflow: Sandbox['workflow'] | RemoteSandbox['workflow']): unknown[] {
  // @ts-expect-error: a step has a name
  workflow.stubStep()
  // @ts-expect-error: which of the steps is a number
  workflow.stubStep('charge', 'second')
  // @ts-expect-error: one value
  workflow.stubStep('charge').returns(1, 2)
  // @ts-expect-error: it returns always
  workflow.stubStep('charge').returns(1, { times: 2 })
  // @ts-expect-error: no number is thrown
  workflow.stubStep('charge').throws(500)
  // @ts-expect-error: an error has a message
  workflow.stubStep('charge').throws({ name: 'WorkflowRetryAfterError' })
  // @ts-expect-error: times is a number
  workflow.stubStep('charge').throws('declined', { times: '2' })
  // @ts-expect-error: times is an option
  workflow.stubStep('charge').timesOut(2)
  // @ts-expect-error: a step has one stub
  workflow.stubStep('charge').fails()
  // @ts-expect-error: an event has an id
  workflow.stubEvent()
  // @ts-expect-error: nothing else happens to an event
  workflow.stubEvent('approved').throws()
  // @ts-expect-error: all sleeps are skipped
  workflow.skipSleeps('nap')
  // @ts-expect-error: an event has an id
  workflow.notify()
  // @ts-expect-error: a run ends with success, failed or canceled
  workflow.getRun('wfr_1').advanceToEnd('RUN_SUCCESS')
  // @ts-expect-error: a run reaches a step
  workflow.getRun('wfr_1').advanceToStep()
  return [
    workflow.stubStep('charge').returns(),
    workflow.stubStep('charge', 2).returns({ id: 'ch_1' }),
    workflow.stubStep('charge').throws(),
    workflow.stubStep('charge').throws(new Error('declined'), { times: 2 }),
    workflow.stubStep('charge').throws({ name: 'WorkflowRetryAfterError', message: 'later', retryAfter: 5 }),
    workflow.stubStep('charge').timesOut({ times: 1 }),
    workflow.stubEvent('approved'),
    workflow.stubEvent('approved', { by: 'Ada' }).timesOut(),
    workflow.skipSleeps(),
    workflow.skipRetryDelays(),
    workflow.notify('approved', { by: 'Ada' }, { runId: 'wfr_1' }),
    workflow.getRun('wfr_1').advanceToStep('charge', 2),
    workflow.getRun('wfr_1').advanceToEnd('success'),
    workflow.getRun('wfr_1').advanceToEnd(),
    workflow.unused,
  ]
}

/** The same in process and over connect(), where all of it is awaited. */
export async function everywhere(): Promise<void> {
  written(sandbox.workflow)
  written(remote.workflow)
  const both: readonly Steps[] = [sandbox.workflow, remote.workflow]
  void both
  same<typeof sandbox.workflow.unused, readonly string[]>()
  same<Awaited<typeof remote.workflow.unused>, readonly string[]>()
  same<ReturnType<typeof sandbox.workflow.skipSleeps>, void>()
  same<ReturnType<typeof remote.workflow.skipSleeps>, Promise<void>>()
  same<ReturnType<WorkflowRun['advanceToEnd']>, Promise<void>>()
  same<ReturnType<ReturnType<typeof remote.workflow.getRun>['advanceToEnd']>, Promise<void>>()
  same<WorkflowRun['state'], 'RUN_STARTED' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'>()
  // The stubs of a step are used in order.
  sandbox.workflow.stubStep('charge').throws('once', { times: 1 }).returns(1)
  const run: WorkflowRun = sandbox.workflow.getRun('wfr_1')
  // @ts-expect-error: a run's state is read, not set
  run.state = 'RUN_SUCCESS'
  await remote.workflow.stubStep('charge').returns(1)
  await remote.workflow.stubEvent('approved').timesOut()
}
