import { catalog, faultKinds } from '../faults/catalog.js'
import type { Fault } from '../faults/fault.js'
import { faultProblems } from '../faults/fault-schema.js'
import { errorText } from '../kernel/error-text.js'
import { isResponse, unreadable } from '../queue/destinations/response.js'
import type { CallHandler } from './answers.js'

/** Faults that a call can meet. */
export const callFaults: readonly Fault['kind'][] = faultKinds.filter((kind) => 'app.call' in catalog[kind].at)

/** What one call meets: a fault, such as `lostAck()` or `ok()` for none, a `Response`, or a handler of its own. */
export type CallStep = Fault | Response | CallHandler

/** @throws TypeError for what no call can meet */
export function checkedSteps(steps: readonly CallStep[], called: string): readonly CallStep[] {
  const wanted = `${called} takes steps such as status(503), lostAck(), ok(), a Response or a handler in an array`
  if (!Array.isArray(steps)) throw new TypeError(`${wanted}, got ${typeof steps}.`)
  return steps.map((step: CallStep, index) => {
    if (typeof step === 'function') return step
    if (typeof step !== 'object' || step === null) throw new TypeError(`${wanted}, got ${errorText(step)}.`)
    const problem = isResponse(step) ? unreadable(step) : wrongWithFault(step)
    if (problem !== undefined) throw new TypeError(`${called}, step ${index + 1}: ${problem}`)
    // Later changes to the given object do not count.
    return isResponse(step) ? step : structuredClone(step)
  })
}

/** A step as plain data. */
export function shownStep(step: CallStep): { readonly kind: string } {
  if (typeof step === 'function') return { kind: 'handler' }
  return isResponse(step) ? { kind: 'response' } : step
}

function wrongWithFault(step: Fault): string | undefined {
  const [problem] = faultProblems(step)
  if (problem !== undefined) return problem.sentence
  if (callFaults.includes(step.kind)) return undefined
  const meant = step.kind === 'delay' ? ' Write latency(…).' : ''
  return `${step.kind} cannot happen to a call.${meant} These can: ${callFaults.join(', ')}.`
}
