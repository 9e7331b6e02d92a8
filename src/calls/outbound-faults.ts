import { actionAt, catalog, goesWrong } from '../faults/catalog.js'
import type { Fault, FaultFacts, FaultSource, Injection, InjectionRecord } from '../faults/fault.js'
import type { FaultyResponse, RequestFaultContext, WordedFault } from '../faults/fault-context.js'
import type { Clock } from '../kernel/clock.js'
import type { Task } from '../kernel/time.js'
import { json } from '../protocol/call.js'
import type { RawResponse } from '../protocol/service.js'
import { rateLimitResponse } from '../queue/destinations/rate-limit.js'
import { type OutboundRequest, outboundRequestInternals } from './outbound-request.js'
import { responseOf } from './outbound-responses.js'

// Applies faults to one outbound request: the faults of fault rules, in the order of injection, and the fault of a
// script step.

export interface OutboundFaultContext {
  readonly call: OutboundRequest
  readonly task: Task
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly faults: FaultSource
  /** Returns a random whole number below a bound, for script steps whose fault needs a random decision. */
  draw(below: number): number
  /** Carries out the next script step or runs the handler, and counts handler runs. */
  handle(): Promise<RawResponse>
}

/**
 * Applies the injected fault rules to the request and calls `handle()` for the response. Rejects with
 * `ConnectionBroken` if no response arrives.
 */
export async function injectRules(scene: OutboundFaultContext): Promise<RawResponse> {
  const { faults, call } = scene
  const strikes =
    faults.activeByPoint['outbound.request'] === undefined
      ? undefined
      : faults.injections('outbound.request', callFacts(call))
  return playRules(strikes ?? [], 0, scene)
}

async function playRules(
  strikes: readonly Injection[],
  from: number,
  scene: OutboundFaultContext,
): Promise<RawResponse> {
  const strike = strikes[from]
  if (strike === undefined) return scene.handle()
  const { call } = scene
  const record = strike.log(call.seq === 0 ? undefined : call.seq, call.url)
  const draw = (below: number): number => strike.draw(below)
  return struck(strike, draw, record, scene, () => playRules(strikes, from + 1, scene))
}

/**
 * Carries out one step of a script. The effect of the step is added to the note of the request's log entry. The effect
 * of a fault rule needs no note, because each fault rule has a log entry of its own.
 */
export async function injectStep(
  fault: Fault,
  scene: OutboundFaultContext,
  onwards: () => Promise<RawResponse>,
): Promise<RawResponse> {
  const phase = catalog[fault.kind].phases[0]!
  const { call } = scene
  const record: InjectionRecord = {}
  if (goesWrong(fault)) call.fault = fault.kind
  try {
    return await struck({ fault, phase }, (below) => scene.draw(below), record, scene, onwards)
  } finally {
    const effect = record.effect === undefined ? '' : `, ${record.effect}`
    if (fault.kind !== 'pass') outboundRequestInternals.of(call).told.push(`by the script: ${fault.kind}${effect}`)
  }
}

function struck(
  { fault, phase }: Pick<Injection, 'fault' | 'phase'>,
  draw: (below: number) => number,
  record: InjectionRecord,
  { task, clock, signal }: OutboundFaultContext,
  onwards: () => Promise<RawResponse>,
): FaultyResponse | Promise<FaultyResponse> {
  const moment: RequestFaultContext = {
    phase,
    task,
    clock,
    signal,
    draw,
    onwards,
    tell: (effect) => {
      record.effect = effect
    },
    worded: (given) => worded(given, clock.now()),
    refusedToken: () => json({ error: 'unauthorized' }, 401),
    // An outbound request reaches none of the sandbox's services, so there is no service to restart.
    restart: () => undefined,
  }
  return actionAt('outbound.request', fault)(fault, moment)
}

/**
 * Returns the error response for a fault. The error texts are those of queue destinations, because the texts of an
 * external host are unknown.
 */
function worded(fault: WordedFault, now: number): RawResponse {
  if (fault.kind === 'rate-limited') return responseOf(rateLimitResponse(fault, now))
  return json(
    { error: fault.kind === 'status' ? fault.text : fault.kind },
    fault.kind === 'status' ? fault.status : 429,
  )
}

function callFacts(call: OutboundRequest): FaultFacts {
  return { url: call.url, method: call.method, headers: outboundRequestInternals.of(call).sent }
}
