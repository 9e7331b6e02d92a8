import * as v from 'valibot'
import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { DeliveryFault, FaultOf, OrderFault, OrderStep } from './fault.js'
import {
  type AttemptFaultContext,
  atDeliveries,
  atRequestsAndOutbound,
  type DeliveryCopy,
  type FaultyOutcome,
  type FaultyResponse,
  type OnRequest,
} from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { optional, milliseconds as span, upToThousand } from './fault-values.js'
import { networkErrors } from './network-errors.js'
import { status } from './response-faults.js'
import { afterwards, brokenReply, oneNetworkError, outcomeText, wasReset } from './shared-effects.js'

// Faults that lose or delay a response, or that repeat, reorder or drop a delivery.

/**
 * Loses the response after the request was processed. The caller gets a connection reset (`fetch` rejects with cause
 * `ECONNRESET`), and the queue retries the delivery.
 * @example
 * sandbox.destinations.on('https://shop.test/orders', ordersRoute)
 * sandbox.destinations.script('https://shop.test/orders', [fault.lostAck()])
 * await checkout()
 * await sandbox.clock.drain()
 * // The first delivery did its work, and the queue saw a reset connection.
 * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: 2 })
 */
export function lostAck(): FaultOf<'lost-ack'> {
  return { kind: 'lost-ack' }
}

/**
 * Delays the response of a delivery until after its timeout.
 * @param by duration after the timeout; default 1 second
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.lateResponse('1s'), 200])
 */
export function lateResponse(by?: Duration): FaultOf<'late-response'> {
  return by === undefined ? { kind: 'late-response' } : { kind: 'late-response', byMs: milliseconds(by) }
}

/**
 * Repeats the request or delivery, after the previous response or concurrently.
 * @example sandbox.faults.add({ on: 'queue.delivery', fault: fault.duplicate({ copies: 1, concurrent: true }) })
 */
export function duplicate(
  options: { readonly copies?: number; readonly after?: Duration; readonly concurrent?: boolean } = {},
): FaultOf<'duplicate'> {
  checkOptionNames('fault.duplicate()', options, { copies: true, after: true, concurrent: true })
  const { copies, after, concurrent } = options
  return {
    kind: 'duplicate',
    ...(copies !== undefined && { copies }),
    ...(after !== undefined && { afterMs: milliseconds(after) }),
    ...(concurrent !== undefined && { concurrent }),
  }
}

/**
 * Holds a delivery back until a later delivery has ended, for at most this duration.
 * @example sandbox.faults.add({ on: 'queue.delivery', fault: fault.reorder('30s') })
 */
export function reorder(within: Duration): FaultOf<'reorder'> {
  return { kind: 'reorder', withinMs: milliseconds(within) }
}

/**
 * Delays a delivery. In a rule, the attempt begins later. In a script, the delay is part of the attempt, and the fault
 * `next` follows the delay.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.delay('5s', 503), 200])
 */
export function delay(wait: Duration, next?: DeliveryFault | number): FaultOf<'delay'> {
  const waitMs = milliseconds(wait)
  const then = typeof next === 'number' ? status(next) : next
  return then === undefined ? { kind: 'delay', waitMs } : { kind: 'delay', waitMs, then }
}

/**
 * Drops a delivery, without an attempt, a retry or a dead letter.
 * @example sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.drop() })
 */
export function drop(): FaultOf<'drop'> {
  return { kind: 'drop' }
}

/** Processes the request again, `copies` times. The client receives the first response. */
const asksAgain: OnRequest<FaultOf<'duplicate'>> = async ({ copies = 1, afterMs = 0, concurrent = false }, moment) => {
  const { task } = moment
  if (concurrent) {
    const [first] = await Promise.all(Array.from({ length: copies + 1 }, () => moment.onwards()))
    return first as FaultyResponse
  }
  const answer = await moment.onwards()
  for (let count = 0; count < copies; count++) {
    if (afterMs > 0) await task.sleep(afterMs)
    await moment.onwards()
  }
  return answer
}

/**
 * Delivers a message several times. The queue does not know about the additional deliveries. The attempt gets the
 * outcome of the first delivery.
 */
function deliversAgain(
  fault: FaultOf<'duplicate'>,
  moment: AttemptFaultContext,
): FaultyOutcome | Promise<FaultyOutcome> {
  const { copies = 1, afterMs = 0, concurrent = false } = fault
  const seen: string[] = []
  const again = async (copy: DeliveryCopy): Promise<void> => {
    const given = await copy.deliver()
    seen.push(given.error ?? String(given.status))
    moment.tell(
      `delivered ${copies + 1} times${concurrent ? ' at once' : ''}, the queue sees the first response only, other responses: ${seen.join(', ')}`,
    )
  }
  if (concurrent) {
    const given = moment.onwards()
    for (let count = 0; count < copies; count++) moment.again(0, again, 'now')
    return given
  }
  const others = async (copy: DeliveryCopy): Promise<void> => {
    for (let count = 0; count < copies; count++) {
      if (count > 0 && afterMs > 0) await copy.sleep(afterMs)
      await again(copy)
    }
  }
  return afterwards(moment, (given) => {
    moment.again(afterMs, others)
    return given
  })
}

const rows: FaultGroup<OrderStep, OrderFault> = {
  'lost-ack': {
    summary: 'The request is processed, but its response is lost.',
    effect: 'answers',
    sentence: () => 'the work is done, its response is lost',
    made: { lostAck },
    phases: ['after'],
    fields: {},
    sample: [],
    shownAt: 'queue.delivery',
    instead: oneNetworkError,
    at: {
      ...atRequestsAndOutbound<FaultOf<'lost-ack'>>(async (_fault, moment) => {
        await moment.onwards()
        throw wasReset()
      }),
      ...atDeliveries({
        meets: (_fault: FaultOf<'lost-ack'>, moment) =>
          afterwards(moment, (given) => ({
            ...brokenReply(networkErrors.reset),
            note: given.error === undefined ? `${outcomeText(given)}, its response was lost` : outcomeText(given),
          })),
      }),
      'store.command': (_fault, moment) => {
        if (moment.phase === 'after') moment.run()
        return moment.breakConnection()
      },
    },
  },
  'late-response': {
    summary:
      'A delivery is processed immediately, but its response arrives `byMs` (default 1 second) after the timeout of the delivery. For a request, the response is delayed by `byMs`.',
    effect: 'answers',
    sentence: () => 'the work is done, its response comes late',
    made: { lateResponse },
    phases: ['after'],
    fields: { byMs: optional(span) },
    sample: ['1s'],
    shownAt: 'queue.delivery',
    at: {
      ...atRequestsAndOutbound<FaultOf<'late-response'>>(async ({ byMs = 1000 }, { task, signal, onwards }) => {
        const answer = await onwards()
        await task.sleep(byMs, signal)
        return answer
      }),
      ...atDeliveries({
        meets({ byMs = 1000 }: FaultOf<'late-response'>, moment) {
          const due = moment.now() + moment.timeout + byMs
          // Time moves while the attempt sleeps. So run the handler before the sleep, at the instant of the delivery.
          return afterwards(moment, (given) => moment.sleep(Math.max(0, due - moment.now())).then(() => given))
        },
      }),
    },
  },
  duplicate: {
    summary:
      'The request or delivery is repeated `copies` times (default 1): `afterMs` after the previous response, or at the same instant with `concurrent`.',
    effect: 'shapes',
    sentence: ({ copies = 1, concurrent }) => `happens ${copies + 1} times${concurrent === true ? ' at once' : ''}`,
    made: { duplicate },
    phases: ['after'],
    fields: {
      copies: optional(upToThousand),
      afterMs: optional(span),
      concurrent: optional(v.boolean('must be true or false')),
    },
    sample: [{ copies: 1 }],
    shownAt: 'queue.delivery',
    at: {
      'store.request': asksAgain,
      'queue.request': asksAgain,
      'outbound.request': asksAgain,
      'workflow.wait': asksAgain,
      ...atDeliveries({ meets: deliversAgain }),
      'schedule.fire': ({ copies = 1, afterMs = 0 }, moment) => {
        moment.times += copies
        moment.apart = afterMs
      },
      'stream.event': ({ copies = 1 }, moment) => {
        moment.copies += copies
      },
    },
  },
  reorder: {
    summary: 'The delivery is held until a later delivery has ended, for at most `withinMs`.',
    effect: 'holds',
    sentence: ({ withinMs }) => `held until a later delivery has ended, at most ${formatDuration(withinMs)}`,
    made: { reorder },
    phases: ['before'],
    fields: { withinMs: span },
    sample: ['1m'],
    shownAt: 'queue.delivery',
    at: atDeliveries({ holds: ({ withinMs }: FaultOf<'reorder'>, moment) => moment.waitForNext(withinMs) }),
  },
  delay: {
    summary:
      'The delivery begins `waitMs` later. In the script of a destination, the delay is part of the attempt, and the fault `then` follows the delay.',
    effect: 'holds',
    sentence: ({ waitMs }) => `held for ${formatDuration(waitMs)}`,
    made: { delay },
    phases: ['before'],
    fields: { waitMs: span },
    oddRule: (fault) =>
      'then' in fault ? ['fault', 'of kind delay can have `then` only in a script. Add a second rule'] : undefined,
    sample: ['90s'],
    shownAt: 'queue.callback',
    at: {
      ...atDeliveries({
        holds({ waitMs }: FaultOf<'delay'>, moment) {
          if (waitMs === 0) return
          moment.log()
          moment.wait(waitMs, 'held by a fault')
        },
        next: ({ then }: FaultOf<'delay'>) => then,
        meets: ({ waitMs, then }: FaultOf<'delay'>, moment) =>
          moment.sleep(waitMs).then(() => (then === undefined ? moment.onwards() : moment.play(then))),
      }),
      'schedule.fire': ({ waitMs }, moment) => {
        moment.wait += waitMs
      },
    },
  },
  drop: {
    summary: 'The delivery, fire or event is dropped: no attempt, no retry, no dead letter.',
    effect: 'answers',
    sentence: () => 'vanishes',
    made: { drop },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'queue.callback',
    at: {
      ...atDeliveries({
        holds(_fault: FaultOf<'drop'>, moment) {
          moment.log()
          moment.vanish()
        },
      }),
      'schedule.fire': (_fault, moment) => {
        moment.times = 0
        moment.tell(`schedule ${moment.scheduleId} does not fire at its time`)
      },
      'stream.event': (_fault, moment) => {
        moment.copies = 0
      },
    },
  },
}
export default rows
