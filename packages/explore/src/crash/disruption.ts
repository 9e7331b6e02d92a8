import type { FaultRule } from '../../../../src/faults/fault.js'
import { plural } from '../../../../src/kernel/plural.js'
import { permutations } from '../interleavings/fixed-order.js'
import type { RunDelivery } from './run-delivery.js'

/** What can disturb a run. Those up to `lazy-fetch` are places where the process that serves a delivery can die, but for `lost-response`. */
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

/** One thing that goes wrong in a schedule. */
export interface Disruption {
  readonly kind: DisruptionKind
  /** Which delivery of all runs it meets, 1 for the first. */
  readonly delivery: number
  /** Which request of that delivery, 0 for the first that submits something; `between-effects`: which of the others, `lost-response`: which call of a foreign host. */
  readonly submission: number
  /** `branch-order`: the branches by their keys, in the order in which they end. */
  readonly order: readonly string[]
  /** `early-event`: milliseconds for which the wait is held back. */
  readonly heldMs: number
  /** Names it, for `only`. */
  readonly id: string
  /** What happens, as a sentence. */
  readonly description: string
  /** The same for `sandbox.faults.add()`, as far as fault rules can say it. */
  readonly rules: readonly FaultRule[]
}

const maxBranches = 4

/** Everything that can disturb a run whose undisturbed deliveries are these, one thing at a time. */
export function disturbancesOf(deliveries: readonly RunDelivery[]): readonly Disruption[] {
  return [...deliveries.flatMap(disturbancesAt), ...parallelOrders(deliveries)]
}

function disturbancesAt(delivery: RunDelivery): Disruption[] {
  const { submissions, ordinal, place } = delivery
  const here = `delivery ${ordinal} (${delivery.told})`
  const meets = { on: place.point, ...(place.skip > 0 && { skip: place.skip }), times: 1 }
  const all: Disruption[] = [
    made('before-handler', delivery, {
      description: `the process dies as ${here} arrives, before the route`,
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
        description: `the process dies in ${here}, before ${what} leaves`,
        rules: [{ ...request, phase: 'before' }],
      }),
      made('after-submission', delivery, {
        submission,
        description: `the process dies in ${here}, after ${what} was accepted and before its answer`,
        rules: [{ ...request, phase: 'after' }],
      }),
    )
    if (waited !== undefined && waited.heldMs < delivery.timeout)
      all.push(
        made('early-event', delivery, {
          submission,
          heldMs: waited.heldMs,
          description: `${here} comes late with its wait: the event ${JSON.stringify(waited.eventId)} is there first`,
        }),
      )
  }
  all.push(
    made('after-answer', delivery, {
      description: `the process dies after ${here} was answered; the answer is lost`,
      rules: [{ ...meets, fault: { kind: 'lost-ack' } }],
    }),
  )
  if (!delivery.isCallback)
    all.push(made('lazy-fetch', delivery, { description: `the process dies in ${here}, while it fetches the steps` }))
  all.push(
    made('duplicate', delivery, {
      description: `${here} comes twice at the same instant`,
      rules: [{ ...meets, fault: { kind: 'duplicate', concurrent: true } }],
    }),
  )
  // One that failed comes again anyway.
  if (delivery.attempt.outcome?.state === 'DELIVERED')
    all.push(
      made('late-retry', delivery, {
        description: `${here} comes once more after the run went on`,
        rules: [{ ...meets, fault: { kind: 'duplicate', afterMs: 1000 } }],
      }),
    )
  return all
}

/** After each thing that code did to others but the last: the SDK's submission follows that one. */
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

/** A foreign host does its work, and its answer is lost: the app lives, and cannot know. */
function lostResponses(delivery: RunDelivery): Disruption[] {
  const { effects, ordinal } = delivery
  return effects.flatMap(({ call, what }) => {
    if (call === undefined) return []
    const { method, url, skip, nth } = call
    const match = { method, url }
    return made('lost-response', delivery, {
      submission: nth,
      id: `lost-response ${ordinal}.${nth + 1}`,
      description: `the answer to ${what} in delivery ${ordinal} (${delivery.told}) is lost, after the host did its work`,
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

/** Branches that begin at the same instant may end in any order. */
function parallelOrders(deliveries: readonly RunDelivery[]): Disruption[] {
  const groups = new Map<string, RunDelivery[]>()
  for (const delivery of deliveries) {
    if (!delivery.isPlan) continue
    const at = `${delivery.runId} ${delivery.at}`
    groups.set(at, [...(groups.get(at) ?? []), delivery])
  }
  return [...groups.values()].flatMap((group) => {
    // A branch that was tried again is one branch.
    const branches = [...new Map(group.map((delivery) => [delivery.key, delivery])).values()]
    return orders(branches).map((order) => {
      const names = order.map(({ told }) => told).join(', ')
      const id = `branch-order ${order.map(({ ordinal }) => ordinal).join('-')}`
      const told = `${plural(order.length, 'branch', 'branches')} end in the order ${names}`
      return made('branch-order', branches[0]!, { id, description: told, order: order.map(({ key }) => key) })
    })
  })
}

/** All orders but the given one; of many only those in which one goes first, and the reverse. */
function orders<T>(all: readonly T[]): T[][] {
  if (all.length <= maxBranches) return permutations(all).slice(1)
  const first = all.slice(1).map((one) => [one, ...all.filter((other) => other !== one)])
  return [...first, [...all].reverse()]
}
