import type { Fault, FaultOf, FaultPoint, FaultSource, Strike } from '../faults/fault.js'
import { waitOf } from '../faults/latency.js'
import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { VirtualClock } from '../kernel/clock.js'
import { formatDuration } from '../kernel/duration.js'
import { reasonPhrase } from '../kernel/reason-phrase.js'
import type { Task } from '../kernel/time.js'
import { cutBody, patience, silentBody, slowBody } from './broken-bodies.js'
import { RequestFacts } from './request-facts.js'
import { ConnectionBroken, json } from './respond.js'
import type { RoutedCall } from './routed-call.js'
import type { Answer, Service, WordedFault } from './service.js'
import { cutEvents, stalledEvents } from './struck-streams.js'

// What faults do to one request: those of rules, in the order in which they struck.

export interface StruckRequest {
  readonly service: Service
  readonly strikes: readonly Strike[]
  readonly faults: FaultSource
}

interface Scene extends StruckRequest {
  readonly call: RoutedCall
  readonly task: Task
  readonly clock: VirtualClock
  serve(): Answer | Promise<Answer>
}

const points = { store: 'store.request', queue: 'queue.request', stats: 'stats.request' } as const

const gone: Strike = {
  fault: { kind: 'refused' },
  phase: 'before',
  answers: true,
  draw: () => 0,
  until: undefined,
  log: () => ({}),
}

/** What strikes a request, `undefined` when nothing does. */
export function struckBy(
  faults: FaultSource,
  call: RoutedCall,
  service: Service,
  clock: VirtualClock,
): StruckRequest | undefined {
  const { armed, down } = faults
  if (down !== undefined && (down[call.service] ?? 0) > clock.now()) return { service, strikes: [gone], faults }
  const point = points[call.service]
  const opens = armed['stream.open'] !== undefined && call.endpoint?.opensStream === true
  if (armed[point] === undefined && !opens) return undefined
  const facts = new RequestFacts(call, service)
  const asked = (at: FaultPoint): readonly Strike[] => faults.ask(at, facts) ?? []
  const first = asked(point)
  const strikes = opens && first.at(-1)?.answers !== true ? [...first, ...asked('stream.open')] : first
  return strikes.length === 0 ? undefined : { service, strikes, faults }
}

/** Plays the faults around each other, the first outermost. Rejects with ConnectionBroken where no answer arrives. */
export async function serveStruck(scene: Scene): Promise<Answer> {
  return play(scene, 0)
}

async function play(scene: Scene, from: number): Promise<Answer> {
  const strike = scene.strikes[from]
  if (strike === undefined) return scene.serve()
  const { call, task } = scene
  const { fault, phase } = strike
  const onwards = (): Promise<Answer> => play(scene, from + 1)
  const record = strike.log(call.cause === 0 ? undefined : call.cause, call.url)
  const { signal } = call
  if (phase === 'after' && answersItself.has(fault.kind)) await onwards()
  switch (fault.kind) {
    case 'latency': {
      const wait = waitOf(fault, (below) => strike.draw(below))
      record.effect = `takes ${formatDuration(wait)} more${phase === 'after' ? ' to answer' : ''}`
      if (wait === 0) return onwards()
      if (phase === 'before') {
        // A request that is on its way arrives, whether or not its client still waits.
        await task.sleep(wait)
        return onwards()
      }
      const answer = await onwards()
      await task.sleep(wait, signal)
      return answer
    }
    case 'status':
      return statusAnswer(fault, scene)
    case 'rate-limited':
    case 'quota':
      return worded(fault, scene)
    case 'revoked-token':
      return refusedToken(scene)
    case 'outage':
      if (fault.status !== undefined) return statusAnswer({ kind: 'status', status: fault.status }, scene)
      throw new ConnectionBroken('ECONNREFUSED', 'connect ECONNREFUSED')
    case 'reset':
      throw reset()
    case 'lost-ack':
      await onwards()
      throw reset()
    case 'restart': {
      const until = scene.clock.now() + (fault.downMs ?? 0)
      scene.faults.takeDown(call.service, until)
      scene.service.faults?.restart?.(until, scene.service.state)
      throw reset()
    }
    case 'refused':
      throw new ConnectionBroken('ECONNREFUSED', 'connect ECONNREFUSED')
    case 'unresolved':
      throw new ConnectionBroken('ENOTFOUND', 'getaddrinfo ENOTFOUND')
    case 'certificate':
      throw new ConnectionBroken('CERT_HAS_EXPIRED', 'certificate has expired')
    case 'hang':
      await task.sleep(fault.forMs ?? patience, signal)
      if (fault.forMs === undefined) record.effect = `no answer for ${formatDuration(patience)}, then given up`
      throw fault.forMs === undefined ? new ConnectionBroken('ETIMEDOUT', 'no answer came') : reset()
    case 'late-answer': {
      const answer = await onwards()
      await task.sleep(fault.byMs ?? 1000, signal)
      return answer
    }
    case 'duplicate':
      return duplicated(fault, scene, onwards)
    case 'half-open':
      return silentBody(await onwards(), task, fault.forMs ?? patience)
    case 'truncate': {
      const answer = await onwards()
      const size = typeof answer.body === 'string' ? answer.body.length : undefined
      if (size === undefined) record.effect = 'there is no body to cut'
      else if (size <= fault.afterBytes) record.effect = `the body has ${size} bytes only, nothing is cut`
      return cutBody(answer, fault.afterBytes)
    }
    case 'corrupt-json':
      return withCorruptBody(await onwards())
    case 'slow-body':
      return slowBody(await onwards(), task, fault.bytesPerSecond)
    case 'content-type':
      return withContentType(await onwards(), fault.type)
    case 'cut-stream':
      return cutEvents(await onwards(), fault.afterEvents)
    case 'stall-stream':
      return stalledEvents(await onwards(), fault.afterEvents, fault.forMs, scene.clock)
    default:
      return onwards()
  }
}

/** Kinds that know both phases: after the work its answer is thrown away. */
const answersItself: ReadonlySet<Fault['kind']> = new Set(['status', 'reset', 'hang', 'restart'])

function reset(): ConnectionBroken {
  return new ConnectionBroken('ECONNRESET', 'read ECONNRESET')
}

function statusAnswer({ status, headers = {}, body }: FaultOf<'status'>, scene: Scene): Answer {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name.toLowerCase(), one as string]),
  )
  if (body !== undefined) return { status, headers: list, body: utf8(body) }
  const text = (reasonPhrase(status) ?? `status ${status}`).toLowerCase()
  const answer = status < 300 ? { status, headers: [], body: null } : worded({ kind: 'status', status, text }, scene)
  const own = new Set(list.map(([name]) => name))
  return { ...answer, headers: [...answer.headers.filter(([name]) => !own.has(name)), ...list] }
}

function worded(fault: WordedFault, { service, call }: Scene): Answer {
  if (service.faults !== undefined) return service.faults.answer(fault, call, service.state)
  return json({ error: fault.kind }, fault.kind === 'status' ? fault.status : 429)
}

/** As the service refuses a call without a token that it knows. */
function refusedToken({ service, call }: Scene): Answer {
  const refusal = service.authorize(call.withoutToken(), service.name === 'stats' ? 'basic' : 'bearer')
  return refusal ?? json({ error: 'unauthorized' }, 401)
}

/** The work is done again; the client sees the first answer. */
async function duplicated(
  { copies = 1, afterMs = 0, concurrent = false }: FaultOf<'duplicate'>,
  { task }: Scene,
  onwards: () => Promise<Answer>,
): Promise<Answer> {
  if (concurrent) {
    const [first] = await Promise.all(Array.from({ length: copies + 1 }, onwards))
    return first!
  }
  const answer = await onwards()
  for (let count = 0; count < copies; count++) {
    if (afterMs > 0) await task.sleep(afterMs)
    await onwards()
  }
  return answer
}

function withCorruptBody(answer: Answer): Answer {
  if (answer.body !== null && typeof answer.body !== 'string') return answer
  return { ...answer, body: `${(answer.body ?? '').slice(0, -1)}<` as Bytes }
}

function withContentType(answer: Answer, type: string): Answer {
  const others = answer.headers.filter(([name]) => name.toLowerCase() !== 'content-type')
  return { ...answer, headers: [...others, ['content-type', type]] }
}
