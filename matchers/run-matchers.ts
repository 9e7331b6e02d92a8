import { type Bytes, text } from '../src/kernel/bytes.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { StepSettings } from '../src/kernel/traffic-log.js'
import { urlText } from '../src/report/describe.js'
import {
  type RunLifecycle,
  type RunLifecycleState,
  runsOf,
  type StepLifecycle,
  type StepState,
} from '../src/report/run-lifecycles.js'
import { runText } from '../src/report/run-text.js'
import { plainText } from '../src/report/safe-text.js'
import { causeOf, eventHints, missingStep, missingWorkflow, noRunHints } from './failure/run-hints.js'
import { literal } from './literal.js'
import { testOf } from './near-misses.js'
import {
  amountField,
  anyField,
  checkPattern,
  type FieldsOf,
  flowControlField,
  numberField,
  optional,
  stepsField,
  textField,
  urlField,
  wordField,
} from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import type { CountRange } from './range.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Fields of one step in a list of steps. */
export interface WorkflowStepItem {
  /** Name of the step in the code of the workflow. */
  readonly name?: Text
  /** Type of the step, such as `Run`, `SleepFor`, `Call` or `Wait`. */
  readonly type?: Text
  /** State of the step. `planned`: it will run in parallel with others. `waiting`: it waits for an event. */
  readonly state?: Or<StepState>
  /** Number of delivery attempts in which the step ran. */
  readonly attempts?: Or<number>
  /**
   * Value that the workflow's code gets from the step: its return value, the data of the event, or the response of the
   * call.
   */
  readonly result?: unknown
  /** Maximum number of retries that the step sets itself. `undefined` matches steps without a setting of their own. */
  readonly retries?: Or<number> | undefined
  /** Retry-delay expression that the step sets itself. `undefined` matches steps without a setting of their own. */
  readonly retryDelay?: Text | undefined
  /**
   * Flow control that the step sets itself; `period` in seconds. `undefined` matches steps without a setting of their
   * own.
   */
  readonly flowControl?: Or<StepFlowControl> | undefined
}

/** Some fields of the flow control of a step. `period` is the rate period in seconds. */
export interface StepFlowControl {
  /** Flow-control key. */
  readonly key?: Text
  /** Maximum number of deliveries in flight. `undefined` matches steps without this limit. */
  readonly parallelism?: Or<number> | undefined
  /** Maximum number of deliveries per period. `undefined` matches steps without this limit. */
  readonly rate?: Or<number> | undefined
  /** Length of a period in seconds. */
  readonly period?: Or<number>
}

/** Fields of a workflow run. All fields in the pattern must match. */
export interface WorkflowRunPattern {
  /** URL of the workflow; `*` matches any characters. */
  readonly workflow?: Text
  /** ID of the workflow run, `wfr_…`. */
  readonly runId?: Text
  /** State of the run: `started` until it ends, then how it ended. */
  readonly state?: Or<RunLifecycleState>
  /**
   * Steps of the run, in order: their names, or partial steps `[{ name: 'charge', attempts: 2 }]`. Or the number of
   * finished steps: a number, or a range such as `'<=800'`.
   */
  readonly steps?: Or<readonly (string | WorkflowStepItem)[]> | CountRange
  /** Bytes of the payload and of the results of all finished steps: a number, or a range such as `'<=50000000'`. */
  readonly contextBytes?: Or<number> | CountRange
  /** Value that the workflow's code returned. */
  readonly result?: unknown
  /** Billed messages of the run: 1 per step, 2 per `context.call()`, 1 more per parallel step, and 1 per retry. */
  readonly cost?: Or<number>
}

/** Fields of a step of a workflow run. */
export interface WorkflowStepPattern extends Omit<WorkflowStepItem, 'name'> {
  /** URL of the workflow; `*` matches any characters. */
  readonly workflow?: Text
  /** ID of the workflow run, `wfr_…`. */
  readonly runId?: Text
}

/** Fields of a step that waits, or has waited, for an event. */
export interface WorkflowWaitPattern {
  /** Name of the step. */
  readonly step?: Text
  /** URL of the workflow; `*` matches any characters. */
  readonly workflow?: Text
  /** ID of the workflow run, `wfr_…`. */
  readonly runId?: Text
  /** How the wait ended: `received` or `timed-out`. `waiting` if it has not ended. */
  readonly outcome?: Or<WaitOutcome>
  /** Data of the event that ended the wait. */
  readonly data?: unknown
}

export type WaitOutcome = 'received' | 'timed-out' | 'waiting'

const runStates: readonly RunLifecycleState[] = ['started', 'success', 'failed', 'canceled']
const stepStates: readonly StepState[] = ['done', 'planned', 'waiting', 'running', 'failed']

interface Thing {
  readonly run: RunLifecycle
}

interface StepThing extends Thing {
  readonly step: StepLook
}

interface RunThing extends Thing {
  readonly result: unknown
}

/** The fields of a step that are compared. A failed step has no entry, so its fields come from the failed attempt. */
interface StepLook {
  readonly name: string
  readonly type: string
  readonly state: StepState
  readonly attempts: number
  readonly result: unknown
  readonly settings: StepSettings | undefined
  readonly seq: number
  readonly at: number
}

const ofRun = {
  workflow: urlField(({ run }: Thing) => run.url),
  runId: textField(({ run }: Thing) => run.id),
}

const runFields: FieldsOf<WorkflowRunPattern, RunThing> = {
  ...ofRun,
  state: wordField(runStates, ({ run }) => run.state),
  steps: stepsField(({ run }) =>
    looksOf(run).map(({ name, type, state, attempts, result, settings }) => {
      return { name, type, state, attempts, result, ...settings }
    }),
  ),
  contextBytes: amountField(({ run }) => run.contextBytes),
  result: anyField(({ result }) => result),
  cost: numberField(({ run }) => run.cost),
}

const stepFields: FieldsOf<WorkflowStepPattern & { readonly name: Text }, StepThing> = {
  name: textField(({ step }) => step.name),
  ...ofRun,
  type: textField(({ step }) => step.type),
  state: wordField(stepStates, ({ step }) => step.state),
  attempts: numberField(({ step }) => step.attempts),
  result: anyField(({ step }) => step.result),
  retries: optional(numberField(({ step }) => step.settings?.retries)),
  retryDelay: optional(textField(({ step }) => step.settings?.retryDelay)),
  flowControl: flowControlField(({ step }) => step.settings?.flowControl),
}

interface WaitThing extends Thing {
  readonly step: StepLifecycle
}

const waitFields: FieldsOf<WorkflowWaitPattern & { readonly event: Text }, WaitThing> = {
  event: textField(({ step }) => step.wait!.entry.eventId),
  step: textField(({ step }) => step.name),
  ...ofRun,
  outcome: wordField(['received', 'timed-out', 'waiting'], ({ step }) => outcomeOf(step)),
  data: optional(anyField(({ step }) => step.result)),
}

/** Searches workflow runs. */
export function hasRun(received: unknown, pattern: WorkflowRunPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveWorkflowRun'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkPattern(matcher, pattern, runFields)
  return search({
    matcher,
    call: given([], pattern, options),
    evidence,
    things: () => runsOf(evidence.entries).map((run) => ({ run, result: resultOf(run, evidence) })),
    test: testOf(runFields, pattern),
    candidate: ({ run }) => ({ ...stampOf(run.start), title: runTitle(run, evidence) }),
    times: timesOf(matcher, options),
    noun: ['workflow run', 'workflow runs'],
    hints: (nearest) => {
      const runs = runsOf(evidence.entries)
      if (runs.length === 0) return noRunHints(evidence)
      const [near] = nearest
      const isElsewhere = near?.compared.some(({ name, differences }) => name === 'state' && differences.length > 0)
      const cause = isElsewhere ? causeOf(near!.thing.run, evidence) : undefined
      return [...missingWorkflow(pattern.workflow, runs, evidence), ...(cause === undefined ? [] : [`${cause}.`])]
    },
    story: (thing) => stories(evidence, thing?.run),
  })
}

/** Searches steps of workflow runs by name. */
export function hasStep(
  received: unknown,
  name: Text,
  pattern: WorkflowStepPattern = {},
  options?: MatchOptions,
): Verdict {
  const matcher = 'toHaveWorkflowStep'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkName(matcher, name, 'the name of the step', "'charge'")
  checkPattern(matcher, pattern, withoutField(stepFields, 'name'))
  const things = (): StepThing[] =>
    runsOf(evidence.entries).flatMap((run) => looksOf(run).map((step) => ({ run, step })))
  return search({
    matcher,
    call: given([name], pattern, options),
    evidence,
    things,
    test: testOf(stepFields, { name, ...pattern }),
    candidate: ({ run, step }) => ({
      seq: step.seq,
      at: step.at,
      title: `step ${plainText(literal(step.name))} of ${runTitle(run, evidence)}`,
    }),
    times: timesOf(matcher, options),
    noun: ['workflow step', 'workflow steps'],
    hints: () => {
      const runs = runsOf(evidence.entries)
      if (runs.length === 0) return noRunHints(evidence)
      const names = things().map(({ step }) => step.name)
      return [...missingWorkflow(pattern.workflow, runs, evidence), ...missingStep(name, runs, names, evidence)]
    },
    story: (thing) => stories(evidence, thing?.run, thing?.step.seq),
  })
}

/** Searches steps that wait, or have waited, for an event. */
export function hasWaitedFor(
  received: unknown,
  event: Text,
  pattern: WorkflowWaitPattern = {},
  options?: MatchOptions,
): Verdict {
  const matcher = 'toHaveWorkflowWait'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkName(matcher, event, 'the ID of the event', "'approved'")
  checkPattern(matcher, pattern, withoutField(waitFields, 'event'))
  const things = (): WaitThing[] =>
    runsOf(evidence.entries).flatMap((run) =>
      run.steps.filter(({ wait }) => wait !== undefined).map((step) => ({ run, step })),
    )
  return search({
    matcher,
    call: given([event], pattern, options),
    evidence,
    things,
    test: testOf(waitFields, { event, ...pattern }),
    candidate: ({ run, step }) => ({
      ...stampOf(step.wait!.entry),
      title: `event ${plainText(literal(step.wait!.entry.eventId))}, step ${plainText(literal(step.name))} of ${runTitle(run, evidence)}`,
    }),
    times: timesOf(matcher, options),
    noun: ['workflow wait', 'workflow waits'],
    hints: () => {
      const runs = runsOf(evidence.entries)
      if (runs.length === 0) return noRunHints(evidence)
      const waits = things().map(({ step }) => step)
      return [...missingWorkflow(pattern.workflow, runs, evidence), ...eventHints(event, waits, evidence)]
    },
    story: (thing) => stories(evidence, thing?.run, thing?.step.pointer.seq),
  })
}

/** Returns the steps that were submitted. If the run fails at a step, that step was not submitted, so it is added. */
function looksOf(run: RunLifecycle): StepLook[] {
  const looks = run.steps.map(({ name, type, state, attempts, result, settings, pointer: { seq, at } }): StepLook => {
    return { name, type, state, attempts: attempts.length, result, settings, seq, at }
  })
  const { failing } = run
  if (failing?.step === undefined || run.steps.some(({ name, done }) => name === failing.step && done === undefined))
    return looks
  const { attempt } = failing
  const attempts = run.attemptsOf(attempt.messageId).length
  const state = attempt.outcome?.state === 'FAILED' ? 'failed' : 'running'
  const settings = run.publishedOf(attempt.messageId)?.stepSettings
  const { seq, at } = attempt
  return [...looks, { name: failing.step, type: 'Run', state, attempts, result: undefined, settings, seq, at }]
}

function outcomeOf(step: StepLifecycle): WaitOutcome {
  if (step.timedOut) return 'timed-out'
  return step.state === 'done' || step.wait?.notified !== undefined ? 'received' : 'waiting'
}

/** Returns the result of a run. The endpoint sent it as the body of the request that ended the run. */
function resultOf({ end }: RunLifecycle, evidence: MatcherInput): unknown {
  if (end?.state !== 'RUN_SUCCESS') return undefined
  const request = evidence.entries.find(({ seq }) => seq === end.cause)
  const body = request?.type === 'request' ? (request.body as Bytes | undefined) : undefined
  if (body === undefined || body === '') return undefined
  return parsedJson(text(body)) ?? (body === 'null' ? null : text(body))
}

const maxRuns = 5

/** Formats all runs with their steps. The run that the failure is about comes first. */
function stories(evidence: MatcherInput, first: RunLifecycle | undefined, focus?: number): string {
  const runs = runsOf(evidence.entries)
  if (runs.length === 0) return '(no workflow has run)'
  const ordered = runs.toSorted((one, other) => Number(other.id === first?.id) - Number(one.id === first?.id))
  const told = ordered.slice(0, maxRuns).map((run) => runText(run, evidence.redaction, focus))
  if (runs.length > maxRuns) told.push(`… and ${runs.length - maxRuns} more runs`)
  return told.join('\n\n')
}

function runTitle(run: RunLifecycle, { redaction }: MatcherInput): string {
  return `run ${plainText(run.id)} of ${urlText(run.url, redaction)}`
}

function stampOf({ seq, at }: { readonly seq: number; readonly at: number }): { seq: number; at: number } {
  return { seq, at }
}

function checkName(matcher: string, name: unknown, what: string, example: string): void {
  if ((typeof name === 'string' && name !== '') || name instanceof RegExp || isAsymmetricText(name)) return
  throw new TypeError(
    `${matcher}(): ${what} must be a text or a regular expression (got ${literal(name)}). Write for example ${matcher}(${example}).`,
  )
}

function isAsymmetricText(name: unknown): boolean {
  return typeof (name as { asymmetricMatch?: unknown } | null)?.asymmetricMatch === 'function'
}

function withoutField<F extends object, N extends keyof F>(fields: F, name: N): Omit<F, N> {
  const { [name]: _, ...others } = fields
  return others
}

function given(first: readonly unknown[], pattern: object, options: MatchOptions | undefined): readonly unknown[] {
  if (options?.times !== undefined) return [...first, pattern, options]
  return Object.keys(pattern).length === 0 ? first : [...first, pattern]
}
