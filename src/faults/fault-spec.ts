import type * as v from 'valibot'
import type { FaultKind, FaultMatch, FaultRule, PointOf } from './fault.js'
import type { ActionsAt, AttemptAction, Phase } from './fault-context.js'
import type { DeliveryInjectionPoint, InjectionPoint } from './points.js'

/** Adapters through which a fault reaches a client. */
export type Transport = 'fetch' | 'msw' | 'nock' | 'playwright' | 'server'

export interface AnyFault {
  readonly kind: string
}

/** Definition of one kind of fault: its constructor, schema, effects and texts. */
export interface FaultSpec<F extends AnyFault> {
  /** Description on the reference page. */
  readonly summary: string
  /**
   * How the fault affects the evaluation. `answers`: it ends, and rules that were added later are skipped. `shapes` and
   * `holds`: it continues with later rules.
   */
  readonly effect: 'answers' | 'shapes' | 'holds'
  /** Returns the default description of the effect, for the timeline. */
  readonly sentence: (fault: F, phase: Phase) => string
  /** Constructor of the fault, under its name in `fault`: the kind in camel case. */
  readonly made: Readonly<Record<string, (...given: never[]) => F>>
  /** Names that users may write instead of a kind, each with the correct spelling. */
  readonly meant?: Readonly<Record<string, string>>
  readonly fields: v.ObjectEntries
  /** Returns a message about fields that are valid individually but conflict, or `undefined`. */
  readonly odd?: (fault: F) => string | undefined
  /** Returns conditions that this fault adds to the conditions of its rule. */
  readonly also?: (fault: F) => Pick<FaultMatch, 'region'> & { readonly reads?: true }
  /** Returns the invalid field of a rule with this fault and the reason, or `undefined`. */
  readonly oddRule?: (fault: F, rule: FaultRule) => readonly [field: 'until' | 'fault', sentence: string] | undefined
  /** Hint for a rule at a point where the fault has no effect, by point: the alternative to use. */
  readonly hints?: Partial<Record<InjectionPoint, string>>
  /** Arguments of the constructor in the documented example. */
  readonly sample: readonly unknown[]
  /** Injection point of the example on the reference page. */
  readonly shownAt: InjectionPoint
  /** Phases in which the fault can be injected. The first is the default. */
  readonly phases: readonly Phase[]
  /** Effects by injection point, in the order of the reference page. */
  readonly at: Partial<ActionsAt<F>>
  /** Effect that an adapter has instead, with the reason, if its library cannot express the fault. */
  readonly instead?: Partial<Record<Transport, string>>
}

/** A fault that can be a step of a destination's script. */
export interface StepRow<F extends AnyFault> extends FaultSpec<F> {
  readonly at: Partial<ActionsAt<F>> & Readonly<Record<DeliveryInjectionPoint, AttemptAction<F>>>
}

/** Requires an effect at each point at which rules of this fault are allowed, and at no other point. */
type AtItsPoints<F extends AnyFault> = F['kind'] extends FaultKind
  ? {
      readonly at: { readonly [P in PointOf<F['kind']>]: unknown } & {
        readonly [P in Exclude<InjectionPoint, PointOf<F['kind']>>]?: never
      }
    }
  : unknown

/** A table of fault definitions: faults that scripts accept (`Step`), and other faults (`Other`). */
export type FaultGroup<Step extends AnyFault, Other extends AnyFault = never> = {
  readonly [K in Step['kind']]: StepRow<Extract<Step, { kind: K }>> & AtItsPoints<Extract<Step, { kind: K }>>
} & {
  readonly [K in Other['kind']]: FaultSpec<Extract<Other, { kind: K }>> & AtItsPoints<Extract<Other, { kind: K }>>
}
