import type { FaultRule } from '../../../../src/faults/fault.js'
import { plural } from '../../../../src/kernel/plural.js'
import { permutations } from '../interleavings/fixed-order.js'
import type { RunDelivery } from './run-delivery.js'

/** Kinds of disruptions. The first ones, up to `lazy-fetch`, are crash points, except `lost-response`. */
const disturbanceKinds = [
  'before-handler',
  'between-effects',
  'lost-response',
  'before-submission',
  'after-submission',
  'after-answer',
  'lazy-fetch',
  'duplicate',
  'late-retry',
  'branch-order',
  'early-event',
] as const
/** The kind of a disruption, such as `duplicate`. */
export type DisruptionKind = (typeof disturbanceKinds)[number]

/** One disruption: something that goes wrong at one delivery of a crash plan. */
export interface Disruption {
  /** Kind of the disruption, such as `duplicate`. */
  readonly kind: DisruptionKind
  /** Number of the disrupted delivery, from 1, counted over all workflow runs. */
  readonly delivery: number
  /**
   * Index of the submission in its delivery, from 0. The kind `between-effects` has the index of an effect instead, and
   * `lost-response` the index of an outbound request.
   */
  readonly submission: number
  /** For `branch-order`: keys of the parallel branches, in the order in which they must end. */
  readonly order: readonly string[]
  /** For `early-event`: number of milliseconds for which the submission of the wait is held back. */
  readonly heldMs: number
  /** Name of the disruption, for the option `only`. */
  readonly id: string
  /** Description of the disruption, as a phrase. */
  readonly description: string
  /** Fault rules with the same effect, for `sandbox.faults.add()`. Empty if no fault rule has that effect. */
  readonly rules: readonly FaultRule[]
}

const maxBranches = 4

/** Returns every disruption that is possible at the deliveries of the undisturbed run. */
export function disturbancesOf(deliveries: readonly RunDelivery[]): readonly Disruption[] {
  return [...deliveries.flatMap(disturbancesAt), ...parallelOrders(deliveries)]
}

function disturbancesAt(delivery: RunDelivery): Disruption[] {
  const { submissions, ordinal, place } = delivery
  const here = `delivery ${ordinal} (${delivery.told})`
  const meets = { on: place.point, ...(place.skip > 0 && { skip: place.skip }), times: 1 }
  const all: Disruption[] = [
    made('before-handler', delivery, {
      description: `the process dies as ${here} arrives, before the handler runs`,
      rules: [{ ...meets, phase: 'before', fault: { kind: 'reset' } }],
    }),
  ]
  all.push(...betweenEffects(delivery), ...lostResponses(delivery))
  for (const [submission, { skip, endpoint, method, what, waited }] of submissions.entries()) {
    const fault = { kind: 'status', status: 500 } as const
    const request: FaultRule = {
      on: 'queue.request',
      match: { method, path: endpoint },
      ...(skip > 0 && { skip }),
      times: 1,
      fault,
    }
    all.push(
      made('before-submission', delivery, {
        submission,
        description: `the process dies in ${here}, before ${what} is submitted`,
        rules: [{ ...request, phase: 'before' }],
      }),
      made('after-submission', delivery, {
        submission,
        description: `the process dies in ${here}, after ${what} was accepted and before its response`,
        rules: [{ ...request, phase: 'after' }],
      }),
    )
    if (waited !== undefined && waited.heldMs < delivery.timeout)
      all.push(
        made('early-event', delivery, {
          submission,
          heldMs: waited.heldMs,
          description: `${here} submits its wait only after the event ${JSON.stringify(waited.eventId)} has arrived`,
        }),
      )
  }
  all.push(
    made('after-answer', delivery, {
      description: `the process dies after ${here} was handled; the response is lost`,
      rules: [{ ...meets, fault: { kind: 'lost-ack' } }],
    }),
  )
  if (!delivery.isCallback)
    all.push(made('lazy-fetch', delivery, { description: `the process dies in ${here}, while it fetches the steps` }))
  all.push(
    made('duplicate', delivery, {
      description: `${here} is delivered twice at the same instant`,
      rules: [{ ...meets, fault: { kind: 'duplicate', concurrent: true } }],
    }),
  )
  // The queue retries a failed delivery anyway, so only a successful delivery needs this disruption.
  if (delivery.attempt.outcome?.state === 'DELIVERED')
    all.push(
      made('late-retry', delivery, {
        description: `${here} is delivered again after the run continued`,
        rules: [{ ...meets, fault: { kind: 'duplicate', afterMs: 1000 } }],
      }),
    )
  return all
}

/**
 * Returns crashes between two visible effects. After the last effect the SDK submits a result, which has its own crash
 * points.
 */
function betweenEffects(delivery: RunDelivery): Disruption[] {
  const { effects, ordinal } = delivery
  const seen = [...effects.entries()].filter(([, { isSeen }]) => isSeen)
  return seen.slice(1).map(([, next], at) => {
    const [submission, { what }] = seen[at]!
    const told = `the process dies in delivery ${ordinal} (${delivery.told}), after ${what} and before ${next.what}`
    return made('between-effects', delivery, {
      submission,
      id: `between-effects ${ordinal}.${at + 1}`,
      description: told,
    })
  })
}

/**
 * Returns a lost response for each outbound request. The external host does its work, but the app does not get the
 * result.
 */
function lostResponses(delivery: RunDelivery): Disruption[] {
  const { effects, ordinal } = delivery
  return effects.flatMap(({ call, what }) => {
    if (call === undefined) return []
    const { method, url, skip, nth } = call
    const match = { method, url }
    return made('lost-response', delivery, {
      submission: nth,
      id: `lost-response ${ordinal}.${nth + 1}`,
      description: `the response to ${what} in delivery ${ordinal} (${delivery.told}) is lost, after the host did its work`,
      rules: [{ on: 'outbound.request', match, ...(skip > 0 && { skip }), times: 1, fault: { kind: 'lost-ack' } }],
    })
  })
}

type DisruptionFields = Partial<Disruption> & { readonly description: string }

function made(kind: DisruptionKind, { ordinal, submissions }: RunDelivery, given: DisruptionFields): Disruption {
  const { submission = 0, order = [], heldMs = 0, rules = [], description: told } = given
  const nth = submissions.length > 1 && given.submission !== undefined ? `.${submission + 1}` : ''
  return {
    kind,
    delivery: ordinal,
    submission,
    order,
    heldMs,
    id: given.id ?? `${kind} ${ordinal}${nth}`,
    description: told,
    rules,
  }
}

/** Returns other orders for parallel branches that begin at the same instant. */
function parallelOrders(deliveries: readonly RunDelivery[]): Disruption[] {
  const groups = new Map<string, RunDelivery[]>()
  for (const delivery of deliveries) {
    if (!delivery.isPlan) continue
    const at = `${delivery.runId} ${delivery.at}`
    groups.set(at, [...(groups.get(at) ?? []), delivery])
  }
  return [...groups.values()].flatMap((group) => {
    // A retried branch has several deliveries with the same key. Count it once.
    const branches = [...new Map(group.map((delivery) => [delivery.key, delivery])).values()]
    return orders(branches).map((order) => {
      const names = order.map(({ told }) => told).join(', ')
      const id = `branch-order ${order.map(({ ordinal }) => ordinal).join('-')}`
      const told = `${plural(order.length, 'branch', 'branches')} end in the order ${names}`
      return made('branch-order', branches[0]!, { id, description: told, order: order.map(({ key }) => key) })
    })
  })
}

/**
 * Returns the other orders of a list. For more than four items, returns only some orders: those with one other item
 * moved to the front, and the reverse order.
 */
function orders<T>(all: readonly T[]): T[][] {
  if (all.length <= maxBranches) return permutations(all).slice(1)
  const first = all.slice(1).map((one) => [one, ...all.filter((other) => other !== one)])
  return [...first, [...all].reverse()]
}
