import type { Fault, FaultFacts, FaultRule, FaultSource, Injection, RestartedService } from '../faults/fault.js'
import type { InjectionPoint } from '../faults/points.js'
import { bindMethods } from '../kernel/bind-methods.js'
import { callerLine } from '../kernel/caller-line.js'
import { unknownDatabase } from '../kernel/database-name.js'
import { givenRules } from '../kernel/given-rules.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { type Internals, internals } from '../kernel/internals.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { Random } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import { ActiveRule, RuleInjection } from './active-rule.js'
import { RuleIndex } from './rule-index.js'
import { ruleProblems } from './rule-schema.js'
import { unusedMessage } from './unused-rule.js'

export interface FaultsOptions {
  readonly now: () => number
  readonly random: Random
  readonly traffic: Pick<TrafficLog, 'append'>
  /** Name of the sandbox, with which `match: { tenant }` is compared. */
  readonly tenant?: string | undefined
  /** Names of the added databases, which `match: { database }` can contain. */
  readonly databases?: readonly string[]
  /** Advice for a name of a database if there are no added databases. */
  readonly withoutDatabases?: string
}

/** Handle that `faults.add()` returns, which removes the added rules. `using` removes them at the end of the scope. */
export interface FaultHandle {
  /**
   * Removes the rules that the call of `add()` added.
   * @example
   * const outage = sandbox.faults.add({ on: 'queue.delivery', fault: fault.status(503) })
   * outage.remove()
   * expect(sandbox.faults.rules).toEqual([])
   */
  remove(): void
  [Symbol.dispose](): void
}

/** A rule with its present counters. */
export interface FaultRuleStatus {
  /** Rule that `faults.add()` added. */
  readonly rule: FaultRule
  /** Number of times that all conditions held, before the counters were applied. */
  readonly matched: number
  /** Number of times that the fault was injected. */
  readonly injected: number
  /** `file:line:column` of the code that added the rule, or `''` if unknown. */
  readonly location: string
}

/** A rule that was never injected. */
export interface UnusedFault {
  /** Rule that `faults.add()` added. */
  readonly rule: FaultRule
  /** `file:line:column` of the code that added the rule, or `''` if unknown. */
  readonly location: string
  /** Message with the location of the rule, the reason why it was not injected, and a suggestion. */
  readonly message: string
}

/** Maximum number of rules in one sandbox. Every injection point may have to evaluate all of them. */
export const maxRules = 10_000

/** Members of `Faults` for other code of this package. They are hidden from users. */
export interface FaultsInternals {
  /**
   * Sets the name of the sandbox that rules will compare with `tenant`. Rules that already exist keep the earlier name.
   */
  rename(tenant: string | undefined): void
  /** Returns whether the `add()` call with this number happened after the latest `clear()`. */
  hasAdded(number: number): boolean
}

export const faultsInternals: Internals<Faults, FaultsInternals> = internals('faults')
/** Number of the `add()` call that returned the handle, beginning with 1. */
export const handleInternals: Internals<FaultHandle, { readonly number: number }> = internals('fault-handle')

export type FaultsEffects = MethodEffects<
  Faults,
  {
    add: 'changes'
    removeAdded: 'changes'
    remove: 'changes'
    clear: 'changes'
  },
  keyof FaultSource
>

/** The fault rules of a sandbox: `sandbox.faults`. */
export class Faults {
  static {
    bindMethods(Faults)
  }

  /** @internal */
  isInactive = true
  /** @internal */
  readonly activeByPoint: { [P in InjectionPoint]?: RuleIndex<ActiveRule> } = {}
  /** @internal */
  downUntil: { [S in RestartedService]?: number } | undefined
  readonly #options: FaultsOptions
  readonly #inputs: InputRecorder<Changes<FaultsEffects>>
  #tenant: string | undefined
  readonly #rules = new Set<ActiveRule>()
  /** Rules by the number of the `add()` call that added them. */
  readonly #added = new Map<number, readonly ActiveRule[]>()
  #calls = 0
  #ordinal = 0
  /** How many times a restart has made a service unavailable. */
  #takenDown = 0
  readonly #watchers = new Map<Fault['kind'], ((count: number) => void)[]>()

  /** @internal */
  constructor(options: FaultsOptions, inputs: InputRecorder = unrecorded) {
    this.#options = options
    this.#inputs = inputs
    this.#tenant = options.tenant
    faultsInternals.attach(this, {
      rename: (tenant) => {
        this.#tenant = tenant
      },
      hasAdded: (number) => this.#added.has(number),
    })
  }

  /**
   * Adds one or more rules. They are evaluated in the given order, after the existing rules. Durations in `from` and
   * `until` count from now.
   * @param options.location location of the rule in messages. Set it if your code adds rules for other code
   * @throws TypeError when `rules` is undefined, or when a rule is invalid; the message has the field and the nearest
   * valid name
   * @throws RangeError when the sandbox would have more than 10,000 rules
   * @example using added = sandbox.faults.add(outage.faults)
   */
  add(rules: FaultRule | readonly FaultRule[] | undefined, options: { readonly location?: string } = {}): FaultHandle {
    checkOptionNames('faults.add()', options, { location: true })
    // Reading a stack is slow, so keep the error and read its stack only when `location` is needed. A replay of the
    // journal passes the recorded error, so the location stays the same.
    const place: Error | string = options.location ?? new Error('declared here')
    const [given] = this.#inputs.record('add', rules, { location: place })
    const list = givenRules(given)
    list.forEach((rule, index) => {
      const problem = ruleProblems(rule)[0]?.sentence ?? this.#databaseProblem(rule)
      if (problem === undefined) return
      throw new TypeError(`faults.add(): ${list.length > 1 ? `rule ${index + 1}: ` : ''}${problem}`)
    })
    if (this.#rules.size + list.length > maxRules) {
      throw new RangeError(
        `faults.add(): a sandbox can have at most ${maxRules} rules (got ${list.length} in addition to ${this.#rules.size}). Remove rules, or use one rule that matches more.`,
      )
    }
    const number = ++this.#calls
    this.#added.set(
      number,
      list.map((rule) => this.#arm(rule, place)),
    )
    const remove = (): void => this.removeAdded(number)
    const handle: FaultHandle = { remove, [Symbol.dispose]: remove }
    handleInternals.attach(handle, { number })
    return handle
  }

  #databaseProblem({ match: { database } = {} }: FaultRule): string | undefined {
    const { databases = [], withoutDatabases = '' } = this.#options
    if (database === undefined || databases.includes(database)) return undefined
    return `match.database: ${unknownDatabase(database, databases, withoutDatabases)}`
  }

  /**
   * Removes the rules that one call of `add()` added. The journal records the name of this method, and a replay calls
   * the method by this name.
   * @internal
   */
  removeAdded(number: number): void {
    this.#inputs.record('removeAdded', number)
    for (const rule of this.#added.get(number) ?? []) this.#disarm(rule)
    if (this.#added.has(number)) this.#added.set(number, [])
  }

  /**
   * Removes the rules that one `add()` call created, or all rules with the given name.
   * @param which the handle that `add()` returned, or a name
   * @throws TypeError when the argument is neither a handle nor a string
   * @example
   * sandbox.faults.add({ name: 'outage', on: 'queue.delivery', fault: fault.status(503) })
   * sandbox.faults.remove('outage')
   */
  remove(which: FaultHandle | string): void {
    if (typeof which !== 'string') {
      if (typeof which?.remove !== 'function') {
        throw new TypeError('faults.remove(): the argument must be a handle from faults.add() or the name of a rule.')
      }
      // The handle's `remove()` adds this input to the journal, so do not add it here.
      which.remove()
      return
    }
    this.#inputs.record('remove', which)
    for (const rule of [...this.#rules]) if (rule.rule.name === which) this.#disarm(rule)
  }

  /**
   * Removes all rules. If a fault has restarted a service and the service is still down, the outage also ends.
   * @example
   * sandbox.faults.add({ on: 'queue.delivery', fault: fault.status(503) })
   * sandbox.faults.clear()
   * expect(sandbox.faults.rules).toEqual([])
   */
  clear(): void {
    this.#inputs.record('clear')
    for (const rule of [...this.#rules]) this.#disarm(rule)
    this.#added.clear()
    this.downUntil = undefined
    this.#listen()
  }

  /** The rules with their counters, in the order in which they are evaluated. */
  get rules(): readonly FaultRuleStatus[] {
    return [...this.#rules].map((armed) => ({
      rule: armed.rule,
      matched: armed.matched,
      injected: armed.struck,
      location: lineOf(armed.place),
    }))
  }

  /**
   * Rules that were never injected, each with the line of the code that added it. A rule with `chance` counts as used
   * after its first draw.
   */
  get unused(): readonly UnusedFault[] {
    return [...this.#rules]
      .filter((armed) => armed.struck === 0 && !(armed.rule.chance !== undefined && armed.drawn > 0))
      .map((armed) => {
        const location = lineOf(armed.place)
        const { rule, points, wanted, matched, preceded } = armed
        const wasDown = this.#takenDown > armed.takenDownBefore
        const reached = this.#cameBy(armed)
        const message = unusedMessage({
          rule,
          points,
          match: wanted,
          line: location,
          reached,
          matched,
          preceded,
          wasDown,
        })
        return { rule, location, message }
      })
  }

  /** @internal */
  watch(kind: Fault['kind'], changed: (count: number) => void): void {
    this.#watchers.set(kind, [...(this.#watchers.get(kind) ?? []), changed])
    changed(this.#count(kind))
  }

  /** @internal */
  injectionsAt(points: readonly InjectionPoint[], facts: FaultFacts): readonly Injection[] | undefined {
    const strikes: Injection[] = []
    const asked = new Set<ActiveRule>()
    for (const point of points) {
      if (strikes.at(-1)?.answers === true) this.#passOver(point, facts, asked)
      else strikes.push(...(this.injections(point, facts, asked) ?? []))
    }
    return strikes.length === 0 ? undefined : strikes
  }

  /**
   * @param asked rules that were evaluated for this event earlier. This method adds the rules that it evaluates
   * @internal
   */
  injections(point: InjectionPoint, facts: FaultFacts, asked?: Set<ActiveRule>): readonly Injection[] | undefined {
    const index = this.activeByPoint[point]
    if (index === undefined) return undefined
    index.asked++
    const now = this.#options.now()
    let strikes: Injection[] | undefined
    for (const armed of index.candidates(facts)) {
      if (asked?.has(armed) === true) continue
      asked?.add(armed)
      if (!armed.strikesAt(facts, now)) continue
      strikes ??= []
      strikes.push(new RuleInjection(armed, point, this.#options.traffic, facts.database))
      if (armed.definition.effect !== 'answers') continue
      this.#precede(index.candidates(facts), facts, armed)
      break
    }
    return strikes
  }

  /**
   * Counts the event for each rule of this point that matches it, but injects no fault. Called when a rule of an
   * earlier point has ended the evaluation.
   */
  #passOver(point: InjectionPoint, facts: FaultFacts, asked: ReadonlySet<ActiveRule>): void {
    const index = this.activeByPoint[point]
    if (index === undefined) return
    index.asked++
    for (const armed of index.candidates(facts)) if (!asked.has(armed)) armed.precede(facts, this.#options.now())
  }

  /**
   * Counts the event for each later rule of the same point that matches it, but injects no fault. Called when the rule
   * with this `ordinal` has ended the evaluation.
   */
  #precede(candidates: readonly ActiveRule[], facts: FaultFacts, { ordinal }: ActiveRule): void {
    const now = this.#options.now()
    for (const armed of candidates) if (armed.ordinal > ordinal) armed.precede(facts, now)
  }

  /** @internal */
  markDown(service: RestartedService, until: number): void {
    if (until <= this.#options.now()) return
    this.#takenDown++
    this.downUntil = { ...this.downUntil, [service]: until }
    this.isInactive = false
  }

  #arm(rule: FaultRule, place: Error | string): ActiveRule {
    const { now, random } = this.#options
    const armed = new ActiveRule(rule, ++this.#ordinal, place, now(), random, this.#tenant)
    this.#rules.add(armed)
    const isDown = Object.values(this.downUntil ?? {}).some((until = 0) => until > now())
    armed.takenDownBefore = this.#takenDown - (isDown ? 1 : 0)
    for (const point of armed.points) {
      const index = this.activeByPoint[point] ?? new RuleIndex<ActiveRule>()
      index.add(armed)
      armed.askedBefore += index.asked
      this.activeByPoint[point] = index
    }
    this.#changed(rule.fault.kind)
    return armed
  }

  #disarm(armed: ActiveRule): void {
    if (!this.#rules.delete(armed)) return
    for (const point of armed.points) {
      const index = this.activeByPoint[point]
      index?.delete(armed)
      // For a service, an index in this object means that the point has rules. So delete an index without rules.
      if (index?.size === 0) delete this.activeByPoint[point]
    }
    this.#changed(armed.rule.fault.kind)
  }

  #changed(kind: Fault['kind']): void {
    this.#listen()
    for (const changed of this.#watchers.get(kind) ?? []) changed(this.#count(kind))
  }

  #listen(): void {
    this.isInactive = this.#rules.size === 0 && this.downUntil === undefined
  }

  #count(kind: Fault['kind']): number {
    let count = 0
    for (const { rule } of this.#rules) if (rule.fault.kind === kind) count++
    return count
  }

  #cameBy(armed: ActiveRule): number {
    return armed.points.reduce((sum, point) => sum + (this.activeByPoint[point]?.asked ?? 0), -armed.askedBefore)
  }
}

function lineOf(place: Error | string): string {
  return typeof place === 'string' ? place : callerLine(place)
}
