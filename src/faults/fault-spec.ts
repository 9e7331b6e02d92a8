import type * as v from 'valibot'
import type { FaultKind, FaultMatch, FaultRule, PointOf } from './fault.js'
import type { ActionsAt, AttemptAction, Phase } from './fault-context.js'
import type { DeliveryInjectionPoint, InjectionPoint } from './points.js'

/** Ways in which a fault reaches a client. */
export type Transport = 'fetch' | 'msw' | 'nock' | 'playwright' | 'server'

export interface AnyFault {
  readonly kind: string
}

/** Everything about one fault: its name, how it is written and checked, what it does, and the texts about it. */
export interface FaultSpec<F extends AnyFault> {
  /** What happens, as one sentence. */
  readonly summary: string
  /** `answers` ends the search: rules that were added later are not asked. `shapes` and `holds` let them be asked. */
  readonly effect: 'answers' | 'shapes' | 'holds'
  /** Its effect, as part of a sentence: for the timeline, when nothing more precise is known. */
  readonly sentence: (fault: F, phase: Phase) => string
  /** Its constructor by its name in `fault`: the kind in camel case. */
  readonly made: Readonly<Record<string, (...given: never[]) => F>>
  /** Names that look like kinds, and what to write instead. */
  readonly meant?: Readonly<Record<string, string>>
  readonly fields: v.ObjectEntries
  /** A conflict between fields that are valid one by one; `undefined` if there is none. */
  readonly odd?: (fault: F) => string | undefined
  /** What must be so besides what a rule with it matches. */
  readonly also?: (fault: F) => Pick<FaultMatch, 'region'> & { readonly reads?: true }
  /** What no rule with it can be: the field that is wrong, and what is wrong with it. */
  readonly oddRule?: (fault: F, rule: FaultRule) => readonly [field: 'until' | 'fault', sentence: string] | undefined
  /** For a rule where it does not strike: what may have been meant. */
  readonly hints?: Partial<Record<InjectionPoint, string>>
  /** What its first constructor is given where it is shown. */
  readonly sample: readonly unknown[]
  /** Where the sample strikes in the table of effects. */
  readonly shownAt: InjectionPoint
  /** When it can strike, the default first. */
  readonly phases: readonly Phase[]
  /** Where it strikes, in the order of the page, and what it does there. */
  readonly at: Partial<ActionsAt<F>>
  /** What an adapter does instead of a fault that it cannot express, and why. */
  readonly instead?: Partial<Record<Transport, string>>
}

/** A fault that can be a step of a destination's script. */
export interface StepRow<F extends AnyFault> extends FaultSpec<F> {
  readonly at: Partial<ActionsAt<F>> & Readonly<Record<DeliveryInjectionPoint, AttemptAction<F>>>
}

/** Something to do at each point where the type of rules lets the fault strike, and at no other. */
type AtItsPoints<F extends AnyFault> = F['kind'] extends FaultKind
  ? {
      readonly at: { readonly [P in PointOf<F['kind']>]: unknown } & {
        readonly [P in Exclude<InjectionPoint, PointOf<F['kind']>>]?: never
      }
    }
  : unknown

/** A table of rows: of faults that scripts can name, and of others. */
export type FaultGroup<Step extends AnyFault, Other extends AnyFault = never> = {
  readonly [K in Step['kind']]: StepRow<Extract<Step, { kind: K }>> & AtItsPoints<Extract<Step, { kind: K }>>
} & {
  readonly [K in Other['kind']]: FaultSpec<Extract<Other, { kind: K }>> & AtItsPoints<Extract<Other, { kind: K }>>
}
