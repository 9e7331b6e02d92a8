import type { Fault, FaultKind, FaultOf } from './fault.js'
import type { ActionAt, ActionsAt } from './fault-context.js'
import { faultGroups } from './fault-groups.js'
import type { AnyFault, FaultSpec } from './fault-spec.js'
import type { InjectionPoint } from './points.js'

/** One fault, described once: for rules and scripts, checks, pages, the JSON Schema and the control API. */
export interface FaultDefinition<K extends FaultKind = FaultKind> extends FaultSpec<FaultOf<K>> {
  readonly kind: K
  /** Where it has something to do. */
  readonly points: readonly InjectionPoint[]
  /** What its sample makes. */
  readonly example: FaultOf<K>
}

export const catalog: { readonly [K in FaultKind]: FaultDefinition<K> } = Object.fromEntries(
  faultGroups
    .flatMap((rows) => Object.entries(rows))
    .map(([kind, row]) => [kind, { kind, points: Object.keys(row.at), example: exampleOf(row), ...row }]),
) as never

function exampleOf({ made, sample }: FaultSpec<AnyFault>): AnyFault {
  const [make] = Object.values(made)
  return make!(...(sample as never[]))
}

/** The kinds of all faults. */
export const faultKinds: readonly FaultKind[] = Object.keys(catalog) as FaultKind[]

/** What a fault does at a point, from its row. Rules are checked when they are added. */
export function actionAt<P extends InjectionPoint>(point: P, fault: Fault): ActionAt<P, Fault> {
  // The compiler cannot see through the table that the row fits the kind of the fault.
  const { at } = catalog[fault.kind] as { readonly at: Partial<ActionsAt<never>> }
  const action = at[point] as ActionAt<P, Fault> | undefined
  if (action === undefined) throw new TypeError(`${fault.kind} has nothing to do at ${point}.`)
  return action
}

/** What a destination's script takes: kinds that strike an attempt which has begun. */
export const stepKinds: readonly FaultKind[] = faultKinds.filter(
  (kind) => catalog[kind].at['queue.delivery']?.meets !== undefined,
)

/** Whether a step of a script is something that goes wrong: some let a delivery pass, or answer with success. */
export function goesWrong(fault: Fault): boolean {
  return fault.kind !== 'pass' && !(fault.kind === 'status' && fault.status < 400)
}

/** The effect of a fault, as part of a sentence: for the timeline, when nothing more precise is known. */
export function effectOf(fault: Fault, phase: 'before' | 'after'): string {
  return (catalog[fault.kind] as FaultDefinition).sentence(fault as never, phase)
}
