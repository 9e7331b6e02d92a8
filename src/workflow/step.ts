import { type Bytes, text, toBase64, utf8 } from '../kernel/bytes.js'

/** Kinds of steps, as the SDK names them. [workflow.md 5 to 9] */
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

/** What the SDK submits: a finished step, or with `targetStep` one of several that are planned. [workflow.md 5] */
export interface StepBody {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  /** Steps that run beside it, itself included. */
  readonly concurrent: number
  /** Set for a plan: the id that its result will have. */
  readonly targetStep?: number | undefined
  readonly out?: unknown
  readonly sleepFor?: string | number | undefined
  readonly sleepUntil?: string | number | undefined
  readonly waitEventId?: string | undefined
  readonly timeout?: string | undefined
  readonly waitTimeout?: boolean | undefined
}

/** Types of the fields that a step may have; what else it has is kept as it is. */
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

/** A submitted step; `undefined` where the body is none, which the SDK on the other side will say. */
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

/**
 * How an entry of a run's list came about: submitted, on the way to a third party and back, or the configuration of the
 * step to come.
 */
export type CallType = 'step' | 'toCallback' | 'fromCallback' | 'stepConfig'

/** One entry of the list that a delivery carries. [workflow.md 3.1] */
export function rawStep(messageId: string, body: Bytes, callType: CallType): string {
  return `{"messageId":"${messageId}","body":"${toBase64(body)}","callType":"${callType}"}`
}
