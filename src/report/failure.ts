import { withoutColors } from './safe-text.js'

// A failure is data before it is text.
// It is created where it is detected, attached to the error, and formatted where it is shown.

/** Facts about a failed assertion or check: plain values without secrets. Each line is safe to print. */
export interface FailureData {
  /** Assertion as in the test: `expect(queue).toHaveDelivered({ … })`. */
  readonly call?: readonly string[]
  /** Causes of which the log contains proof. */
  readonly causes?: readonly string[]
  /** What was expected. */
  readonly expected?: string
  /** Received values or entries that are closest to the expectation, the closest first. */
  readonly received?: readonly string[]
  /** Possible explanations. The most likely comes first. */
  readonly hints?: readonly string[]
  /** Notes directly above the replay instruction. */
  readonly notes?: readonly string[]
  /** `seq` of the entry that is closest to the expectation. */
  readonly nearest?: number
  /** Instruction for reproducing the failure: a command, a call, or a seed. */
  readonly replay?: string
  /** Lines of the timeline. */
  readonly timeline?: readonly string[]
}

/**
 * Failure data in the result of a matcher. Jest and Playwright keep it in `matcherResult`, Vitest in the error's
 * context.
 */
export interface FailureMeta {
  readonly stuntdouble: FailureData
}

/** An error that a test runner passes to a reporter, often as a copy. */
export interface RunnerError {
  readonly message: string
  readonly matcherResult?: { readonly meta?: unknown } | undefined
  /** Set by Vitest since 4.1. */
  readonly __vitest_error_context__?: { readonly meta?: unknown } | undefined
}

/**
 * Key of the failure data in errors of this package. The property is not enumerable, because test runners print
 * enumerable fields of an error.
 */
const failureKey = Symbol.for('stuntdouble.failure')

interface Carrier {
  readonly [failureKey]?: FailureData
}

/**
 * Recent failures by their text. Playwright, and Vitest before 4.1, copy errors without the failure data, so only the
 * text identifies a failure.
 */
const remembered: { readonly text: string; readonly failure: FailureData }[] = []
const maxRemembered = 50

/** Attaches failure data to an error. */
export function carryFailure<E extends Error>(error: E, failure: FailureData): E {
  rememberFailure(error.message, failure)
  return Object.defineProperty(error, failureKey, { value: failure })
}

/** Attaches failure data to the result of a check whose property does not hold, for `toHold()`. */
export function carryFailureOf<T extends object>(tried: T, failure: () => FailureData): T {
  return Object.defineProperty(tried, failureKey, { get: failure })
}

/** Returns the failure data that is attached to an object. */
export function carriedFailure(thing: object): FailureData | undefined {
  return (thing as Carrier)[failureKey]
}

/**
 * Remembers a failure whose error the test runner creates.
 * @param text complete text of the failure, without colors
 */
export function rememberFailure(text: string, failure: FailureData): void {
  remembered.push({ text, failure })
  if (remembered.length > maxRemembered) remembered.shift()
}

/** Returns the failure data of an error, or `undefined` if this package did not create the error. */
export function failureOf(error: RunnerError): FailureData | undefined {
  const meta = (error.matcherResult ?? error.__vitest_error_context__)?.meta
  return carriedFailure(error) ?? (meta as FailureMeta | undefined)?.stuntdouble ?? failureInText(error.message)
}

/** Finds a failure by its text within the message of a test runner. */
function failureInText(message: string): FailureData | undefined {
  const plain = withoutColors(message)
  return remembered.findLast(({ text }) => plain.includes(text))?.failure
}
