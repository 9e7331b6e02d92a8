import { catalog, faultKinds } from '../faults/catalog.js'
import type { Fault } from '../faults/fault.js'
import { type FaultProblem, faultProblems } from '../faults/fault-schema.js'
import { stepOf } from '../faults/step-schema.js'
import { errorText } from '../kernel/error-text.js'
import { isResponse, unreadable } from '../queue/destinations/response.js'
import type { OutboundHandler } from './outbound-responses.js'

export const outboundFaultKinds: readonly Fault['kind'][] = faultKinds.filter(
  (kind) => 'outbound.request' in catalog[kind].at,
)

/**
 * Script step for one outbound request: a fault such as `fault.lostAck()`, a `Response`, or a handler. `fault.pass()`
 * is the step without a fault.
 */
export type OutboundStep = Fault | Response | OutboundHandler

/**
 * Checks script steps and returns copies of them.
 * @throws TypeError when a step is not a status, a fault for outbound requests, a `Response` or a handler
 */
export function checkedSteps(steps: readonly (OutboundStep | number)[], called: string): readonly OutboundStep[] {
  const wanted = `${called}: the second argument must be an array of steps such as 503, fault.lostAck(), fault.pass(), a Response or a handler`
  if (!Array.isArray(steps)) throw new TypeError(`${wanted} (got ${typeof steps}).`)
  return steps.map((given: OutboundStep | number, index) => {
    const step = typeof given === 'number' ? stepOf<OutboundStep>(given) : given
    if (typeof step === 'function') return step
    if (typeof step !== 'object' || step === null)
      throw new TypeError(`${wanted} (got ${errorText(step)} as step ${index + 1}).`)
    const problem = isResponse(step) ? unreadable(step) : outboundStepProblems(step)[0]?.sentence
    if (problem !== undefined) throw new TypeError(`${called}: step ${index + 1}: ${problem}`)
    // Copy the step, so that the script stays the same if the test changes its object later.
    return isResponse(step) ? step : structuredClone(step)
  })
}

export function shownStep(step: OutboundStep): { readonly kind: string } {
  if (typeof step === 'function') return { kind: 'handler' }
  return isResponse(step) ? { kind: 'response' } : step
}

/**
 * Returns every problem of a step that is a status or a fault. A fault must be one that can be injected into an
 * outbound request.
 */
export function outboundStepProblems(step: unknown): readonly FaultProblem[] {
  const problems = faultProblems(typeof step === 'number' ? stepOf(step) : step)
  const { kind } = (step ?? {}) as Fault
  if (problems.length > 0 || typeof step === 'number' || outboundFaultKinds.includes(kind)) return problems
  const meant = kind === 'delay' ? ' Use fault.latency(…).' : ''
  return [
    {
      path: ['kind'],
      sentence: `${kind} is not a fault for outbound requests.${meant} Possible faults: ${outboundFaultKinds.join(', ')}.`,
    },
  ]
}
