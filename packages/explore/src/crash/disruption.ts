import type { FaultRule } from '../../../../src/faults/fault.js'
import { plural } from '../../../../src/kernel/plural.js'
import { permutations } from '../interleavings/fixed-order.js'
import type { RunDelivery } from './run-delivery.js'

/** Kinds of disruptions. Those up to `lazy-fetch`, except `lost-response`, are crash points. */
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

/** One disruption in a crash plan. */
export interface Disruption {
  /** Kind of the disruption, such as `duplicate`. */
  readonly kind: DisruptionKind
  /** Number of the delivery, counted over all workflow runs, from 1. */
  readonly delivery: number
  /**
   * Index of the submission in its delivery, from 0. For `between-effects` it is the index of an effect, for
   * `lost-response` the index of an outbound request.
   */
  readonly submission: number
  /** For `branch-order`: keys of the branches, in the order in which they end. */
  readonly order: readonly string[]
  /** For `early-event`: milliseconds for which the wait is held back. */
  readonly heldMs: number
  /** Name of the disruption, for the option `only`. */
  readonly id: string
  /** Description of what happens. */
  readonly description: string
  /** Equivalent rules for `sandbox.faults.add()`; empty if fault rules cannot express the disruption. */
  readonly rules: readonly FaultRule[]
}

const maxBranches = 4

/** Returns all disruptions that are possible in a run with these undisturbed deliveries. */
export function disturbancesOf(deliveries: readonly RunDelivery[]): readonly Disruption[] {
  return [...deliveries.flatMap(disturbancesAt), ...parallelOrders(deliveries)]
}

function disturbancesAt(delivery: RunDelivery): Disruption[] {
  const { submissions, ordinal, place } = delivery
  const here = `delivery ${ordinal} (${delivery.told})`
  const meets = { on: place.point, ...(place.skip > 0 && { skip: place.skip }), times: 1 }
  const all: Disruption[] = [
    made('before-handler', delivery, {
      description: `the process dies as ${here} arrives, before the handler`,
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
          description: `${here} is late with its wait: the event ${JSON.stringify(waited.eventId)} arrives first`,
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
  // A failed delivery is retried without a disruption.
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
 * Returns a crash after each visible effect except the last one. After the last effect the SDK submits a result, which
 * is a crash point of its own.
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
 * Returns the outbound requests whose response can be lost: the host does its work, and the process survives without
 * knowing the result.
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

/** Returns the orders in which branches can end that begin at the same instant. */
function parallelOrders(deliveries: readonly RunDelivery[]): Disruption[] {
  const groups = new Map<string, RunDelivery[]>()
  for (const delivery of deliveries) {
    if (!delivery.isPlan) continue
    const at = `${delivery.runId} ${delivery.at}`
    groups.set(at, [...(groups.get(at) ?? []), delivery])
  }
  return [...groups.values()].flatMap((group) => {
    // A branch that was retried counts as one branch.
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
 * Returns all orders except the given one. With more than four branches, it returns only the orders in which another
 * branch comes first, and the reverse order.
 */
function orders<T>(all: readonly T[]): T[][] {
  if (all.length <= maxBranches) return permutations(all).slice(1)
  const first = all.slice(1).map((one) => [one, ...all.filter((other) => other !== one)])
  return [...first, [...all].reverse()]
}
