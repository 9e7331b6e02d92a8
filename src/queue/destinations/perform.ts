import { longestSpan } from '../../faults/catalog.js'
import type { DeliveryFault, DuplicateFault } from '../../faults/fault.js'
import { waitOf } from '../../faults/latency.js'
import type { Bytes } from '../../kernel/bytes.js'
import { formatDuration } from '../../kernel/duration.js'
import { type HeaderList, noHeaders } from '../../kernel/header-list.js'
import type { Attempt } from './attempt.js'
import type { DeliveryContext } from './destinations.js'
import { rateLimitAnswer } from './rate-limit.js'
import { networkErrors } from './script.js'
import { broken, type WireReply, wire } from './wire.js'

// What faults do to one attempt: those of rules, in the order in which they struck, and those of scripts.

type Maybe<T> = T | Promise<T>

/** A fault that an attempt meets. */
export interface Encounter {
  readonly fault: DeliveryFault
  readonly phase: 'before' | 'after'
  draw(below: number): number
  /** Writes down what came of it. */
  tell?(effect: string): void
}

export interface Scene {
  readonly attempt: Attempt
  readonly context: DeliveryContext
  /** In the vendor's words. */
  readonly nonRetryableHeader: string
  /** Lets what lies underneath answer: a handler, a script, the network. */
  underneath(context: DeliveryContext): Maybe<WireReply>
}

/** The destination will not answer: the attempt ends by its time-out. */
export const noAnswer: WireReply = {
  status: 0,
  headers: noHeaders,
  body: '' as Bytes,
  error: 'no answer',
  never: true,
}

/** Plays the faults around each other, the first outermost. */
export function perform(encounters: readonly Encounter[], scene: Scene, from = 0): Maybe<WireReply> {
  const met = encounters[from]
  if (met === undefined) return scene.underneath(scene.context)
  const { fault, phase } = met
  const { attempt, context } = scene
  const { task } = context
  const onwards = (): Maybe<WireReply> => perform(encounters, scene, from + 1)
  /** The work is done, then the answer suffers. */
  const afterwards = (suffer: (given: WireReply) => Maybe<WireReply>): Maybe<WireReply> => {
    const given = onwards()
    return given instanceof Promise ? given.then(suffer) : suffer(given)
  }
  const instead = (reply: WireReply): Maybe<WireReply> =>
    phase === 'before' ? reply : afterwards((given) => ({ ...reply, note: `${deed(given)}, its answer was replaced` }))
  switch (fault.kind) {
    case 'pass':
      return onwards()
    case 'status':
      return instead(wire(fault.status, fault.headers, fault.body))
    case 'rate-limited':
      return rateLimitAnswer(fault, context.now())
    case 'non-retryable':
      return wire(489, { [scene.nonRetryableHeader]: 'true' }, fault.body)
    case 'reset':
    case 'refused':
    case 'unresolved':
    case 'certificate':
      return phase === 'before'
        ? broken(networkErrors[fault.kind])
        : afterwards((given) => ({ ...broken(networkErrors.reset), note: `${deed(given)}, its answer was lost` }))
    case 'hang': {
      const hanging = (note: string | undefined): Maybe<WireReply> => silence(context, fault.forMs, note)
      return phase === 'before'
        ? hanging(undefined)
        : afterwards((given) => hanging(`${deed(given)}, nobody heard of it`))
    }
    case 'half-open':
      return afterwards((given) =>
        given.error !== undefined
          ? given
          : silence(context, fault.forMs, `${deed(given)}, its headers arrived, its body did not`),
      )
    case 'truncate':
      return afterwards((given) => truncatedReply(given, fault.afterBytes))
    case 'corrupt-json':
      return afterwards((given) => (given.error !== undefined ? given : { ...given, body: corrupted(given.body) }))
    case 'slow-body':
      return afterwards((given) => {
        const wait = Math.min(longestSpan, Math.round((given.body.length / fault.bytesPerSecond) * 1000))
        return wait === 0 ? given : task.sleep(wait).then(() => given)
      })
    case 'content-type':
      return afterwards((given) =>
        given.error !== undefined ? given : { ...given, headers: withContentType(given.headers, fault.type) },
      )
    case 'lost-ack':
      return afterwards((given) => ({ ...broken(networkErrors.reset), note: lossOf(given) }))
    case 'late-answer': {
      const begun = task.sleep(context.timeout + (fault.byMs ?? 1000))
      return Promise.resolve(onwards()).then((given) => begun.then(() => given))
    }
    case 'latency': {
      const wait = waitOf(fault, (below) => met.draw(below))
      met.tell?.(`takes ${formatDuration(wait)} more${phase === 'after' ? ' to answer' : ''}`)
      if (wait === 0) return onwards()
      if (phase === 'before') return task.sleep(wait).then(onwards)
      return afterwards((given) => task.sleep(wait).then(() => given))
    }
    case 'delay':
      return task.sleep(fault.waitMs).then(() => (fault.then === undefined ? onwards() : then(fault.then, met, scene)))
    case 'duplicate':
      return duplicated(fault, met, scene, onwards)
    case 'signature':
      attempt.signing = { flaw: fault.flaw }
      return onwards()
    case 'clock-skew':
      attempt.signing = { skewMs: fault.byMs }
      return onwards()
  }
}

/** The step that a waiting step ends with. */
function then(fault: DeliveryFault, met: Encounter, scene: Scene): Maybe<WireReply> {
  return perform([{ fault, phase: 'before', draw: (below) => met.draw(below) }], scene)
}

function silence(context: DeliveryContext, forMs: number | undefined, note: string | undefined): Maybe<WireReply> {
  const told = note === undefined ? {} : { note }
  if (forMs === undefined) return note === undefined ? noAnswer : { ...noAnswer, ...told }
  return context.task.sleep(forMs).then(() => ({ ...broken(networkErrors.closed), ...told }))
}

function truncatedReply(given: WireReply, afterBytes: number): WireReply {
  const { length } = given.body
  if (given.error !== undefined || length <= afterBytes) return given
  return {
    ...broken(networkErrors.closed),
    note: `${deed(given)}, its body broke off after ${afterBytes} of ${length} bytes`,
  }
}

/** Never JSON, and as long as it was; of an empty body one char. */
export function corrupted(body: Bytes): Bytes {
  return `${body.slice(0, -1)}<` as Bytes
}

export function withContentType(headers: HeaderList, type: string): HeaderList {
  return [...headers.filter(([name]) => name.toLowerCase() !== 'content-type'), ['content-type', type]]
}

/** The copies are deliveries of their own, of which the queue sees nothing: its answer is that of the first. */
function duplicated(
  fault: DuplicateFault,
  met: Encounter,
  scene: Scene,
  first: () => Maybe<WireReply>,
): Maybe<WireReply> {
  const { copies = 1, afterMs = 0, concurrent = false } = fault
  const seen: string[] = []
  const copy = async (context: DeliveryContext): Promise<void> => {
    const given = await scene.underneath(context)
    seen.push(given.error ?? String(given.status))
    met.tell?.(
      `delivered ${copies + 1} times${concurrent ? ' at once' : ''}, the queue sees the first answer only; the others: ${seen.join(', ')}`,
    )
  }
  if (concurrent) {
    const given = first()
    for (let count = 0; count < copies; count++) scene.context.again(0, copy, 'now')
    return given
  }
  const others = async (context: DeliveryContext): Promise<void> => {
    for (let count = 0; count < copies; count++) {
      if (count > 0 && afterMs > 0) await context.task.sleep(afterMs)
      await copy(context)
    }
  }
  const given = first()
  const follow = (reply: WireReply): WireReply => {
    scene.context.again(afterMs, others)
    return reply
  }
  return given instanceof Promise ? given.then(follow) : follow(given)
}

function lossOf(given: WireReply): string {
  return given.error === undefined
    ? `the handler ran and answered ${given.status}, its answer was lost`
    : `the handler ran and failed: ${given.error}`
}

function deed(given: WireReply): string {
  return given.error === undefined
    ? `the handler ran and answered ${given.status}`
    : `the handler ran and failed: ${given.error}`
}
