import { type Bytes, toBase64 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import { isSecretName } from '../secrets/secret-names.js'
import { hidden } from '../secrets/secret-shapes.js'
import { SecretTexts } from '../secrets/texts.js'
import { readStep, writtenStep } from './step.js'
import type { WorkflowRunState } from './workflow-run.js'

/** Why the value of an entry is not what the app had: hidden, cut off, not shown, or perhaps only undefined. */
export type Unknown = 'redacted' | 'truncated' | 'omitted' | 'maybe-undefined'

/** One entry of the list of a run, as `GET /v2/workflows/runs/{id}` gives it. */
export interface RunHistoryEntry {
  readonly messageId: string
  /** Base64 of what was submitted. */
  readonly body: string
  readonly callType: string
  /** Set where its value, the result of a step or the payload, is not in the history. */
  readonly unknown?: Unknown
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

/** What a run has done so far, as plain JSON: enough to ask another version of its code whether it would go on so. */
export interface RunHistory {
  readonly format: 'stuntdouble/history'
  readonly version: 1
  readonly url: string
  readonly runId: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt?: number
  /** Headers that the trigger forwarded. The values of those that look like secrets are hidden. */
  readonly headers?: Readonly<Record<string, string>>
  /** `RUN_SUCCESS`: the entries lead to the end of the run. */
  readonly state: string
  /** The first one is the payload. */
  readonly entries: readonly RunHistoryEntry[]
  /** A step that has begun and has no entry yet: a wait, a call, an invocation. */
  readonly open?: StepIdentity
  /** What is not there, and how to get it, a sentence each. */
  readonly missing?: readonly string[]
}

/** Options of `run.history()`. */
export interface RunHistoryOptions {
  /** Also what looks like a secret among the headers, and what the trigger redacts. Default false. */
  readonly secrets?: boolean
}

/** What the url, the time and the headers of a history come with. */
export const historyHead = { format: 'stuntdouble/history', version: 1 } as const

/** Steps that have no entry before somebody else has answered. [workflow.md 6 to 9] */
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
      ? ['The trigger redacts bodies: payload and results are not here. Ask for them with secrets.']
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

/** A step without what came of it. */
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
/** Headers that say nothing of the app: those of the transport, and those that each delivery has of its own. */
const ofDelivery =
  /^(?:connection|content-length|content-type|host|keep-alive|te|trailer|transfer-encoding|upgrade|accept-encoding|(?:upstash|service)-(?!label$).*)$/

/** What the trigger forwarded for the app, secrets hidden. */
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
  // Receivers look at the scheme, and it is no secret.
  const scheme = /^(?:bearer|basic|digest)\s+/i.exec(value)?.[0] ?? ''
  return scheme + hidden
}

/** Whether a value is not the one that the app had. */
export function isHidden(value: string): boolean {
  return value.includes(hidden) || /\bREDACTED:/.test(value)
}
