import { withoutColours } from './safe-text.js'

// A failure is data first: it is composed where it is found, carried by the error, and rendered where it is shown.

/** What is known about a failed assertion or check: plain values without secrets, each line safe to print. */
export interface FailureData {
  /** The assertion as the test wrote it: `expect(queue).toHaveDelivered({ … })`. */
  readonly call?: readonly string[]
  /** What the log proves to have led to it. */
  readonly causes?: readonly string[]
  /** What was expected, in a sentence. */
  readonly expected?: string
  /** What there was instead, the nearest first. */
  readonly received?: readonly string[]
  /** What else may explain it, the most telling one first. */
  readonly hints?: readonly string[]
  /** What is said right above the way back. */
  readonly notes?: readonly string[]
  /** `seq` of the entry that comes nearest to what was expected. */
  readonly nearest?: number
  /** What it takes to come back to this place: a command, a call, a seed. */
  readonly replay?: string
  /** The story. */
  readonly timeline?: readonly string[]
}

/** Beside its message, in the result of a matcher: Jest and Playwright keep it in `matcherResult`, Vitest in the error's context. */
export interface FailureMeta {
  readonly stuntdouble: FailureData
}

/** An error as a runner hands it on, often as a copy. */
export interface RunnerError {
  readonly message: string
  readonly matcherResult?: { readonly meta?: unknown } | undefined
  /** Of Vitest, since 4.1. */
  readonly __vitest_error_context__?: { readonly meta?: unknown } | undefined
}

/** In what this package makes itself. Not enumerable: runners print the fields of an error. */
const failureKey = Symbol.for('stuntdouble.failure')

interface Carrier {
  readonly [failureKey]?: FailureData
}

/** Copies have lost their failure in Playwright and in Vitest before 4.1: only the text of the whole failure is left. */
const remembered: { readonly text: string; readonly failure: FailureData }[] = []
const maxRemembered = 50

/** Lets an error carry what is known about its failure. */
export function carryFailure<E extends Error>(error: E, failure: FailureData): E {
  rememberFailure(error.message, failure)
  return Object.defineProperty(error, failureKey, { value: failure })
}

/** Lets what was tried, and does not hold, carry its failure for `toHold()`. */
export function carryFailureOf<T extends object>(tried: T, failure: () => FailureData): T {
  return Object.defineProperty(tried, failureKey, { get: failure })
}

/** What such a thing carries. */
export function carriedFailure(thing: object): FailureData | undefined {
  return (thing as Carrier)[failureKey]
}

/** Remembers a failure whose error a runner makes. @param text all of it, without colours */
export function rememberFailure(text: string, failure: FailureData): void {
  remembered.push({ text, failure })
  if (remembered.length > maxRemembered) remembered.shift()
}

/** What an error carries, `undefined` when it is none of this package. */
export function failureOf(error: RunnerError): FailureData | undefined {
  const meta = (error.matcherResult ?? error.__vitest_error_context__)?.meta
  return carriedFailure(error) ?? (meta as FailureMeta | undefined)?.stuntdouble ?? failureInText(error.message)
}

/** Runners write words of their own around it. */
function failureInText(message: string): FailureData | undefined {
  const plain = withoutColours(message)
  return remembered.findLast(({ text }) => plain.includes(text))?.failure
}
