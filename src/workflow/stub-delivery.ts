import { type Bytes, text, utf8 } from '../kernel/bytes.js'
import { withMutedConsole } from '../kernel/muted-console.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Message, RawOutcome, StubbableDelivery } from '../queue/message/message.js'
import { rawStep, type StepBody, writtenStep } from './step.js'
import type { StepStub, Stubs } from './stubs.js'
import { headerNamesIn } from './workflow-protocol.js'
import type { WorkflowRunState } from './workflow-run.js'

// A stub is applied to a delivery before the body of a step runs.

/** What stubs need from the engine. */
export interface StubContext {
  readonly verbs: Stubs
  /** Adds a step to the list of a run, as if the endpoint of the run had submitted the step. */
  submit(run: WorkflowRunState, delivery: StubbableDelivery, step: StepBody): void
}

/**
 * Name of a step that does not exist. The SDK responds with an error, which contains the name of the step that it
 * expected.
 */
const probeStepName = '(stuntdouble asks: which step is next?)'

/** Beginning of the SDK's error message if the next steps are parallel. */
const parallelRefusal = 'Incompatible number of parallel steps'

/** Types of steps whose result comes from the endpoint. The results of all other types come from the service. */
const ownResult = new Set(['Run', 'Notify', 'CreateWebhook'])

/**
 * Delivers a message and applies the stub of its next step. Returns `undefined` if no stub can apply, so that the
 * caller delivers the message itself.
 */
export function stubDelivery(
  stage: StubContext,
  run: WorkflowRunState,
  index: number,
  delivery: StubbableDelivery,
): Promise<RawOutcome> | undefined {
  if (!stage.verbs.awaitsSteps) return undefined
  const list = stepsUpTo(run, index)
  const own = index === 0 ? undefined : run.stepOf(run.entries[index]!)
  if (own !== undefined && isRepeated(list)) return undefined
  if (own?.targetStep !== undefined) return planned(stage, run, own, delivery)
  return isBranchOpen(list) ? undefined : sequential(stage, run, index, list, delivery)
}

/** Returns the submitted steps up to an entry, as the SDK parses them. */
function stepsUpTo(run: WorkflowRunState, index: number): StepBody[] {
  const steps: StepBody[] = []
  for (let at = 1; at <= index; at++) {
    const step = run.stepOf(run.entries[at]!)
    if (step !== undefined) steps.push(step)
  }
  return steps
}

/** Returns whether the last step was submitted twice. The SDK ignores the second submission. [workflow.md 5] */
function isRepeated(list: readonly StepBody[]): boolean {
  const { stepId, targetStep } = list.at(-1)!
  return list.slice(0, -1).some((one) => one.stepId === stepId && one.targetStep === targetStep)
}

/**
 * Returns whether a parallel step of the run is unfinished. The SDK then ignores the delivery of the other parallel
 * steps.
 */
function isBranchOpen(list: readonly StepBody[]): boolean {
  const done = new Set(list.filter(({ targetStep }) => targetStep === undefined).map(({ stepId }) => stepId))
  return list.some(({ targetStep }) => targetStep !== undefined && !done.has(targetStep))
}

function planned(
  stage: StubContext,
  run: WorkflowRunState,
  plan: StepBody,
  delivery: StubbableDelivery,
): Promise<RawOutcome> | undefined {
  const { stepName, stepType, targetStep, concurrent } = plan
  const verb = stage.verbs.forStep(stepName, placeOf(run, stepName, targetStep!))
  if (verb === undefined || !concerns(verb, stepType)) return undefined
  const step = { stepId: targetStep!, stepName, stepType, concurrent }
  return Promise.resolve(met(stage, run, verb, step, delivery))
}

/** Returns the position of a step among the steps of its run that have the same name, counted from 1. */
export function placeOf(run: WorkflowRunState, stepName: string, stepId: number): number {
  const same = run.steps.filter((one) => one.stepName === stepName)
  const at = same.findIndex((one) => one.stepId === stepId)
  return at < 0 ? same.length + 1 : at + 1
}

async function sequential(
  stage: StubContext,
  run: WorkflowRunState,
  index: number,
  list: readonly StepBody[],
  delivery: StubbableDelivery,
): Promise<RawOutcome> {
  const stepId = list.reduce((most, step) => Math.max(most, step.stepId), 0) + 1
  const ask = async (stepName: string, stepType: string): Promise<ProbeResult> => {
    const step = writtenStep({ stepId, stepName, stepType, concurrent: 1 })
    const probe = { refused: false }
    run.probe = probe
    try {
      const body = `${run.listUpTo(index).slice(0, -1)},${rawStep(delivery.message.id, step, 'step')}]` as Bytes
      // A probe always causes an error, which the SDK logs to the console. Hide these lines.
      const reply = await withMutedConsole(
        (line) => isAnswer(line, run),
        () => delivery.probe(body),
      )
      return { reply, refused: probe.refused }
    } finally {
      run.probe = undefined
    }
  }
  const asked = await ask(probeStepName, 'Run')
  const stepName = told(asked.reply, 'name', probeStepName)
  // The endpoint did not expect a step, so it has ended or failed. The probe then counts as the delivery. But if the
  // endpoint tried to submit something, deliver the message again.
  if (stepName === undefined) return asked.refused || isParallel(asked.reply) ? delivery.send() : asked.reply
  const verb = stage.verbs.forStep(stepName, placeOf(run, stepName, stepId))
  if (verb === undefined) return delivery.send()
  const stepType = told((await ask(stepName, probeStepName)).reply, 'type', probeStepName)
  if (stepType === undefined || !concerns(verb, stepType)) return delivery.send()
  return met(stage, run, verb, { stepId, stepName, stepType, concurrent: 1 }, delivery)
}

interface ProbeResult {
  readonly reply: RawOutcome
  /** Whether the endpoint tried to submit a step during the probe. Such a submission is always rejected. */
  readonly refused: boolean
}

/**
 * Returns the name or the type of the step that the SDK expected, from the error that the probe caused. Returns
 * `undefined` for another response.
 */
function told({ status, body }: RawOutcome, what: 'name' | 'type', got: string): string | undefined {
  if (status !== 500) return undefined
  const message = messageIn(body)
  const before = `Incompatible step ${what}. Expected '`
  const after = `', got '${got}' from the request`
  if (message === undefined || !message.startsWith(before) || !message.endsWith(after)) return undefined
  return message.slice(before.length, -after.length)
}

function isParallel({ status, body }: RawOutcome): boolean {
  return status === 500 && messageIn(body)?.startsWith(parallelRefusal) === true
}

/** Returns whether a line on the console is about the error that a probe caused. */
function isAnswer(line: string, run: WorkflowRunState): boolean {
  return line.includes(probeStepName) || (line.includes(run.id) && line.includes(parallelRefusal))
}

function messageIn(body: Bytes): string | undefined {
  const error = parsedJson(text(body))
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  return typeof message === 'string' ? message : undefined
}

/**
 * Returns whether a stub applies during a delivery. A stub of a call, wait, invocation or sleep applies later, when the
 * step is submitted.
 */
function concerns({ fate }: StepStub, stepType: string): boolean {
  if (fate.does === 'returns') return ownResult.has(stepType)
  return fate.does === 'throws' || !isWait(stepType)
}

function isWait(stepType: string): boolean {
  return stepType === 'Wait' || stepType === 'WaitForWebhook'
}

function met(
  stage: StubContext,
  run: WorkflowRunState,
  verb: StepStub,
  step: StepBody,
  delivery: StubbableDelivery,
): RawOutcome {
  verb.used++
  const { fate, text: note } = verb
  if (fate.does === 'timesOut') return { ...nothing, error: 'no response', never: true, note }
  if (fate.does === 'throws') return { ...failure(delivery.message, step, fate.error), note }
  const { concurrent, ...own } = step
  // Write the fields in the same order as the SDK. Undefined fields are omitted.
  stage.submit(run, delivery, { ...own, out: JSON.stringify(fate.value), concurrent })
  const body = utf8(JSON.stringify({ workflowRunId: run.id, finishCondition: 'success' }))
  return { status: 200, headers: sdkHeaders(delivery.message), body, note: `${note}: its body did not run` }
}

const nothing = { status: 0, headers: [], body: '' as Bytes }

function sdkHeaders({ settings }: Message): [string, string][] {
  const own = headerNamesIn(settings.words).flatMap(({ sdkVersion, sdk }): [string, string][] => [
    [sdkVersion, '1'],
    [sdk, 'stuntdouble'],
  ])
  return [...own, ['content-type', 'application/json']]
}

/** Returns a response like the one with which the SDK reports the error of a step. [workflow.md 3.4] */
function failure(delivered: Message, { stepName, concurrent }: StepBody, error: StepFailure): RawOutcome {
  const { settings } = delivered
  const { name = 'Error', message, stack, retryAfter } = error
  const plain = utf8(JSON.stringify({ error: name, message, stack }))
  if (name === 'WorkflowNonRetryableError')
    return {
      status: 489,
      headers: [
        ...sdkHeaders(delivered),
        ...settings.words.headers('NonRetryable-Error').map((own) => [own, 'true'] as const),
      ],
      body: plain,
    }
  if (name === 'WorkflowRetryAfterError')
    return { status: 429, headers: [...sdkHeaders(delivered), ['retry-after', String(retryAfter ?? 0)]], body: plain }
  // The SDK also removes control characters from the names of steps.
  const shown = stepName.replace(/[\u0000-\u001F\u007F]+/g, ' ').trim()
  const headers: [string, string][] = []
  for (const { sdkVersion, errorStepName } of headerNamesIn(settings.words)) {
    headers.push([sdkVersion, '1'])
    if (isHeaderText(shown)) headers.push([errorStepName, shown])
  }
  if (concurrent === 1) return { status: 500, headers, body: plain }
  const wrapped = `Error submitting steps to QStash in partial parallel step execution: ${name}: ${message}`
  return { status: 500, headers, body: utf8(JSON.stringify({ error: 'WorkflowError', message: wrapped, stack })) }
}

type StepFailure = Extract<StepStub['fate'], { does: 'throws' }>['error']

/** Returns whether a text can be the value of a header. */
function isHeaderText(value: string): boolean {
  return value !== '' && /^[\u0020-\u00FF]*$/.test(value)
}
