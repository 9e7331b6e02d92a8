import { type Bytes, toBase64 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import { isSecretName } from '../secrets/secret-names.js'
import { hidden } from '../secrets/secret-shapes.js'
import { SecretTexts } from '../secrets/texts.js'
import { readStep, writtenStep } from './step.js'
import type { WorkflowRunState } from './workflow-run.js'

/** Why an entry lacks the value that the app had: redacted, truncated, omitted, or perhaps just undefined. */
export type Unknown = 'redacted' | 'truncated' | 'omitted' | 'maybe-undefined'

/** One entry of the list of a run, as `GET /v2/workflows/runs/{id}` returns it. */
export interface RunHistoryEntry {
  readonly messageId: string
  /** Submitted body in base64. */
  readonly body: string
  readonly callType: string
  /** Set if the value, the result of a step or the payload, is not in the run history. */
  readonly unknown?: Unknown
}

/** Fields that identify a step, independent of its result. */
export interface StepIdentity {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  /** Of one of several planned steps: the ID that its result will have. */
  readonly targetStep?: number | undefined
}

/** What a run has done so far, as plain JSON. It can be replayed against another version of the code. */
export interface RunHistory {
  readonly format: 'stuntdouble/history'
  readonly version: 1
  readonly url: string
  readonly runId: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt?: number
  /** Headers that the trigger forwarded. Values that look like secrets are hidden. */
  readonly headers?: Readonly<Record<string, string>>
  /** State of the run. With `RUN_SUCCESS` the entries lead to its end. */
  readonly state: string
  /** Entries of the list. The first one is the payload. */
  readonly entries: readonly RunHistoryEntry[]
  /** Step that has begun and has no entry yet: a wait, a call, or an invocation. */
  readonly open?: StepIdentity
  /** One message for each thing that is missing, and how to provide it. */
  readonly missing?: readonly string[]
}

/** Options of `run.history()`. */
export interface RunHistoryOptions {
  /** Includes headers that look like secrets, and what the trigger redacts. Default: false. */
  readonly secrets?: boolean
}

/** First fields of every run history. */
export const historyHead = { format: 'stuntdouble/history', version: 1 } as const

/**
 * Step types whose entry is added only after a third party, an event or another run has responded. [workflow.md 6 to
 * 9]
 */
const answeredByOthers: ReadonlySet<string> = new Set(['Call', 'Wait', 'WaitForWebhook', 'Invoke'])

export function historyOfRun(run: WorkflowRunState, { secrets = false }: RunHistoryOptions = {}): RunHistory {
  const { settings } = run.configuration
  const redact = secrets ? undefined : settings.redact
  const entries = run.entries.map(({ message: { id, body }, callType }, at): RunHistoryEntry => {
    const shown = redact?.body !== true ? body : at === 0 || callType !== 'step' ? ('' as Bytes) : withoutResult(body)
    const entry = { messageId: id, body: toBase64(shown), callType }
    return shown === body ? entry : { ...entry, unknown: 'redacted' }
  })
  const shown = shownHeaders(settings.headers, secrets, (name) =>
    redact === undefined ? false : redact.allHeaders || redact.headers.has(name),
  )
  const missing = [
    ...(entries.some(({ unknown }) => unknown !== undefined)
      ? ['The trigger redacts bodies: payload and results are missing. Set secrets to include them.']
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

/** Returns a step without its result. */
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
/** Transport headers and headers of a single delivery, which mean nothing to the app. */
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
  // Receivers check the scheme, which is not a secret.
  const scheme = /^(?:bearer|basic|digest)\s+/i.exec(value)?.[0] ?? ''
  return scheme + hidden
}

/** Returns whether a value differs from the one that the app had. */
export function isHidden(value: string): boolean {
  return value.includes(hidden) || /\bREDACTED:/.test(value)
}
