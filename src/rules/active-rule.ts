import { catalog, effectOf, type FaultDefinition } from '../faults/catalog.js'
import type { Fault, FaultFacts, FaultMatch, FaultRule, Injection, InjectionRecord } from '../faults/fault.js'
import type { InjectionPoint } from '../faults/points.js'
import { type CronExpression, parseCron } from '../kernel/cron.js'
import { once } from '../kernel/once.js'
import type { Random } from '../kernel/random.js'
import type { FaultEntry, TrafficLog } from '../kernel/traffic-log.js'
import { type Predicate, predicatesOf } from './matching.js'
import type { Indexed } from './rule-index.js'
import { windowEnd } from './rule-schema.js'

const noMatch: FaultMatch = {}
const minute = 60_000

export class ActiveRule implements Indexed {
  readonly points: readonly InjectionPoint[]
  readonly definition: FaultDefinition
  readonly match: FaultMatch
  readonly until: number | undefined
  matched = 0
  struck = 0
  /** Number of random draws for `chance` so far. */
  drawn = 0
  askedBefore = 0
  /**
   * Number of events that met all conditions of the rule but did not reach the rule, because an earlier rule ended the
   * evaluation.
   */
  preceded = 0
  takenDownBefore = 0
  /** Conditions of the rule, and additional conditions of its fault. */
  readonly wanted: FaultMatch
  readonly #from: number | undefined
  readonly #cron: CronExpression | undefined
  readonly #tests: readonly Predicate[]
  readonly #random: () => Random

  constructor(
    readonly rule: FaultRule,
    readonly ordinal: number,
    readonly place: Error | string,
    now: number,
    random: Random,
    tenant: string | undefined,
  ) {
    this.points = [...new Set([rule.on].flat() as InjectionPoint[])]
    this.definition = catalog[rule.fault.kind] as FaultDefinition
    this.match = rule.match ?? noMatch
    this.wanted = { ...this.match, ...this.definition.also?.(rule.fault as never) }
    this.#tests = predicatesOf(this.wanted, tenant)
    this.#from = rule.from === undefined ? undefined : windowEnd(rule.from, now)
    this.until = rule.until === undefined ? undefined : windowEnd(rule.until, now)
    if (this.until !== undefined && this.until <= (this.#from ?? Number.NEGATIVE_INFINITY)) {
      throw new TypeError(
        `faults.add(): until must be after 'from' (got ${JSON.stringify(rule.until)}, with 'from' ${JSON.stringify(rule.from)}).`,
      )
    }
    this.#cron = rule.cron === undefined ? undefined : parseCron(rule.cron)
    this.#random = once(() => random.fork(rule.name ?? `rule ${ordinal}`))
  }

  /** Returns whether the fault of the rule must be injected into an event. Updates the counters. */
  strikesAt(facts: FaultFacts, now: number): boolean {
    const { skip = 0, times, every = 1, chance } = this.rule
    if (!this.#fits(facts, now)) return false
    const turn = this.matched++ - skip
    if (turn < 0 || turn % every !== 0) return false
    if (times !== undefined && this.struck >= times) return false
    if (chance !== undefined) {
      this.drawn++
      if (!this.#random().chance(chance[0], chance[1])) return false
    }
    this.struck++
    return true
  }

  /**
   * Counts an event that did not reach the rule, because an earlier rule ended the evaluation. The event counts only if
   * it meets all conditions of the rule and the fault of the rule was never injected.
   */
  precede(facts: FaultFacts, now: number): void {
    if (this.struck === 0 && this.#fits(facts, now)) this.preceded++
  }

  /** Returns whether an event matches all conditions of the rule. Ignores the counters. */
  #fits(facts: FaultFacts, now: number): boolean {
    if (this.#from !== undefined && now < this.#from) return false
    if (this.until !== undefined && now >= this.until) return false
    for (const test of this.#tests) if (!test(facts)) return false
    return this.#cron === undefined || namesMinute(this.#cron, now)
  }

  draw(below: number): number {
    return this.#random().int(below)
  }
}

function namesMinute(cron: CronExpression, now: number): boolean {
  const begins = Math.floor(now / minute) * minute
  return cron.next(begins - 1) === begins
}

export class RuleInjection implements Injection {
  readonly #armed: ActiveRule
  readonly point: InjectionPoint
  readonly #traffic: Pick<TrafficLog, 'append'>
  readonly #database: string | undefined

  /** @param database name of the added database that is affected, for the entry in the traffic log */
  constructor(armed: ActiveRule, point: InjectionPoint, traffic: Pick<TrafficLog, 'append'>, database?: string) {
    this.#armed = armed
    this.point = point
    this.#traffic = traffic
    this.#database = database
  }

  get fault(): Fault {
    return this.#armed.rule.fault
  }

  get phase(): 'before' | 'after' {
    return this.#armed.rule.phase ?? this.#armed.definition.phases[0]!
  }

  get answers(): boolean {
    return this.#armed.definition.effect === 'answers'
  }

  get until(): number | undefined {
    return this.#armed.until
  }

  draw(below: number): number {
    return this.#armed.draw(below)
  }

  log(cause: number | undefined, target: string, effect: string = effectOf(this.fault, this.phase)): InjectionRecord {
    const { name } = this.#armed.rule
    const entry: FaultEntry = {
      type: 'fault',
      point: this.point,
      fault: this.fault.kind,
      target,
      ...(name !== undefined && { rule: name }),
      effect,
    }
    return this.#traffic.append(this.#database === undefined ? entry : { ...entry, database: this.#database }, cause)
  }
}
