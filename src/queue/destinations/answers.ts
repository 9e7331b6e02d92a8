import { isStatus } from '../../faults/fields.js'
import { answerProblems, stepOf, stepProblems } from '../../faults/step-schema.js'
import { errorText } from '../../kernel/error-text.js'
import type { HeaderRecord, Step } from './script.js'

/** What a plain destination answers: a status, a status with headers and body, a script step, or a `Response`. */
export type PlainAnswer =
  | number
  | Step
  | Response
  | { readonly status?: number; readonly headers?: HeaderRecord; readonly body?: string | Uint8Array | object | null }

// Data is checked where it is given: a wrong answer or step is refused at the call, with the right form.

/** @throws TypeError */
export function checkedSteps(steps: readonly (Step | number)[], called: string): readonly Step[] {
  const wanted = `${called} takes steps such as 500, reset(), timeout(), lostAck(), ok() in an array`
  if (!Array.isArray(steps)) throw new TypeError(`${wanted}, got ${typeof steps}.`)
  for (const [index, step] of steps.entries()) {
    if (typeof step === 'function') throw new TypeError(`${wanted}, got a function: give it to destinations.on().`)
    const [problem] = stepProblems(step)
    if (problem !== undefined) throw new TypeError(`${called}, step ${index + 1}: ${problem.sentence}`)
  }
  // Later changes to the given object do not count.
  return structuredClone(steps.map(stepOf))
}

/** What is wrong with what a handler returned, if it is no Response, as a part of a sentence; `undefined` for nothing. */
export function wrongWithAnswer(answer: unknown): string | undefined {
  if (isStatus(answer)) return undefined
  if (typeof answer !== 'number' && (typeof answer !== 'object' || answer === null)) {
    return `returned ${errorText(answer)}. Return a Response, or a status in destinations.answer().`
  }
  const [problem] = answerProblems(answer)
  return problem && `gave no answer that can be sent: ${problem.sentence}`
}

/** @throws TypeError */
export function checkAnswer(answer: PlainAnswer, called: string): void {
  const [problem] = answerProblems(answer)
  if (problem !== undefined) throw new TypeError(`${called}: ${problem.sentence}`)
}
