import * as v from 'valibot'
import { fromBase64 } from '../kernel/bytes.js'
import { isHeader } from '../kernel/http.js'
import { instant } from '../kernel/instant.js'
import type { RunHistory, RunHistoryEntry } from './run-history.js'
import { readStep, type StepBody } from './step.js'

// Run histories that are read from files. All data in them is untrusted.

/** Error for input that is not a workflow run. Its message states which input is accepted. */
export class RunHistoryError extends TypeError {
  /** Name of the class, for code that cannot use `instanceof`. */
  override readonly name = 'RunHistoryError'
}

export const logHint: string = 'GET /v2/workflows/logs?workflowRunId=ID'
export const listHint: string = 'GET /v2/workflows/runs/ID'

export const whatToGive: string = `Use the response of ${listHint} while the run lasts, or of ${logHint}.`

export type UnknownRecord = Readonly<Record<string, unknown>>

export function isObject(given: unknown): given is UnknownRecord {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

export function kindOf(given: unknown): string {
  return given === null ? 'null' : Array.isArray(given) ? 'a list' : `a ${typeof given}`
}

export function fieldsOf(given: object): string {
  return Object.keys(given).slice(0, 8).join(', ').slice(0, 200) || 'none'
}

export function isEndpoint(url: unknown): boolean {
  return typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url)
}

export function shown(given: unknown): string {
  return typeof given === 'string' ? JSON.stringify(given.slice(0, 100)) : kindOf(given)
}

/** The latest time that a JavaScript `Date` can represent, in milliseconds since the epoch. */
const lastTime = 8.64e15

export function timeOf(given: number | string | undefined): number | undefined {
  const time = typeof given === 'string' ? parsedTime(given) : given
  return time !== undefined && time >= 0 && time <= lastTime ? Math.trunc(time) : undefined
}

function parsedTime(given: string): number | undefined {
  try {
    return instant(given)
  } catch {
    return undefined
  }
}

export function someOf(all: readonly string[]): string {
  return all.length <= 8 ? all.join(', ') : `${all.slice(0, 8).join(', ')} and ${all.length - 8} more`
}

const rawEntry = v.object({
  messageId: v.string(),
  // An entry without a body has an empty payload.
  body: v.nullish(v.string(), ''),
  callType: v.string(),
  unknown: v.optional(v.picklist(['redacted', 'truncated', 'omitted', 'maybe-undefined'])),
})

export function entryOf(given: unknown, at: number): RunHistoryEntry {
  const read = v.safeParse(rawEntry, isObject(given) ? given : undefined)
  const what = `Entry ${at + 1} of the list`
  if (!read.success)
    throw new RunHistoryError(
      `${what} must be { messageId, body, callType }${isObject(given) ? ` (its fields are ${fieldsOf(given)})` : ''}. ${whatToGive}`,
    )
  const { unknown, ...entry } = read.output
  const body = fromBase64(entry.body ?? '')
  if (body === undefined && !/REDACTED/.test(entry.body ?? ''))
    throw new RunHistoryError(`${what} has a body that is not base64. ${whatToGive}`)
  const isUnread = at > 0 && entry.callType === 'step' && (body === undefined || readStep(body) === undefined)
  const is = isUnread ? 'truncated' : body === undefined ? 'redacted' : unknown
  return {
    messageId: entry.messageId,
    body: body === undefined ? '' : (entry.body ?? ''),
    callType: entry.callType,
    ...(is !== undefined && { unknown: is }),
  }
}

const identity = v.object({
  stepId: v.number(),
  stepName: v.string(),
  stepType: v.string(),
  concurrent: v.number(),
})
const historyShape = v.object({
  format: v.literal('stuntdouble/history'),
  version: v.literal(1),
  url: v.pipe(
    v.string(),
    v.check((url) => isEndpoint(url)),
  ),
  runId: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,500}$/)),
  createdAt: v.optional(
    v.pipe(
      v.number(),
      v.check((time) => timeOf(time) !== undefined),
    ),
  ),
  headers: v.optional(v.record(v.string(), v.string())),
  state: v.string(),
  entries: v.pipe(v.array(v.unknown()), v.minLength(1)),
  open: v.optional(identity),
  missing: v.optional(v.array(v.string())),
})

/**
 * Validates a run history that was read from a file.
 * @throws RunHistoryError when the value is not a run history, or has a version that this package does not support
 */
export function checkedHistory(given: unknown): RunHistory {
  if (!isObject(given) || given.format !== 'stuntdouble/history')
    throw new RunHistoryError(`This is not a run history. ${howToGet}`)
  if (given.version !== 1)
    throw new RunHistoryError(
      `This run history has version ${shown(given.version === undefined ? 'none' : String(given.version))}, but this package supports version 1. Update the package, or create the run history again.`,
    )
  const read = v.safeParse(historyShape, given)
  if (!read.success) {
    const [issue] = read.issues
    throw new RunHistoryError(
      `This run history is invalid at ${v.getDotPath(issue)?.slice(0, 100) ?? 'its top level'}: ${issue.message.slice(0, 200)}. ${howToGet}`,
    )
  }
  for (const [name, value] of Object.entries(read.output.headers ?? {})) {
    if (!isHeader(name, value)) throw new RunHistoryError(`This run history has an invalid header: ${shown(name)}.`)
  }
  return { ...read.output, entries: read.output.entries.map(entryOf) } as RunHistory
}

const howToGet =
  'Create one with sandbox.workflow.getRun(runId).history(), parseRunHistory(json, { url }), or `npx stuntdouble history`.'

/**
 * Returns the step in an entry. Returns `undefined` for the payload, for requests to third parties, and for entries
 * that cannot be parsed.
 */
export function stepOfEntry({ body, callType }: RunHistoryEntry, at: number): StepBody | undefined {
  if (at === 0 || callType !== 'step') return undefined
  const bytes = fromBase64(body)
  return bytes === undefined ? undefined : readStep(bytes)
}
