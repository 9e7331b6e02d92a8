import { actionAt } from '../faults/catalog.js'
import { type FaultSource, type Injection, restartedService } from '../faults/fault.js'
import type { RequestFaultContext, WordedFault } from '../faults/fault-context.js'
import type { InjectionPoint, RequestInjectionPoint } from '../faults/points.js'
import type { Clock } from '../kernel/clock.js'
import type { Task } from '../kernel/time.js'
import { json, type RoutedRequest } from './call.js'
import { requestFacts } from './request-facts.js'
import type { RawResponse, Service } from './service.js'

// Applies the faults of all matching rules to one request, in the order of the rules.

export interface FaultyRequest {
  readonly service: Service
  readonly strikes: readonly Injection[]
  readonly faults: FaultSource
}

interface RequestInjectionContext extends FaultyRequest {
  readonly call: RoutedRequest
  readonly task: Task
  readonly clock: Clock
  serve(): RawResponse | Promise<RawResponse>
}

const points = { store: 'store.request', queue: 'queue.request', stats: 'stats.request' } as const

const gone: Injection = {
  point: 'store.request',
  fault: { kind: 'refused' },
  phase: 'before',
  answers: true,
  draw: () => 0,
  until: undefined,
  log: () => ({}),
}

/** Returns the rules that are injected into a request, or `undefined` if there are none. */
export function injectionsFor(
  faults: FaultSource,
  call: RoutedRequest,
  service: Service,
  clock: Clock,
): FaultyRequest | undefined {
  const { activeByPoint: armed, downUntil: down } = faults
  if (down !== undefined && (down[restartedService(call.service, call.database)] ?? 0) > clock.now())
    return { service, strikes: [gone], faults }
  const point = points[call.service]
  const opens = armed['stream.open'] !== undefined && call.endpoint?.opensStream === true
  const narrow = call.endpoint?.point
  if (narrow !== undefined && armed[narrow] !== undefined) {
    const strikes = faults.injectionsAt([narrow, point], requestFacts(call, service))
    return strikes && { service, strikes, faults }
  }
  if (armed[point] === undefined && !opens) return undefined
  const facts = requestFacts(call, service)
  const asked = (at: InjectionPoint): readonly Injection[] => faults.injections(at, facts) ?? []
  const first = asked(point)
  const strikes = opens && first.at(-1)?.answers !== true ? [...first, ...asked('stream.open')] : first
  return strikes.length === 0 ? undefined : { service, strikes, faults }
}

/**
 * Applies all faults to one request. The first fault wraps the second one, and so on; the last one wraps the service.
 * Rejects with `ConnectionBroken` if no response arrives.
 */
export async function serveFaulty(scene: RequestInjectionContext): Promise<RawResponse> {
  return play(scene, 0)
}

async function play(scene: RequestInjectionContext, from: number): Promise<RawResponse> {
  const strike = scene.strikes[from]
  if (strike === undefined) return scene.serve()
  const { call, task, clock, service } = scene
  const { fault, phase } = strike
  const record = strike.log(call.cause === 0 ? undefined : call.cause, call.url)
  const moment: RequestFaultContext = {
    phase,
    task,
    clock,
    signal: call.signal,
    draw: (below) => strike.draw(below),
    tell: (effect) => {
      record.effect = effect
    },
    onwards: () => play(scene, from + 1),
    worded: (given) => worded(given, scene),
    refusedToken: () => refusedToken(scene),
    restart(downMs) {
      const until = clock.now() + downMs
      scene.faults.markDown(restartedService(call.service, call.database), until)
      service.faults?.restart?.(until, service.state)
    },
  }
  return actionAt(strike.point as RequestInjectionPoint, fault)(fault, moment)
}

function worded(fault: WordedFault, { service, call }: RequestInjectionContext): RawResponse {
  if (service.faults !== undefined) return service.faults.answer(fault, call, service.state)
  return json({ error: fault.kind }, fault.kind === 'status' ? fault.status : 429)
}

function refusedToken({ service, call }: RequestInjectionContext): RawResponse {
  const refusal = service.authorize(call.withoutToken(), service.name === 'stats' ? 'basic' : 'bearer')
  return refusal ?? json({ error: 'unauthorized' }, 401)
}
