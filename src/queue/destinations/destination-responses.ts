import { isStatus } from '../../faults/fault-values.js'
import { responseProblems, stepOf, stepProblems } from '../../faults/step-schema.js'
import { errorText } from '../../kernel/error-text.js'
import type { HeaderRecord, Step } from './delivery-script.js'

/** Response of a destination: a status, a status with headers and body, a script step, or a `Response`. */
export type DestinationResponse =
  | number
  | Step
  | Response
  | {
      /** HTTP status. Default 200. */
      readonly status?: number
      /** Headers of the response. A name that occurs several times has a list of values. */
      readonly headers?: HeaderRecord
      /** Text, bytes, or an object that is sent as JSON. Default: empty. */
      readonly body?: string | Uint8Array | object | null
    }

// Steps and responses that are data are checked at registration. The error then names the call that contains the
// mistake, such as `destinations.script()`.

/**
 * Checks script steps and returns copies of them.
 * @throws TypeError when a step is neither a status nor a fault
 */
export function checkedSteps(steps: readonly (Step | number)[], called: string): readonly Step[] {
  const wanted = `${called}: the second argument must be an array of steps such as 500, fault.reset(), fault.hang(), fault.lostAck() or fault.pass()`
  if (!Array.isArray(steps)) throw new TypeError(`${wanted} (got ${typeof steps}).`)
  // A long script repeats a few different steps. Check and store each status only once, and also each fault without
  // fields.
  const known = new Map<unknown, Step>()
  const checked: Step[] = []
  for (const [index, step] of steps.entries()) {
    const name = isStatus(step) ? step : hasOnlyKind(step) ? step.kind : undefined
    let kept = known.get(name)
    if (kept === undefined) {
      if (typeof step === 'function')
        throw new TypeError(`${wanted} (got a function). Use destinations.on() for functions.`)
      const [problem] = stepProblems(step)
      if (problem !== undefined) throw new TypeError(`${called}: step ${index + 1}: ${problem.sentence}`)
      kept = stepOf<Step>(step)
      if (name !== undefined) known.set(name, kept)
    }
    checked.push(kept)
  }
  // Copy the steps, so that the script stays the same if the test changes its objects later.
  return structuredClone(checked)
}

function hasOnlyKind(step: unknown): step is Step {
  if (typeof step !== 'object' || step === null) return false
  for (const field in step) if (field !== 'kind') return false
  // Require a string: a number as `kind` would have the same cache key as a status.
  return 'kind' in step && typeof step.kind === 'string'
}

/**
 * Returns text that says why a return value of a handler is not a valid response. The value is not a `Response` object.
 * Returns `undefined` if the value is valid.
 */
export function responseProblem(answer: unknown): string | undefined {
  if (isStatus(answer)) return undefined
  if (typeof answer !== 'number' && (typeof answer !== 'object' || answer === null)) {
    return `returned ${errorText(answer)}. Return a Response, or a status in destinations.respond().`
  }
  const [problem] = responseProblems(answer)
  return problem && `returned no response that can be sent: ${problem.sentence}`
}

/**
 * Checks a response that was registered as data.
 * @throws TypeError when the response cannot be sent
 */
export function checkResponse(answer: DestinationResponse, called: string): void {
  const [problem] = responseProblems(answer)
  if (problem !== undefined) throw new TypeError(`${called}: ${problem.sentence}`)
}
