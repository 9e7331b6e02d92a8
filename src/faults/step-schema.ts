import * as v from 'valibot'
import { once } from '../kernel/once.js'
import { catalog, faultKinds, stepKinds } from './catalog.js'
import type { DeliveryFault, Fault } from './fault.js'
import {
  exampleFault,
  type FaultProblem,
  type FaultWording,
  faultWording,
  fieldsOfFault,
  nestedFields,
  oddFault,
  problemsWith,
} from './fault-schema.js'
import { headerRecord, isStatus, statusCode } from './fault-values.js'

// Schemas of the responses and script steps of a destination.
// Destinations, the control API and scenario files share them.

/** Maximum number of steps that are nested in `then`. This is a limit of this package, not of the service. */
export const maxWaits = 100

/**
 * Returns the schemas of all kinds of script steps. Only in a script, a `delay` can have the field `then`.
 * @param then returns the schema of the step in `then`
 */
function stepVariants(then: () => v.GenericSchema): v.GenericSchema {
  const variants = stepKinds.map((kind) =>
    v.strictObject({
      kind: v.literal(kind),
      ...catalog[kind].fields,
      // biome-ignore lint/suspicious/noThenProperty: the field of a step, described here
      ...(kind === 'delay' && { then: v.exactOptional(v.lazy(then)) }),
    }),
  )
  return v.pipe(
    v.variant('kind', variants as never, `must be an object such as ${exampleFault}`),
    v.rawCheck(({ dataset, addIssue }) => {
      const odd = dataset.typed ? oddFault(dataset.value as Fault) : undefined
      if (odd !== undefined) addIssue({ message: odd })
    }),
  )
}

export const stepSchema: () => v.GenericSchema = once(() => v.union([statusCode, stepVariants(stepSchema)]))

/** Schema of a step for formats that cannot describe recursion. The field `then` accepts any value. */
export const shallowStepSchema: () => v.GenericSchema = once(() => v.union([statusCode, stepVariants(v.unknown)]))

/** Replaces each number in a step by `{ kind: 'status', status }`, also in the `then` of a `delay`. */
export function stepOf<S>(written: S | number): S {
  if (typeof written === 'number') return { kind: 'status', status: written } as S
  // biome-ignore lint/suspicious/noThenProperty: the field of a step
  return waits(written) ? { ...written, then: stepOf(written.then) } : written
}

export const responseEntries: Readonly<Record<'status' | 'headers' | 'body', v.GenericSchema>> = {
  status: v.optional(statusCode),
  headers: v.optional(headerRecord),
  body: v.optional(v.unknown()),
}
export const responseSchema: () => v.GenericSchema = once(() => v.strictObject(responseEntries))

/** Returns all problems of a step; an empty list if the step is valid. */
export function stepProblems(given: unknown): readonly FaultProblem[] {
  const problems: FaultProblem[] = []
  let at: unknown = given
  for (let depth = 0; ; depth++) {
    const found = problemsOfOne(at)
    const above = Array<string>(depth).fill('then')
    problems.push(...found.map(({ path, sentence }) => ({ path: [...above, ...path], sentence })))
    if (found.length > 0 || !waits(at)) return problems
    if (depth === maxWaits) {
      return [{ path: [], sentence: `the step has more than ${maxWaits} nested delays. Combine them into one.` }]
    }
    at = at.then
  }
}

function waits(step: unknown): step is { readonly kind: 'delay'; readonly then: unknown } {
  return typeof step === 'object' && step !== null && 'then' in step && step.then !== undefined
}

/** Returns the problems of one step, without the problems of the step in its `then`. */
function problemsOfOne(value: unknown): readonly FaultProblem[] {
  if (typeof value === 'number') return problemsOfStatus(value)
  if (typeof value === 'string' && isStatus(Number(value))) {
    return [{ path: [], sentence: `a status must be a number (got ${JSON.stringify(value)}). Write ${value}.` }]
  }
  const { kind, then: _, ...fields } = (value ?? {}) as { kind?: unknown; then?: unknown }
  if (typeof kind === 'string' && !isStep(kind)) {
    if ((faultKinds as readonly string[]).includes(kind)) {
      return [
        {
          path: ['kind'],
          sentence: `kind: ${kind} cannot be a step of a script. Use one of ${stepKinds.join(', ')}.`,
        },
      ]
    }
    const meant = Object.hasOwn(writtenAs, kind) ? writtenAs[kind] : undefined
    if (meant !== undefined) {
      return [{ path: ['kind'], sentence: `kind: there is no step ${JSON.stringify(kind)}. ${meant}.` }]
    }
  }
  const alone = kind === 'delay' ? { kind, ...fields } : value
  return problemsWith(
    bareStepSchema(),
    alone,
    `a step must be a status such as 503 or an object such as ${exampleFault}`,
    stepWords,
  )
}

const bareStepSchema = once(() => stepVariants(v.never))

const stepWords: FaultWording = {
  ...faultWording,
  whole: 'the step',
  wordsAt: (path) => (path.at(-1) === 'kind' ? ['step', stepKinds] : undefined),
  fieldsOf: (owner, place) => {
    const fields = fieldsOfFault(owner) ?? nestedFields(place)
    return (owner as { kind?: unknown }).kind === 'delay' ? [...fields, 'then'] : fields
  },
}

function isStep(kind: string): kind is DeliveryFault['kind'] {
  return (stepKinds as readonly string[]).includes(kind)
}

/** Correct name of a kind, for each wrong name that users may write. */
const writtenAs: Readonly<Record<string, string>> = Object.assign({}, ...faultKinds.map((kind) => catalog[kind].meant))

/**
 * Returns all problems of a value that is given as a response: a status, a step, or an object with status, headers and
 * body.
 */
export function responseProblems(given: unknown): readonly FaultProblem[] {
  if (typeof given === 'number') return problemsOfStatus(given)
  if (typeof given === 'object' && given !== null && 'kind' in given) return stepProblems(given)
  const what = 'a response must be a status, { status, headers, body }, a step such as fault.status(503) or a Response'
  if (!isRecord(given)) return [{ path: [], sentence: `${what} (got ${described(given)}).` }]
  const { headers } = given as { headers?: unknown }
  // The schema would accept an array or a `Headers` object, because it finds no invalid entries in such an object.
  if (typeof headers === 'object' && headers !== null && Symbol.iterator in headers) {
    return [
      {
        path: ['headers'],
        sentence: 'headers must be an object of names and values. Use Object.fromEntries(headers).',
      },
    ]
  }
  return problemsWith(responseSchema(), given, what, answerWords)
}

/** Returns whether a value is a plain object, or any object with a `status`. */
function isRecord(given: unknown): given is object {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const prototype: unknown = Object.getPrototypeOf(given)
  return prototype === null || Object.getPrototypeOf(prototype) === null || 'status' in given
}

function described(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 80))
  if (typeof given === 'object' && given !== null) return Object.prototype.toString.call(given).slice(8, -1)
  return typeof given === 'function' ? 'a function' : String(given)
}

function problemsOfStatus(given: number): readonly FaultProblem[] {
  if (isStatus(given)) return []
  return [{ path: [], sentence: `a status must be a whole number from 200 to 599 (got ${given}).` }]
}

const answerWords: FaultWording = {
  whole: 'the response',
  wordsAt: () => undefined,
  fieldsOf: () => Object.keys(responseEntries),
}
