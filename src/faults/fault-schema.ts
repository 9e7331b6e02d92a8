import * as v from 'valibot'
import { didYouMean } from '../kernel/nearest-name.js'
import { once } from '../kernel/once.js'
import { catalog, faultKinds } from './catalog.js'
import type { Fault } from './fault.js'

// The schema of a fault and the error texts for invalid values. Rules, scripts and scenarios use both.

export interface FaultProblem {
  readonly path: readonly (string | number)[]
  readonly sentence: string
}

/** Texts for the error messages about one schema. */
export interface FaultWording {
  /** Name of the whole value in messages, such as "the rule". */
  readonly whole: string
  /** Returns the valid values of a field, and what to call one of these values, such as `fault`. */
  wordsAt(path: FaultProblem['path']): readonly [noun: string, words: readonly string[]] | undefined
  /** Returns the names of the valid fields of an object inside the value. */
  fieldsOf(owner: unknown, place: string): readonly string[]
}

export const exampleFault = "{ kind: 'status', status: 503 }"

export const faultSchema: () => v.GenericSchema<Fault> = once(() => {
  const variants = faultKinds.map((kind) => v.strictObject({ kind: v.literal(kind), ...catalog[kind].fields }))
  return v.pipe(
    v.variant('kind', variants as never, `must be an object such as ${exampleFault}`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const problem = oddFault(dataset.value as Fault)
      if (problem !== undefined) addIssue({ message: problem })
    }),
  ) as v.GenericSchema<Fault>
})

/** Returns a message if fields contradict each other although each is valid, otherwise `undefined`. */
export function oddFault(fault: Fault): string | undefined {
  return catalog[fault.kind].odd?.(fault as never)
}

export function faultProblems(value: unknown): readonly FaultProblem[] {
  return problemsWith(faultSchema(), value, `a fault must be an object such as ${exampleFault}`, faultWording)
}

/** Returns the fields of a fault of this kind, or `undefined` if the value is not a fault. */
export function fieldsOfFault(owner: unknown): readonly string[] | undefined {
  const kind = (owner as { kind?: unknown } | undefined)?.kind
  return typeof kind === 'string' && Object.hasOwn(catalog, kind)
    ? Object.keys(catalog[kind as Fault['kind']].fields)
    : undefined
}

export function nestedFields(place: string): readonly string[] {
  return place.endsWith('retryAfter') ? ['form', 'waitMs'] : []
}

export const faultWording: FaultWording = {
  whole: 'the fault',
  wordsAt: (path) => (path.at(-1) === 'kind' ? ['fault', faultKinds] : undefined),
  fieldsOf: (owner, place) => fieldsOfFault(owner) ?? nestedFields(place),
}

/**
 * Maximum number of problems that a check reports. A list of a thousand invalid rules would otherwise have a thousand
 * problems.
 */
const maxProblems = 20

/**
 * Returns the problems that a schema finds in a value, in the order of its fields.
 * @param what start of the message for a value that is not an object
 */
export function problemsWith(
  schema: v.GenericSchema,
  value: unknown,
  what: string,
  words: FaultWording,
): readonly FaultProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path: [], sentence: `${what} (got ${shown(value)}).` }]
  }
  const result = v.safeParse(schema, value)
  if (result.success) return []
  // A misspelled field is also reported as missing.
  // The unknown name comes first, because its message suggests the correct name.
  const unknown = result.issues.filter(isUnknownField)
  const others = result.issues.filter((issue) => !isUnknownField(issue))
  return [...unknown, ...others].slice(0, maxProblems).map((issue) => problem(issue, words))
}

function isUnknownField({ type, expected }: v.BaseIssue<unknown>): boolean {
  return type === 'strict_object' && expected === 'never'
}

function problem(issue: v.BaseIssue<unknown>, dialect: FaultWording): FaultProblem {
  // `on` is a point or a list of points. An issue of an item of the list says more than the issue of the whole value.
  const inner = issue.type === 'union' ? issue.issues?.find((other) => other.path !== undefined) : undefined
  if (inner !== undefined) {
    const path = [...(issue.path ?? []), ...(inner.path ?? [])]
    return problem({ ...inner, path } as v.BaseIssue<unknown>, dialect)
  }
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const place = path.length === 0 ? dialect.whole : placeOf(path)
  if (isUnknownField(issue)) {
    const above = placeOf(path.slice(0, -1))
    const known = dialect.fieldsOf(issue.path?.at(-1)?.input, above)
    return { path, sentence: unknownField(String(path.at(-1)), above, known) }
  }
  const [noun, words] = dialect.wordsAt(path) ?? []
  if (issue.input === undefined && issue.kind === 'schema') {
    return { path, sentence: `${place} is missing.${words === undefined ? '' : ` Use one of ${words.join(', ')}.`}` }
  }
  if (words !== undefined && !words.includes(issue.input as never)) {
    return { path, sentence: `${place}: ${notKnown(issue.input, noun!, words)}` }
  }
  return { path, sentence: `${place}${complaint(issue)}.`.replace(/\.\.$/, '.') }
}

/** Returns the message of an issue. Adds the invalid value if the value helps to find the mistake. */
function complaint({ kind, type, message, input }: v.BaseIssue<unknown>): string {
  const tells = kind === 'schema' || type.endsWith('value') || ['integer', 'regex', 'check'].includes(type)
  return ` ${message}${tells ? ` (got ${shown(input)})` : ''}`
}

function notKnown(given: unknown, noun: string, words: readonly string[]): string {
  return `there is no ${noun} ${shown(given)}.${didYouMean(given, words)} Use one of ${words.join(', ')}.`
}

function unknownField(name: string, place: string, known: readonly string[]): string {
  const takes = known.length === 0 ? 'It has no fields.' : `The fields are ${known.join(', ')}.`
  return `${place === '' ? '' : `${place}: `}there is no field ${JSON.stringify(name)}.${didYouMean(name, known)} ${takes}`
}

/** Formats a path: `fault.waitMs`, `on[1]`, or an empty string for the whole value. */
function placeOf(path: readonly (string | number)[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('')
}

function shown(value: unknown): string {
  const text =
    typeof value === 'string' || (typeof value === 'object' && value !== null) ? jsonOf(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'a value that is not JSON'
  }
}
