import type { Fault, FaultKind, FaultOf } from './fault.js'
import type { ActionAt, ActionsAt } from './fault-context.js'
import { faultGroups } from './fault-groups.js'
import type { AnyFault, FaultSpec } from './fault-spec.js'
import type { InjectionPoint } from './points.js'

/**
 * Definition of one fault. Rules, scripts, checks, reference pages, the JSON Schema and the control API are derived
 * from it.
 */
export interface FaultDefinition<K extends FaultKind = FaultKind> extends FaultSpec<FaultOf<K>> {
  readonly kind: K
  readonly points: readonly InjectionPoint[]
  /** Fault that the constructor returns for the arguments in `sample`. */
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

/** Kinds of all faults, such as `lost-ack`. */
export const faultKinds: readonly FaultKind[] = Object.keys(catalog) as FaultKind[]

/**
 * Returns the effect of a fault at an injection point. `faults.add()` rejects a rule whose fault has no effect at a
 * point of the rule, so the effect exists.
 */
export function actionAt<P extends InjectionPoint>(point: P, fault: Fault): ActionAt<P, Fault> {
  // The catalog has the definition of each kind under the name of the kind. The compiler cannot prove this, hence the
  // cast.
  const { at } = catalog[fault.kind] as { readonly at: Partial<ActionsAt<never>> }
  const action = at[point] as ActionAt<P, Fault> | undefined
  if (action === undefined) throw new TypeError(`fault ${fault.kind} has no effect at ${point}.`)
  return action
}

/** Kinds of faults that a destination's script accepts: those that affect an attempt after it has begun. */
export const stepKinds: readonly FaultKind[] = faultKinds.filter(
  (kind) => catalog[kind].at['queue.delivery']?.meets !== undefined,
)

/** Returns whether a script step causes a failure. `pass` and statuses below 400 do not. */
export function goesWrong(fault: Fault): boolean {
  return fault.kind !== 'pass' && !(fault.kind === 'status' && fault.status < 400)
}

/** Returns the default description of a fault's effect, for the timeline. */
export function effectOf(fault: Fault, phase: 'before' | 'after'): string {
  return (catalog[fault.kind] as FaultDefinition).sentence(fault as never, phase)
}
