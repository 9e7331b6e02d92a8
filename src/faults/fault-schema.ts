import * as v from 'valibot'
import { didYouMean } from '../kernel/nearest-name.js'
import { once } from '../kernel/once.js'
import { catalog, faultKinds } from './catalog.js'
import type { Fault } from './fault.js'

// The form of a fault, and the sentences for mistakes in it: for rules, scripts and scenarios alike.

/** What is wrong with a value, and where in it. */
export interface FaultProblem {
  readonly path: readonly (string | number)[]
  readonly sentence: string
}

/** The words that the sentences about one schema need. */
export interface FaultWording {
  /** What the field at this place may be called, with the noun for it: `fault`. */
  wordsAt(path: FaultProblem['path']): readonly [noun: string, words: readonly string[]] | undefined
  /** The fields of the object at this place. */
  fieldsOf(owner: unknown, place: string): readonly string[]
}

export const exampleFault = "{ kind: 'status', status: 503 }"

/** One fault of the catalog. */
export const faultSchema: () => v.GenericSchema<Fault> = once(() => {
  const variants = faultKinds.map((kind) => v.strictObject({ kind: v.literal(kind), ...catalog[kind].fields }))
  return v.pipe(
    v.variant('kind', variants as never, `is an object such as ${exampleFault}`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const problem = oddFault(dataset.value as Fault)
      if (problem !== undefined) addIssue({ message: problem })
    }),
  ) as v.GenericSchema<Fault>
})

/** A conflict between fields that are valid one by one; `undefined` if there is none. */
export function oddFault(fault: Fault): string | undefined {
  return catalog[fault.kind].odd?.(fault as never)
}

/** Every problem of a fault. */
export function faultProblems(value: unknown): readonly FaultProblem[] {
  return problemsWith(faultSchema(), value, `A fault is an object such as ${exampleFault}`, faultWording)
}

/** Fields of a fault of this kind, when it is one. */
export function fieldsOfFault(owner: unknown): readonly string[] | undefined {
  const kind = (owner as { kind?: unknown } | undefined)?.kind
  return typeof kind === 'string' && Object.hasOwn(catalog, kind)
    ? Object.keys(catalog[kind as Fault['kind']].fields)
    : undefined
}

/** Fields of the objects inside of faults. */
export function nestedFields(place: string): readonly string[] {
  return place.endsWith('retryAfter') ? ['form', 'waitMs'] : []
}

export const faultWording: FaultWording = {
  wordsAt: (path) => (path.at(-1) === 'kind' ? ['fault', faultKinds] : undefined),
  fieldsOf: (owner, place) => fieldsOfFault(owner) ?? nestedFields(place),
}

/** A list may hold any number of mistakes. */
const maxProblems = 20

/** What a schema finds wrong with a value that must be an object, from the first field on. */
export function problemsWith(
  schema: v.GenericSchema,
  value: unknown,
  what: string,
  words: FaultWording,
): readonly FaultProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path: [], sentence: `${what}, got ${shown(value)}.` }]
  }
  const result = v.safeParse(schema, value)
  if (result.success) return []
  // A field that is misspelt is missing as well: what it was meant to be is of more use.
  const unknown = result.issues.filter(isUnknownField)
  const others = result.issues.filter((issue) => !isUnknownField(issue))
  return [...unknown, ...others].slice(0, maxProblems).map((issue) => problem(issue, words))
}

function isUnknownField({ type, expected }: v.BaseIssue<unknown>): boolean {
  return type === 'strict_object' && expected === 'never'
}

/** An issue of the schema as a sentence. */
function problem(issue: v.BaseIssue<unknown>, dialect: FaultWording): FaultProblem {
  // A list of points is one option of a union: the useful issue is inside.
  const inner = issue.type === 'union' ? issue.issues?.find((other) => other.path !== undefined) : undefined
  if (inner !== undefined) {
    const path = [...(issue.path ?? []), ...(inner.path ?? [])]
    return problem({ ...inner, path } as v.BaseIssue<unknown>, dialect)
  }
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const place = placeOf(path)
  if (isUnknownField(issue)) {
    const above = placeOf(path.slice(0, -1))
    const known = dialect.fieldsOf(issue.path?.at(-1)?.input, above)
    return { path, sentence: unknownField(String(path.at(-1)), above, known) }
  }
  const [noun, words] = dialect.wordsAt(path) ?? []
  if (issue.input === undefined && issue.kind === 'schema') {
    return { path, sentence: `${place} is missing${words === undefined ? '' : `: ${words.join(', ')}`}.` }
  }
  if (words !== undefined && !words.includes(issue.input as never)) {
    return { path, sentence: `${place}: ${notKnown(issue.input, noun!, words)}` }
  }
  return { path, sentence: `${place}${complaint(issue)}.`.replace(/\.\.$/, '.') }
}

/** The message of valibot, or ours, with the value where that helps. */
function complaint({ kind, type, message, input }: v.BaseIssue<unknown>): string {
  if (message.startsWith('would')) return `: ${shown(input)} ${message}`
  const tells = kind === 'schema' || type.endsWith('value') || ['integer', 'regex', 'check'].includes(type)
  return ` ${message}${tells ? `, got ${shown(input)}` : ''}`
}

function notKnown(given: unknown, noun: string, words: readonly string[]): string {
  return `there is no ${noun} ${shown(given)}.${didYouMean(given, words)} There are ${words.join(', ')}.`
}

function unknownField(name: string, place: string, known: readonly string[]): string {
  const takes = known.length === 0 ? 'It takes nothing.' : `It takes ${known.join(', ')}.`
  return `${place}: there is no ${JSON.stringify(name)} here.${didYouMean(name, known)} ${takes}`
}

/** `fault.waitMs`, `on[1]`; `it` for the whole. */
function placeOf(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'it'
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
    return 'something that is not JSON'
  }
}
