import { text } from '../../src/kernel/bytes.js'
import { parsedJson } from '../../src/kernel/parsed-json.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { plainText } from '../../src/report/safe-text.js'
import { literal } from '../literal.js'
import type { MatcherInput } from '../received.js'
import { grouped } from './circumstance.js'

// In an endpoint, the SDK throws WorkflowAbort as soon as it has submitted a step. If a delivery does more work after
// that, its code has caught the error or does not await the step. The log proves which delivery did the additional
// work.

/** The first request with which an endpoint submitted a step. It may submit several parallel steps. */
interface Submission {
  readonly runId: string
  readonly name: string
  readonly request: EntryOf<'request'>
}

type Call = EntryOf<'attempt'>

const swallowed =
  'code around the step (try/catch, finally, Promise.allSettled(), Promise.any()) swallowed WorkflowAbort, or the step is not awaited'
/** Beginning of the SDK's response if a route ends before its first step. */
const unstarted = 'Failed to authenticate Workflow request'

/** Returns hints for deliveries to workflow endpoints that continued after they had submitted a step. */
export function swallowedAborts(evidence: MatcherInput): string[] {
  const ends = new Map(
    evidence.ofType('workflow').flatMap((end) => (end.state === 'RUN_SUCCESS' ? [[end.runId, end] as const] : [])),
  )
  const submissions = grouped(submissionsIn(evidence), ({ runId }) => runId)
  const attempts = submissions.size === 0 ? [] : evidence.ofType('attempt')
  const calls = grouped(attempts, ({ workflowRunId = '' }) => workflowRunId)
  return [
    ...[...submissions].flatMap(([runId, own]) =>
      wentOn(own, loneCalls(calls.get(runId) ?? []), ends.get(runId), evidence),
    ),
    ...submittedAfter(ends, evidence),
    ...endedUnstarted(evidence),
  ]
}

function submissionsIn(evidence: MatcherInput): Submission[] {
  const inOrder = [...evidence.ofType('step'), ...evidence.ofType('wait'), ...evidence.ofType('invoke')]
  const published = inOrder.length === 0 ? [] : evidence.ofType('published')
  const causes = new Map(published.map(({ seq, cause }) => [seq, cause]))
  const steps = new Map<number, { readonly runId: string; readonly name: string }>()
  const known = new Set<string>()
  for (const entry of inOrder) {
    const { runId, stepId, stepName, cause = 0 } = entry
    const request = causes.get(cause) ?? cause
    // The same step may be submitted twice: its client got no response, or its plan was submitted first. Count only the
    // first submission.
    const step = `${stepId} ${runId}`
    if (!known.has(step) && !steps.has(request)) steps.set(request, { runId, name: stepName })
    known.add(step)
  }
  return evidence.ofType('request').flatMap((request) => {
    if (!isAccepted(request)) return []
    const submitted = steps.get(request.seq) ?? calledIn(request)
    return submitted === undefined ? [] : { ...submitted, request }
  })
}

function isAccepted({ response: answer }: EntryOf<'request'>): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300
}

/**
 * Returns the `context.call()` step that a request submits. The log has no entry for this step until the third party
 * has responded.
 */
function calledIn({ body, service }: EntryOf<'request'>): { runId: string; name: string } | undefined {
  if (service !== 'queue' || !body.includes('toCallback')) return undefined
  const [first] = [parsedJson(text(body))].flat() as { readonly headers?: object }[]
  const headers = Object.entries(first?.headers ?? {})
  const headerOf = (end: string): unknown => headers.find(([name]) => name.toLowerCase().endsWith(end))?.[1]
  const [runId, name] = [headerOf('workflow-runid'), headerOf('workflow-stepname')]
  return typeof runId === 'string' && typeof name === 'string' ? { runId, name } : undefined
}

/**
 * Yields the deliveries that did not overlap with another delivery of the same run. During such a delivery, only its
 * handler can have acted for the run. The search stops at a delivery without a response, because its handler may still
 * run.
 */
function* loneCalls(calls: readonly Call[]): Generator<Call> {
  let ended = 0
  for (const [index, call] of calls.entries()) {
    const until = endOf(call)
    if (ended < call.seq && (calls[index + 1]?.seq ?? Number.POSITIVE_INFINITY) > until) yield call
    if (call.outcome?.status === 0) return
    ended = Math.max(ended, until)
  }
}

function endOf({ endedAfterSeq = Number.POSITIVE_INFINITY }: Call): number {
  return endedAfterSeq
}

/** Returns hints for deliveries that, after submitting a step, submitted another step or ended the run. */
function wentOn(
  submissions: readonly Submission[],
  calls: Iterable<Call>,
  end: EntryOf<'workflow'> | undefined,
  evidence: MatcherInput,
): string[] {
  const told: string[] = []
  let at = 0
  for (const call of calls) {
    const isIn = (seq: number): boolean => seq > call.seq && seq <= endOf(call)
    while (at < submissions.length && submissions[at]!.request.seq < call.seq) at++
    const [first, second] = submissions
      .slice(at, at + 2)
      .filter(({ request: { seq, cause = call.seq } }) => isIn(seq) && cause === call.seq)
    if (first === undefined) continue
    const { name, request } = first
    const lead = `The delivery that submitted step ${quoted(name)} (#${request.seq})`
    if (second !== undefined)
      told.push(`${lead} continued and submitted step ${quoted(second.name)} (#${second.request.seq}): ${swallowed}.`)
    else if (end !== undefined && isIn(end.seq) && isRequest(end.cause, evidence)) {
      // The SDK throws WorkflowAbort when it gets the response to the submission. If the run ended before that
      // response, the app did not await the step.
      const why = endedBefore(request, end.cause!) ? swallowed : 'the step is not awaited'
      told.push(`${lead} also ended run ${plainText(end.runId)} (#${end.seq}): ${why}.`)
    }
  }
  return told
}

function endedBefore({ endedAfterSeq = Number.POSITIVE_INFINITY }: EntryOf<'request'>, seq: number): boolean {
  return endedAfterSeq < seq
}

/** Returns hints for steps that were submitted after their run had succeeded. The queue rejects them. */
function submittedAfter(ends: ReadonlyMap<string, EntryOf<'workflow'>>, evidence: MatcherInput): string[] {
  if (ends.size === 0) return []
  return evidence.ofType('request').flatMap((request) => {
    if (request.response?.status !== 400) return []
    const refusal = text(request.response.body ?? ('' as never))
    const end = [...ends.values()].find(({ runId, seq }) => request.seq > seq && refusal.includes(runId))
    if (end === undefined || !isRequest(end.cause, evidence)) return []
    const { runId, seq } = end
    const known = evidence.ofType('step').flatMap((step) => (step.runId === runId ? step.stepId : []))
    const step = stepsIn(request).find(({ stepId }) => !known.includes(stepId))
    if (step === undefined) return []
    return `Step ${quoted(step.stepName)} was submitted (#${request.seq}) after run ${plainText(runId)} had ended (#${seq}): the step is not awaited.`
  })
}

/** Returns hints for routes that ended before any step. The SDK always responds to such a delivery with 400. */
function endedUnstarted(evidence: MatcherInput): string[] {
  const refused = evidence
    .ofType('attempt')
    .filter(({ outcome, workflowRunId }) => workflowRunId !== undefined && isUnstarted(outcome))
  return [...grouped(refused, ({ workflowRunId = '' }) => workflowRunId)].map(([runId, attempts]) => {
    const { seq } = attempts[0]!
    const where = attempts.length === 1 ? `(#${seq})` : `in ${attempts.length} attempts (first: #${seq})`
    return `The route of run ${plainText(runId)} ended before its first step, and the SDK responded with 400 ${where}. Either the route returned early, a try/catch around the step swallowed WorkflowAbort, or the step is not awaited.`
  })
}

function isUnstarted(outcome: Call['outcome']): boolean {
  return outcome?.status === 400 && text(outcome.body).includes(unstarted)
}

/** Returns the steps that a request submits. */
function stepsIn({ body, service }: EntryOf<'request'>): { readonly stepId: number; readonly stepName: string }[] {
  const parsed = service === 'queue' ? parsedJson(text(body)) : undefined
  return (Array.isArray(parsed) ? parsed : [parsed]).flatMap((one: unknown) => {
    const own = (one as { body?: unknown } | null | undefined)?.body
    const step = (typeof own === 'string' ? parsedJson(own) : one) as { stepId?: unknown; stepName?: unknown } | null
    const { stepId, stepName } = step ?? {}
    return typeof stepId === 'number' && typeof stepName === 'string' ? { stepId, stepName } : []
  })
}

function isRequest(seq: number | undefined, evidence: MatcherInput): boolean {
  return evidence.ofType('request').some((request) => request.seq === seq)
}

function quoted(step: string): string {
  return plainText(literal(step))
}
