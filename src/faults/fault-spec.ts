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
   * Whether rules that were added later are evaluated after this fault. `answers`: the fault determines the response,
   * and later rules are skipped. `shapes` and `holds`: later rules are evaluated too.
   */
  readonly effect: 'answers' | 'shapes' | 'holds'
  /** Returns the default description of the effect, for the timeline. */
  readonly sentence: (fault: F, phase: Phase) => string
  /** Constructor of the fault in the namespace `fault`. Its name is the kind in camel case. */
  readonly made: Readonly<Record<string, (...given: never[]) => F>>
  /** Wrong names for this kind that users may write, each with the correct name. */
  readonly meant?: Readonly<Record<string, string>>
  readonly fields: v.ObjectEntries
  /** Returns a message if fields contradict each other although each is valid, otherwise `undefined`. */
  readonly odd?: (fault: F) => string | undefined
  /** Returns conditions of the fault itself, which must hold in addition to the `match` of the rule. */
  readonly also?: (fault: F) => Pick<FaultMatch, 'region'> & { readonly reads?: true }
  /**
   * Checks a rule that contains this fault. Returns the invalid field and the reason, or `undefined` if the rule is
   * valid.
   */
  readonly oddRule?: (fault: F, rule: FaultRule) => readonly [field: 'until' | 'fault', sentence: string] | undefined
  /**
   * Alternatives to this fault, for rules at points where the fault has no effect: injection point → text that names
   * the alternative.
   */
  readonly hints?: Partial<Record<InjectionPoint, string>>
  /** Arguments of the constructor in the documented example. */
  readonly sample: readonly unknown[]
  /** Injection point of the example on the reference page. */
  readonly shownAt: InjectionPoint
  /** Phases in which the fault can be injected. The first is the default. */
  readonly phases: readonly Phase[]
  /** Effects by injection point, in the order of the reference page. */
  readonly at: Partial<ActionsAt<F>>
  /** For adapters whose library cannot express the fault: the effect that the client sees instead, and the reason. */
  readonly instead?: Partial<Record<Transport, string>>
}

/** A fault that can be a step of a destination's script. */
export interface StepRow<F extends AnyFault> extends FaultSpec<F> {
  readonly at: Partial<ActionsAt<F>> & Readonly<Record<DeliveryInjectionPoint, AttemptAction<F>>>
}

/** Requires an effect for each injection point of this kind of fault, and forbids effects for all other points. */
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
