import { type Bytes, text, toBase64, utf8 } from '../kernel/bytes.js'

/** Types of steps, in the spelling of the SDK. [workflow.md 5 to 9] */
export type StepType =
  | 'Initial'
  | 'Run'
  | 'SleepFor'
  | 'SleepUntil'
  | 'Call'
  | 'Wait'
  | 'WaitForWebhook'
  | 'Notify'
  | 'CreateWebhook'
  | 'Invoke'

/**
 * A step as the SDK submits it. A step with `targetStep` is the plan of a parallel step, and any other step is
 * finished. [workflow.md 5]
 */
export interface StepBody {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  /** Number of steps that run in parallel, including this one. */
  readonly concurrent: number
  /** ID that the result of the step will have. Only a plan has it. */
  readonly targetStep?: number | undefined
  readonly out?: unknown
  readonly sleepFor?: string | number | undefined
  readonly sleepUntil?: string | number | undefined
  readonly waitEventId?: string | undefined
  readonly timeout?: string | undefined
  readonly waitTimeout?: boolean | undefined
}

/** Names and types of the known fields of a step. Other fields are kept unchanged. */
const fields: readonly (readonly [keyof StepBody, types: readonly string[]])[] = [
  ['stepId', ['number']],
  ['stepName', ['string']],
  ['stepType', ['string']],
  ['concurrent', ['number']],
  ['targetStep', ['number', 'undefined']],
  ['sleepFor', ['string', 'number', 'undefined']],
  ['sleepUntil', ['string', 'number', 'undefined']],
  ['waitEventId', ['string', 'undefined']],
  ['timeout', ['string', 'undefined']],
  ['waitTimeout', ['boolean', 'undefined']],
]

/**
 * Parses a step that was submitted. Returns `undefined` if the body is not a step: no error is needed, because the SDK
 * reports it later.
 */
export function readStep(body: Bytes): StepBody | undefined {
  try {
    return checkedStep(JSON.parse(text(body)))
  } catch {
    return undefined
  }
}

export function checkedStep(given: unknown): StepBody | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const step = given as StepBody
  if (step.concurrent === undefined || step.concurrent === null) return checkedStep({ ...step, concurrent: 1 })
  return fields.every(([name, types]) => types.includes(typeof step[name])) ? step : undefined
}

export function writtenStep(step: object): Bytes {
  return utf8(JSON.stringify(step))
}

/** Number of bytes of a step's result, as its endpoint submitted it. */
export function resultSize({ out }: StepBody): number {
  if (out === undefined || out === null) return 0
  return utf8(typeof out === 'string' ? out : JSON.stringify(out)).length
}

/**
 * Kind of an entry in the list of a run: a step, a call to a third party, the callback of a call, or settings of the
 * next step.
 */
export type CallType = 'step' | 'toCallback' | 'fromCallback' | 'stepConfig'

/** Returns an entry as JSON, as the list in a delivery contains it. [workflow.md 3.1] */
export function rawStep(messageId: string, body: Bytes, callType: CallType): string {
  return `{"messageId":"${messageId}","body":"${toBase64(body)}","callType":"${callType}"}`
}
