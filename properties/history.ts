import { fromBase64, text } from '../src/kernel/bytes.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { workflowsOf } from '../src/workflow/direct.js'
import { checkedStep, type StepBody } from '../src/workflow/step.js'

/** One entry of the list of a run, as `GET /v2/workflows/runs/{id}` gives it. */
export interface HistoryEntry {
  readonly messageId: string
  /** Base64 of what was submitted. */
  readonly body: string
  readonly callType: string
}

/** What a run has done so far, as plain JSON: enough to ask another version of its code whether it would go on so. */
export interface History {
  readonly format: 'stuntdouble/history'
  readonly version: 1
  readonly url: string
  readonly runId: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Headers that the trigger forwarded. */
  readonly headers?: Readonly<Record<string, string>>
  /** `RUN_SUCCESS`: the route has come to its end. */
  readonly state: string
  /** The first one is the payload. */
  readonly entries: readonly HistoryEntry[]
}

/**
 * The history of a run of this sandbox, to be kept in a file and replayed against later code.
 * @example writeFileSync('checkout.history.json', JSON.stringify(historyOf(sandbox, workflowRunId)))
 * @throws TypeError when there is no such run, with the runs that there are
 */
export function historyOf({ workflow }: Sandbox, runId: string): History {
  const { url, createdAt, state } = workflow.run(runId)
  const run = workflowsOf(workflow).get(runId)!
  const entries = JSON.parse(text(run.listUpTo(run.entries.length - 1))) as HistoryEntry[]
  const headers = Object.fromEntries(run.configuration.settings.headers)
  return { format: 'stuntdouble/history', version: 1, url, runId, createdAt, headers, state, entries }
}

/** What identifies a step, whatever comes of it. */
export interface StepIdentity {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  /** Of one of several that are planned: the id that its result will have. */
  readonly targetStep?: number | undefined
}

/** The steps of a history, the payload and what third parties were asked left out. */
export function recordedSteps({ entries }: History): { readonly at: number; readonly step: StepBody }[] {
  return entries.flatMap(({ body, callType }, at) => {
    if (at === 0 || callType === 'toCallback') return []
    const step = checkedStep(JSON.parse(text(fromBase64(body) ?? fromBase64('')!)))
    return step === undefined ? [] : [{ at, step }]
  })
}

/** What a delivery of the list up to an entry was followed by; `undefined` where the history does not tell. */
export function followers(history: History, at: number): readonly StepIdentity[] | 'end' | 'nothing' | undefined {
  const steps = recordedSteps(history)
  const before = steps.filter((one) => one.at <= at).map(({ step }) => step)
  const delivered = steps.find((one) => one.at === at)?.step
  if (delivered?.targetStep !== undefined) {
    const { targetStep: stepId, stepName, stepType, concurrent } = delivered
    return [{ stepId, stepName, stepType, concurrent }]
  }
  if (delivered !== undefined && before.some((step) => step !== delivered && isSame(step, delivered))) return 'nothing'
  if (delivered !== undefined && delivered.concurrent > 1 && !isLast(delivered, before)) return 'nothing'
  const highest = Math.max(0, ...before.map(({ stepId, targetStep }) => targetStep ?? stepId))
  const next = steps.filter(({ step }) => (step.targetStep ?? step.stepId) > highest).map(({ step }) => step)
  const plans = next.filter(({ targetStep }) => targetStep !== undefined)
  const [first] = next
  if (first === undefined) return history.state === 'RUN_SUCCESS' ? 'end' : undefined
  return first.targetStep === undefined ? [first] : plans.slice(0, first.concurrent)
}

function isSame(one: StepBody, other: StepBody): boolean {
  return one.stepId === other.stepId && one.targetStep === other.targetStep
}

/** Whether all branches beside a result have theirs. */
function isLast({ concurrent }: StepBody, before: readonly StepBody[]): boolean {
  const group = before.slice(-2 * concurrent).filter((step) => step.concurrent === concurrent)
  return group.length >= 2 * concurrent
}
