import { text } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { type Submission, stepsIn } from './run-delivery.js'

/** A field of a submitted step that differs when the delivery is repeated. */
export interface StepDifference {
  /** Name of the field: `sleepFor`, `header x-key`, `body` … */
  readonly field: string
  /** Value in the first submission, as text. `nothing` if the field is missing. */
  readonly first: string
  /** Value in the repeated submission, as text. `nothing` if the field is missing. */
  readonly again: string
  /** Name of the step in the first submission. */
  readonly step: string
}

/**
 * Returns the fields of the submissions that differ. The results of steps and random IDs are not compared.
 * @param before submissions of the delivery
 * @param now submissions when the same delivery was repeated
 */
export function stepDifferences(before: readonly Submission[], now: readonly Submission[]): StepDifference[] {
  const [first, again] = [before.filter(isOfStep), now.filter(isOfStep)]
  const found: StepDifference[] = []
  for (let index = 0; index < Math.max(first.length, again.length); index++) {
    const [one, two] = [first[index], again[index]]
    const step = one?.what ?? two!.what
    if (one === undefined || two === undefined) {
      found.push({ field: 'request', first: one?.what ?? 'nothing', again: two?.what ?? 'nothing', step })
      continue
    }
    const [was, is] = [fieldsOf(one), fieldsOf(two)]
    for (const field of new Set([...was.keys(), ...is.keys()]))
      if (was.get(field) !== is.get(field))
        found.push({ field, first: was.get(field) ?? 'nothing', again: is.get(field) ?? 'nothing', step })
  }
  return found
}

/**
 * Returns whether a submission is a step. A notify request is not, because the body of a Run step may send notify
 * requests too.
 */
function isOfStep({ endpoint }: Submission): boolean {
  return !endpoint.startsWith('/v2/notify/')
}

/** Fields that the code outside the steps computes. */
const stepFields = [
  'stepId',
  'stepName',
  'stepType',
  'concurrent',
  'targetStep',
  'sleepFor',
  'sleepUntil',
  'waitEventId',
  'timeout',
]
const identity = /(?:^|\] )(?:request|stepId|stepName|stepType|concurrent|targetStep)$/

/** Returns whether another step comes next. Otherwise only the content of the step differs. */
export function isNext({ field }: StepDifference): boolean {
  return identity.test(field)
}

/** Headers that are not compared, because they are random or the same in every request. */
const silentHeaders = /authorization|telemetry|user-agent|content-length|runid$|^host$/

type Fields = Map<string, string>

function fieldsOf(submission: Submission): Fields {
  const { endpoint, body, method } = submission
  const fields: Fields = new Map([['request', `${method} ${endpoint}`]])
  const parsed = parsedJson(text(body))
  if (endpoint === '/v2/batch' && Array.isArray(parsed)) {
    for (const [index, item] of parsed.entries()) {
      const name = parsed.length > 1 ? `[${index + 1}] ` : ''
      fields.set(`${name}target`, String(item.destination))
      addHeaders(fields, name, Object.entries(item.headers ?? {}))
      addBody(fields, name, item.body)
    }
    return fields
  }
  addHeaders(fields, '', submission.headers)
  if (endpoint.startsWith('/v2/wait/')) {
    const { timeout } = parsed as { timeout?: unknown }
    fields.set('timeout', String(timeout))
    for (const step of stepsIn(submission)) addStep(fields, '', step)
  } else addBody(fields, '', text(body))
  return fields
}

function addHeaders(fields: Fields, name: string, headers: HeaderList | [string, unknown][]): void {
  for (const [header, value] of headers) {
    const lower = header.toLowerCase()
    if (!silentHeaders.test(lower)) fields.set(`${name}header ${lower}`, String(value))
  }
}

function addBody(fields: Fields, name: string, body: unknown): void {
  const parsed = typeof body === 'string' ? parsedJson(body) : body
  if (isStep(parsed)) {
    addStep(fields, name, parsed)
    return
  }
  const invoked = parsed as { step?: unknown; body?: unknown } | undefined
  if (isStep(invoked?.step)) {
    addStep(fields, name, invoked.step)
    fields.set(`${name}body`, String(invoked.body))
  } else if (body !== undefined) fields.set(`${name}body`, typeof body === 'string' ? body : JSON.stringify(body))
}

function isStep(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && 'stepId' in given && 'stepName' in given
}

function addStep(fields: Fields, name: string, step: Record<string, unknown>): void {
  for (const field of stepFields) if (step[field] !== undefined) fields.set(name + field, String(step[field]))
  if (step.stepType !== 'Notify' || typeof step.out !== 'string') return
  const { eventId, eventData } = (parsedJson(step.out) ?? {}) as { eventId?: unknown; eventData?: unknown }
  fields.set(`${name}event`, `${eventId} ${JSON.stringify(eventData)}`)
}
