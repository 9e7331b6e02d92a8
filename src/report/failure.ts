import { withoutColors } from './safe-text.js'

// A failure is kept as data until it is printed. The code that detects a failure creates the data and attaches it to
// the error. The code that prints the failure formats the data.

/** Facts about a failed assertion or check: plain values without secrets. Each line is safe to print. */
export interface FailureData {
  /** Assertion as in the test: `expect(queue).toHaveDelivered({ … })`. */
  readonly call?: readonly string[]
  /** Causes that the log proves. */
  readonly causes?: readonly string[]
  /** What was expected. */
  readonly expected?: string
  /** Received values or entries that are most similar to what was expected. The most similar comes first. */
  readonly received?: readonly string[]
  /** Possible explanations. The most likely comes first. */
  readonly hints?: readonly string[]
  /** Notes directly above the replay instruction. */
  readonly notes?: readonly string[]
  /** `seq` of the entry that is nearest to the expectation. */
  readonly nearest?: number
  /** Instruction for reproducing the failure: a command, a call, or a seed. */
  readonly replay?: string
  /** Lines of the timeline. */
  readonly timeline?: readonly string[]
}

/** Failure data that a failed test stores with its trace. A reporter runs in another process and reads it there. */
export interface ReportedFailure extends FailureData {
  /** Text of the assertion, without colors, if it is not an assertion of this package. */
  readonly message?: string
}

/**
 * Failure data in the result of a matcher. Jest and Playwright keep the result in `matcherResult`, Vitest keeps it in
 * the error's context.
 */
export interface FailureMeta {
  readonly stuntdouble: FailureData
}

/** An error that a test runner passes to a reporter. It is often a copy of the original error. */
export interface RunnerError {
  readonly message: string
  readonly matcherResult?: { readonly meta?: unknown } | undefined
  /** Set by Vitest 4.1 and later. */
  readonly __vitest_error_context__?: { readonly meta?: unknown } | undefined
}

/**
 * Key of the failure data in errors. The property is not enumerable, because test runners print the enumerable
 * properties of an error.
 */
const failureKey = Symbol.for('stuntdouble.failure')

interface Carrier {
  readonly [failureKey]?: FailureData
}

/**
 * The latest failures with their text. Playwright, and Vitest before 4.1, copy an error without its failure data. So
 * the failure is found by its text.
 */
const remembered: { readonly text: string; readonly failure: FailureData }[] = []
const maxRemembered = 50

export function carryFailure<E extends Error>(error: E, failure: FailureData): E {
  rememberFailure(error.message, failure)
  return Object.defineProperty(error, failureKey, { value: failure })
}

/**
 * Attaches failure data to the result of a check, such as `exploreFaults()`. The matcher `toHold()` reads it if the
 * property does not hold.
 */
export function carryFailureOf<T extends object>(tried: T, failure: () => FailureData): T {
  return Object.defineProperty(tried, failureKey, { get: failure })
}

export function carriedFailure(thing: object): FailureData | undefined {
  return (thing as Carrier)[failureKey]
}

/**
 * Remembers a failure. The test runner creates the error, so the failure data cannot be attached to it here.
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

/** Finds the latest remembered failure whose text is contained in `message`, which comes from the test runner. */
function failureInText(message: string): FailureData | undefined {
  const plain = withoutColors(message)
  return remembered.findLast(({ text }) => plain.includes(text))?.failure
}
