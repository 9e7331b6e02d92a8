import * as v from 'valibot'
import { type Bytes, toBase64, utf8 } from '../kernel/bytes.js'
import { parsedJson } from '../kernel/parsed-json.js'
import { someOf } from './history-file.js'
import type { RunHistoryEntry, StepIdentity, Unknown } from './run-history.js'

type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** Fields of a step in the log. */
export interface LoggedStep {
  readonly stepId?: number | undefined
  readonly stepName?: string | undefined
  readonly stepType?: string | undefined
  readonly messageId?: string | undefined
  readonly concurrent?: number | undefined
  readonly state?: string | undefined
  readonly out?: string | undefined
  readonly headers?: HeaderValues | undefined
  readonly sleepFor?: string | number | undefined
  readonly sleepUntil?: string | number | undefined
  readonly waitEventId?: string | undefined
  readonly waitTimeoutDuration?: string | undefined
  readonly waitTimeout?: boolean | undefined
  readonly callResponseStatus?: number | undefined
  readonly callResponseBody?: string | undefined
  readonly callResponseHeaders?: HeaderValues | undefined
}

/**
 * Returns a schema that accepts every value. A value of another type becomes `undefined`, as if the log did not contain
 * the field.
 */
const shownAs = <T>(schema: v.GenericSchema<T>): v.GenericSchema<unknown, T | undefined> =>
  v.fallback(v.optional(schema), undefined) as v.GenericSchema<unknown, T | undefined>
const [texts, numbers, headers] = [
  shownAs(v.string()),
  shownAs(v.number()),
  shownAs(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
]
const span = shownAs(v.union([v.string(), v.number()]))
const loggedStep = v.object({
  stepId: numbers,
  stepName: texts,
  stepType: texts,
  messageId: texts,
  concurrent: numbers,
  state: texts,
  out: texts,
  headers,
  sleepFor: span,
  sleepUntil: span,
  waitEventId: texts,
  waitTimeoutDuration: texts,
  waitTimeout: shownAs(v.boolean()),
  callResponseStatus: numbers,
  callResponseBody: texts,
  callResponseHeaders: headers,
})
const loggedGroup = v.object({ type: v.optional(v.string(), ''), steps: v.array(loggedStep) })

export interface StepGroup {
  readonly type: string
  readonly steps: readonly LoggedStep[]
}

/** Returns the groups of steps in a run's log. A group that cannot be parsed has no steps. */
export function groupsIn(steps: unknown): StepGroup[] {
  if (!Array.isArray(steps)) return []
  return steps.map((group: unknown) => {
    const read = v.safeParse(loggedGroup, group)
    return read.success ? read.output : { type: unreadable, steps: [] }
  })
}

const unreadable = 'unreadable'

/** Types of steps whose result is never `undefined`. */
export const alwaysDefined: ReadonlySet<string> = new Set([
  'Call',
  'Notify',
  'CreateWebhook',
  'Invoke',
  'WaitForWebhook',
])

export function isDone({ state, waitTimeout, out }: LoggedStep): boolean {
  return state === 'STEP_SUCCESS' || waitTimeout === true || (state === undefined && out !== undefined)
}

/** Types of steps that the endpoint submits when they begin. So the list contains them before they end. */
const sleeps: ReadonlySet<string> = new Set(['SleepFor', 'SleepUntil'])

/** The list of a run's entries, which this class reconstructs step by step from the log. */
export class RebuiltRunLog {
  readonly entries: RunHistoryEntry[] = []
  open: StepIdentity | undefined
  readonly #isEmptied: boolean
  readonly #unknown = new Map<Unknown, string[]>()
  #end: string | undefined
  #next = 1

  constructor(isEmptied: boolean) {
    this.#isEmptied = isEmptied
  }

  begin(init: LoggedStep | undefined): void {
    const { out, messageId = 'msg_0' } = init ?? {}
    this.#push(messageId, utf8(out ?? ''), this.#doubt('the payload', out, opensJson(out)))
  }

  /**
   * Adds the steps of a group.
   * @returns whether more groups can be added after this one
   */
  add({ type, steps }: StepGroup): boolean {
    const [first] = steps
    const count = Math.max(1, first?.concurrent ?? steps.length)
    const numbered = steps
      .map((step, at) => ({ ...step, stepId: step.stepId ?? this.#next + at }))
      .sort((one, other) => one.stepId - other.stepId)
    const isSound =
      type !== unreadable &&
      numbered.length === count &&
      numbered.every(({ stepId, stepName, stepType }, at) => {
        return stepId === this.#next + at && stepName !== undefined && stepType !== undefined
      })
    // A step without a result must be the last step of its run.
    if (!isSound || this.open !== undefined) {
      this.#end = `step ${this.#next}`
      return false
    }
    this.#next += count
    if (count === 1) this.#single(numbered[0]!)
    else this.#parallel(numbered, count)
    return true
  }

  #single(step: LoggedStep): void {
    const identity = identityOf(step, 1)
    if (isDone(step) || sleeps.has(identity.stepType)) this.#result(step, identity)
    else this.open = identity
  }

  /**
   * Adds parallel steps: first all plans, then all results. The log does not contain the original order, but the order
   * has no effect on the code.
   */
  #parallel(steps: readonly LoggedStep[], count: number): void {
    for (const step of steps) {
      const { stepId, ...plan } = identityOf(step, count)
      const { sleepFor, sleepUntil, waitEventId, waitTimeoutDuration: timeout } = step
      const more = { sleepFor, sleepUntil, waitEventId, timeout }
      this.#push(`${step.messageId ?? `msg_${stepId}`}_plan`, json({ stepId: 0, ...plan, targetStep: stepId, ...more }))
    }
    for (const step of steps) if (isDone(step)) this.#result(step, identityOf(step, count))
  }

  #result(step: LoggedStep, identity: StepIdentity): void {
    const { sleepFor, sleepUntil, waitEventId, waitTimeout } = step
    const written = { ...identity, sleepFor, sleepUntil, waitEventId, ...(waitTimeout === true && { waitTimeout }) }
    const name = `${identity.stepId} ${JSON.stringify(identity.stepName.slice(0, 80))}`
    const { out, unknown } = this.#out(step, identity.stepType, name)
    this.#push(step.messageId ?? `msg_${identity.stepId}`, json({ ...written, out }), unknown)
  }

  /** Returns the result of a step, in the form in which a step of its type submits it. */
  #out(
    step: LoggedStep,
    type: string,
    name: string,
  ): { readonly out?: string | undefined; readonly unknown?: Unknown | undefined } {
    const { out, waitTimeout } = step
    const what = `step ${name}`
    if (sleeps.has(type) || waitTimeout === true) return {}
    if (type === 'Call' && (out === undefined || parsedJson(out) === undefined)) return this.#called(step, what)
    if (type === 'Wait' || type === 'WaitForWebhook') {
      const unknown = this.#doubt(what, out, opensJson(out) || type === 'WaitForWebhook')
      return { out: out === undefined ? undefined : toBase64(utf8(out)), unknown }
    }
    if (out === undefined && alwaysDefined.has(type)) return { unknown: this.#tell('omitted', what) }
    return { out, unknown: this.#doubt(what, out, true) }
  }

  /** Reconstructs the result of a call from the third party's response in the log. */
  #called(
    { callResponseStatus: status, callResponseBody: body, callResponseHeaders: header, out }: LoggedStep,
    what: string,
  ) {
    const isHidden = [out, body].some((one) => one !== undefined && isRedacted(one))
    if (status === undefined || body === undefined || isHidden)
      return { unknown: this.#tell(isHidden ? 'redacted' : out === undefined ? 'omitted' : 'truncated', what) }
    // A truncated JSON body is recognized. Other truncated bodies cannot be recognized.
    const unknown = opensJson(body) && parsedJson(body) === undefined ? this.#tell('truncated', what) : undefined
    return { out: JSON.stringify({ status, body, header: header ?? {} }), unknown }
  }

  /** Returns why the logged value may differ from the value that the app had. Returns `undefined` if both are equal. */
  #doubt(what: string, out: string | undefined, isOfJson: boolean): Unknown | undefined {
    if (out === undefined) return this.#tell(this.#isEmptied ? 'omitted' : 'maybe-undefined', what)
    if (isRedacted(out)) return this.#tell('redacted', what)
    return isOfJson && parsedJson(out) === undefined ? this.#tell('truncated', what) : undefined
  }

  #tell(unknown: Unknown, what: string): Unknown {
    const known = this.#unknown.get(unknown)
    if (known === undefined) this.#unknown.set(unknown, [what])
    else known.push(what)
    return unknown
  }

  #push(messageId: string, body: Bytes, unknown?: Unknown): void {
    this.entries.push({ messageId, body: toBase64(body), callType: 'step', ...(unknown !== undefined && { unknown }) })
  }

  missing(): string[] {
    const sentences = [...this.#unknown].map(([unknown, whose]) => `${sentenceOf[unknown]}: ${someOf(whose)}.`)
    if (this.#end !== undefined)
      sentences.push(`The log is incomplete: the list cannot be rebuilt from ${this.#end} on.`)
    return sentences
  }
}

const sentenceOf: Readonly<Record<Unknown, string>> = {
  redacted: 'Redacted; code that depends on these values cannot be checked',
  truncated: 'Truncated; code that depends on these values cannot be checked (request the log without trimBody)',
  omitted: 'Not in the log; code that depends on these values cannot be checked (request the log without trimBody)',
  'maybe-undefined': 'No value in the log, so treated as undefined',
}

function identityOf({ stepId, stepName, stepType }: LoggedStep, concurrent: number): StepIdentity {
  return { stepId: stepId!, stepName: stepName!, stepType: stepType!, concurrent }
}

function json(value: object): Bytes {
  return utf8(JSON.stringify(value))
}

function isRedacted(out: string): boolean {
  return /^"?REDACTED:/.test(out)
}

/**
 * Returns whether a text begins like a JSON string, array or object. Events and payloads may also be text that is not
 * JSON.
 */
function opensJson(out: string | undefined): boolean {
  return out !== undefined && /^\s*["[{]/.test(out)
}
