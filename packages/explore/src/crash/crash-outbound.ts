import { outboundInternals } from '../../../../src/calls/outbound.js'
import { effectText, happened } from './crash-effects.js'
import type { CrashSandbox } from './crash-sandbox.js'
import { callWith } from './run-requests.js'

/**
 * Watches the outbound requests of deliveries, and loses a response or lets the process die, as the crash plan says.
 */
export function guardCalls(world: CrashSandbox): void {
  const { works, sandbox } = world
  const internals = outboundInternals.of(sandbox.outbound)
  const { exchangeFor } = internals
  internals.exchangeFor = async (caller, given) => {
    const work = works.getStore()
    if (work?.dead) return new Promise(() => {})
    const { method, url } = given
    const skip = world.count(`call ${method} ${url}`)
    if (work === undefined) return exchangeFor(caller, given)
    const nth = work.calls++
    const call = callWith(given, await given.body())
    const ordinal = work.delivery?.ordinal ?? 0
    const [rule] = world.disturbance('lost-response', ordinal, nth)?.rules ?? []
    // No other code runs before the rule is evaluated, so the rule injects its fault into this request.
    if (rule !== undefined) sandbox.faults.add({ ...rule, skip: 0 })
    const answered = exchangeFor(caller, call)
    await answered.catch(() => undefined)
    const what = effectText(`${method} ${url}`)
    const dies = happened(world, work, () => ({ what, isSeen: true, call: { method, url, skip, nth } }))
    return dies ? new Promise(() => {}) : answered
  }
}
