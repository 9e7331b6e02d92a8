import { isStatus } from '../../faults/fault-values.js'
import { responseProblems, stepOf, stepProblems } from '../../faults/step-schema.js'
import { errorText } from '../../kernel/error-text.js'
import type { HeaderRecord, Step } from './delivery-script.js'

/** What a plain destination answers: a status, a status with headers and body, a script step, or a `Response`. */
export type DestinationResponse =
  | number
  | Step
  | Response
  | { readonly status?: number; readonly headers?: HeaderRecord; readonly body?: string | Uint8Array | object | null }

// Data is checked where it is given: a wrong answer or step is refused at the call, with the right form.

/** @throws TypeError */
export function checkedSteps(steps: readonly (Step | number)[], called: string): readonly Step[] {
  const wanted = `${called} takes steps such as 500, fault.reset(), fault.hang(), fault.lostAck(), fault.pass() in an array`
  if (!Array.isArray(steps)) throw new TypeError(`${wanted}, got ${typeof steps}.`)
  // A script repeats a few steps very often: a status, and a kind without fields, are checked and kept once.
  const known = new Map<unknown, Step>()
  const checked: Step[] = []
  for (const [index, step] of steps.entries()) {
    const name = isStatus(step) ? step : hasOnlyKind(step) ? step.kind : undefined
    let kept = known.get(name)
    if (kept === undefined) {
      if (typeof step === 'function') throw new TypeError(`${wanted}, got a function: give it to destinations.on().`)
      const [problem] = stepProblems(step)
      if (problem !== undefined) throw new TypeError(`${called}, step ${index + 1}: ${problem.sentence}`)
      kept = stepOf<Step>(step)
      if (name !== undefined) known.set(name, kept)
    }
    checked.push(kept)
  }
  // Later changes to the given object do not count.
  return structuredClone(checked)
}

function hasOnlyKind(step: unknown): step is Step {
  if (typeof step !== 'object' || step === null) return false
  for (const field in step) if (field !== 'kind') return false
  // A number would be taken for a status.
  return 'kind' in step && typeof step.kind === 'string'
}

/** What is wrong with what a handler returned, if it is no Response, as a part of a sentence; `undefined` for nothing. */
export function responseProblem(answer: unknown): string | undefined {
  if (isStatus(answer)) return undefined
  if (typeof answer !== 'number' && (typeof answer !== 'object' || answer === null)) {
    return `returned ${errorText(answer)}. Return a Response, or a status in destinations.respond().`
  }
  const [problem] = responseProblems(answer)
  return problem && `gave no answer that can be sent: ${problem.sentence}`
}

/** @throws TypeError */
export function checkResponse(answer: DestinationResponse, called: string): void {
  const [problem] = responseProblems(answer)
  if (problem !== undefined) throw new TypeError(`${called}: ${problem.sentence}`)
}
