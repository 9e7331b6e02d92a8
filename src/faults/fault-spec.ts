import type * as v from 'valibot'
import type { FaultKind, FaultMatch, FaultRule, PointOf } from './fault.js'
import type { ActionsAt, AttemptAction, Phase } from './fault-context.js'
import type { DeliveryInjectionPoint, InjectionPoint } from './points.js'

/** Adapters through which a fault reaches a client. */
export type Transport = 'fetch' | 'msw' | 'nock' | 'playwright' | 'server'

export interface AnyFault {
  readonly kind: string
}

/** Definition of one kind of fault: constructor, schema, effects, and the texts about it. */
export interface FaultSpec<F extends AnyFault> {
  /** Description on the reference page. */
  readonly summary: string
  /**
   * `answers` ends the evaluation: rules that were added later are skipped. `shapes` and `holds` continue with later
   * rules.
   */
  readonly effect: 'answers' | 'shapes' | 'holds'
  /** Describes the effect for the timeline, when no more precise description is known. */
  readonly sentence: (fault: F, phase: Phase) => string
  /** The constructor, under its name in `fault`: the kind in camel case. */
  readonly made: Readonly<Record<string, (...given: never[]) => F>>
  /** Names that users try as kinds, with what to write instead. */
  readonly meant?: Readonly<Record<string, string>>
  readonly fields: v.ObjectEntries
  /** Returns a conflict between fields that are valid one by one, or `undefined`. */
  readonly odd?: (fault: F) => string | undefined
  /** Additional conditions that the fault needs for a rule to match. */
  readonly also?: (fault: F) => Pick<FaultMatch, 'region'> & { readonly reads?: true }
  /** Returns the invalid field of a rule with this fault and the reason, or `undefined`. */
  readonly oddRule?: (fault: F, rule: FaultRule) => readonly [field: 'until' | 'fault', sentence: string] | undefined
  /** For a rule at a point where the fault has no effect: what to write instead. */
  readonly hints?: Partial<Record<InjectionPoint, string>>
  /** Arguments of the constructor in the documented example. */
  readonly sample: readonly unknown[]
  /** Injection point of the example on the reference page. */
  readonly shownAt: InjectionPoint
  /** Phases in which the fault can be injected, the default first. */
  readonly phases: readonly Phase[]
  /** Effects by injection point, in the order of the reference page. */
  readonly at: Partial<ActionsAt<F>>
  /** What an adapter does instead of a fault that it cannot express, and why. */
  readonly instead?: Partial<Record<Transport, string>>
}

/** A fault that can be a step of a destination's script. */
export interface StepRow<F extends AnyFault> extends FaultSpec<F> {
  readonly at: Partial<ActionsAt<F>> & Readonly<Record<DeliveryInjectionPoint, AttemptAction<F>>>
}

/** Requires an effect at each point that the type of rules allows for the fault, and at no other. */
type AtItsPoints<F extends AnyFault> = F['kind'] extends FaultKind
  ? {
      readonly at: { readonly [P in PointOf<F['kind']>]: unknown } & {
        readonly [P in Exclude<InjectionPoint, PointOf<F['kind']>>]?: never
      }
    }
  : unknown

/** A table of definitions: of faults that scripts can name, and of others. */
export type FaultGroup<Step extends AnyFault, Other extends AnyFault = never> = {
  readonly [K in Step['kind']]: StepRow<Extract<Step, { kind: K }>> & AtItsPoints<Extract<Step, { kind: K }>>
} & {
  readonly [K in Other['kind']]: FaultSpec<Extract<Other, { kind: K }>> & AtItsPoints<Extract<Other, { kind: K }>>
}
