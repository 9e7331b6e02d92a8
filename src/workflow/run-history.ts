import { type Bytes, toBase64 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import { isSecretName } from '../secrets/secret-names.js'
import { hidden } from '../secrets/secret-shapes.js'
import { SecretTexts } from '../secrets/texts.js'
import { stepMessageOf } from './run-messages.js'
import { readStep, writtenStep } from './step.js'
import type { WorkflowRunState } from './workflow-run.js'

/**
 * Reason why the value in an entry may differ from the value that the app had. `maybe-undefined`: the log contains no
 * value, so the app may have had `undefined`.
 */
export type Unknown = 'redacted' | 'truncated' | 'omitted' | 'maybe-undefined'

/** One entry of a workflow run, in the form in which `GET /v2/workflows/runs/{id}` returns it. */
export interface RunHistoryEntry {
  /** ID of the message that delivers the entry, `msg_…`. */
  readonly messageId: string
  /** Body that was submitted, in base64. */
  readonly body: string
  /**
   * Kind of the entry: `step`, `toCallback` (a call to a third party), `fromCallback` (the callback of a call) or
   * `stepConfig` (settings of the next step).
   */
  readonly callType: string
  /**
   * Reason why the value of the entry is unknown. The value is the result of a step, or the payload. Absent if the
   * value is known.
   */
  readonly unknown?: Unknown
}

/** Fields that identify a step. They do not depend on its result. */
export interface StepIdentity {
  /** Number of the step in the run. A parallel step is first submitted as a plan, which has the number 0. */
  readonly stepId: number
  /** Name of the step in the code of the workflow. */
  readonly stepName: string
  /** Type of the step: `Run`, `SleepFor`, `Call`, `Wait` … */
  readonly stepType: string
  /** Number of steps that run in parallel, including this one. */
  readonly concurrent: number
  /** For the plan of a parallel step: the step ID that the result will have. */
  readonly targetStep?: number | undefined
}

/** What a run has done until now, as plain JSON. You can replay it against another version of the code. */
export interface RunHistory {
  /** Name of the file format. A run history is recognized by it. */
  readonly format: 'stuntdouble/history'
  /** Version of the file format. */
  readonly version: 1
  /** URL of the workflow, to which the steps of the run were delivered. */
  readonly url: string
  /** ID of the workflow run, `wfr_…`. */
  readonly runId: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt?: number
  /** Headers that the trigger forwarded. Values that look like secrets are hidden. */
  readonly headers?: Readonly<Record<string, string>>
  /** State of the run. If it is `RUN_SUCCESS`, no entry is missing. */
  readonly state: string
  /** Entries of the list. The first one is the payload. */
  readonly entries: readonly RunHistoryEntry[]
  /** Step that has begun but has no entry yet: a wait, a call or an invocation. Absent if there is none. */
  readonly open?: StepIdentity
  /** Messages about missing data, such as `The value of the header authorization is hidden.` */
  readonly missing?: readonly string[]
}

/** Options of `run.history()`. */
export interface RunHistoryOptions {
  /** Whether to include headers that look like secrets and texts that the trigger redacts. Default: false. */
  readonly secrets?: boolean
}

/** First fields of every run history, which identify the format. */
export const historyHead = { format: 'stuntdouble/history', version: 1 } as const

/**
 * Types of steps that get their entry only after a third party, an event or another run has provided the result.
 * [workflow.md 6 to 9]
 */
const answeredByOthers: ReadonlySet<string> = new Set(['Call', 'Wait', 'WaitForWebhook', 'Invoke'])

export function historyOfRun(run: WorkflowRunState, { secrets = false }: RunHistoryOptions = {}): RunHistory {
  const { settings } = run.configuration
  const redact = secrets ? undefined : settings.redact
  const delivered = run.entries.filter(({ message }) => !stepMessageOf(message)?.overflows)
  const entries = delivered.map(({ message: { id, body }, callType }, at): RunHistoryEntry => {
    const shown = redact?.body !== true ? body : at === 0 || callType !== 'step' ? ('' as Bytes) : withoutResult(body)
    const entry = { messageId: id, body: toBase64(shown), callType }
    return shown === body ? entry : { ...entry, unknown: 'redacted' }
  })
  const shown = shownHeaders(settings.headers, secrets, (name) =>
    redact === undefined ? false : redact.allHeaders || redact.headers.has(name),
  )
  const missing = [
    ...(entries.some(({ unknown }) => unknown !== undefined)
      ? ['The trigger redacts bodies: payload and results are missing. Set secrets: true to include them.']
      : []),
    ...shown.missing,
  ]
  const open = openStep(run)
  return {
    ...historyHead,
    url: run.url,
    runId: run.id,
    createdAt: run.createdAt,
    headers: shown.headers,
    state: run.state,
    entries,
    ...(open !== undefined && { open }),
    ...(missing.length > 0 && { missing }),
  }
}

function withoutResult(body: Bytes): Bytes {
  const step = readStep(body)
  if (step?.out === undefined) return body
  const { out: _, ...rest } = step
  return writtenStep(rest)
}

function openStep({ steps }: WorkflowRunState): StepIdentity | undefined {
  const last = steps.at(-1)
  if (last === undefined || last.result !== undefined || last.concurrent > 1) return undefined
  const { stepId, stepName, stepType, concurrent } = last
  return answeredByOthers.has(stepType) ? { stepId, stepName, stepType, concurrent } : undefined
}

const texts = new SecretTexts()
/**
 * Matches headers of a connection and headers of a single delivery. A run history omits them, because the app does not
 * use them.
 */
const ofDelivery =
  /^(?:connection|content-length|content-type|host|keep-alive|te|trailer|transfer-encoding|upgrade|accept-encoding|(?:upstash|service)-(?!label$).*)$/

/** Returns the headers that the trigger forwarded for the app, with secrets hidden. */
export function shownHeaders(
  given: HeaderList,
  secrets: boolean,
  isRedacted: (name: string) => boolean = () => false,
): { readonly headers: Readonly<Record<string, string>>; readonly missing: readonly string[] } {
  const shown = new Map<string, string>()
  const left: string[] = []
  for (const [name, value] of given) {
    const lower = name.toLowerCase()
    if (ofDelivery.test(lower)) continue
    const may = secrets ? value : isRedacted(lower) ? hidden : hiddenIn(lower, value)
    if (may !== value || isHidden(value)) left.push(lower)
    shown.set(lower, may)
  }
  const what = left.length === 1 ? 'The value of the header' : 'The values of the headers'
  const missing = left.length === 0 ? [] : [`${what} ${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} hidden.`]
  return { headers: Object.fromEntries(shown), missing }
}

function hiddenIn(name: string, value: string): string {
  if (!isSecretName(name)) return texts.text(value)
  // The scheme, such as `Bearer`, is not a secret. It stays visible, because receivers check it.
  const scheme = /^(?:bearer|basic|digest)\s+/i.exec(value)?.[0] ?? ''
  return scheme + hidden
}

/** Returns whether a part of a value is redacted, which means that the app had another value. */
export function isHidden(value: string): boolean {
  return value.includes(hidden) || /\bREDACTED:/.test(value)
}
