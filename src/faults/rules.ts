import { callerLine } from '../kernel/caller-line.js'
import type { Random } from '../kernel/random.js'
import type { FaultEntry, Traffic } from '../kernel/traffic.js'
import { CronExpression } from '../queue/cron.js'
import { catalog, type FaultDefinition } from './catalog.js'
import { effectOf } from './effects.js'
import type {
  Fault,
  FaultFacts,
  FaultMatch,
  FaultPoint,
  FaultRule,
  FaultService,
  FaultSource,
  Strike,
  StrikeRecord,
} from './fault.js'
import { type Predicate, predicatesOf } from './matching.js'
import { type Indexed, RuleIndex } from './rule-index.js'
import { ruleProblems, windowEnd } from './rule-schema.js'

export interface FaultsOptions {
  readonly now: () => number
  readonly random: Random
  readonly traffic: Pick<Traffic, 'append'>
  /** Name of the world, for `match: { tenant }`. */
  readonly tenant?: string | undefined
}

/** What `faults.add()` returns; also ends with the scope of `using`. */
export interface FaultHandle {
  remove(): void
  [Symbol.dispose](): void
}

/** A rule and what has become of it. */
export interface ListedFault {
  readonly rule: FaultRule
  /** Moments that fitted everything but the counters, so far. */
  readonly matched: number
  readonly struck: number
  /** `file:line:column` of the code that added it, `''` when unknown. */
  readonly line: string
}

/** A rule that never struck. */
export interface UnusedFault {
  readonly rule: FaultRule
  readonly line: string
  /** What is amiss and where, for people. */
  readonly sentence: string
}

/** `sandbox.faults`: what shall go wrong, and when. */
export class Faults implements FaultSource {
  quiet = true
  readonly armed: { [P in FaultPoint]?: RuleIndex<ArmedRule> } = {}
  down: { [S in FaultService]?: number } | undefined
  readonly #options: FaultsOptions
  readonly #rules = new Set<ArmedRule>()
  #ordinal = 0
  #watchers = new Map<Fault['kind'], (count: number) => void>()

  constructor(options: FaultsOptions) {
    this.#options = options
  }

  /**
   * Adds one rule or several, asked in this order, after those that are there. Spans of windows count from now.
   * @param options.line where it was declared, for those who add rules of somebody else
   * @throws TypeError for a rule that is none, with the place and the nearest word
   */
  add(rules: FaultRule | readonly FaultRule[], options: { readonly line?: string } = {}): FaultHandle {
    const list = Array.isArray(rules) ? (rules as readonly FaultRule[]) : [rules as FaultRule]
    list.forEach((rule, index) => {
      const [problem] = ruleProblems(rule)
      if (problem === undefined) return
      throw new TypeError(`faults.add(): ${list.length > 1 ? `rule ${index + 1}: ` : ''}${problem.sentence}`)
    })
    const place = options.line ?? new Error('declared here')
    const added = list.map((rule) => this.#arm(rule, place))
    const remove = (): void => {
      for (const rule of added) this.#disarm(rule)
    }
    return { remove, [Symbol.dispose]: remove }
  }

  /** Takes rules away: by the handle that `add` gave, or all that bear a name. */
  remove(which: FaultHandle | string): void {
    if (typeof which !== 'string') {
      which.remove()
      return
    }
    for (const rule of [...this.#rules]) if (rule.rule.name === which) this.#disarm(rule)
  }

  /** Takes all rules away, and lets services that are down come up. */
  clear(): void {
    for (const rule of [...this.#rules]) this.#disarm(rule)
    this.down = undefined
    this.#listen()
  }

  /** The rules that are there, in the order in which they are asked. */
  list(): readonly ListedFault[] {
    return [...this.#rules].map((armed) => ({
      rule: armed.rule,
      matched: armed.matched,
      struck: armed.struck,
      line: lineOf(armed.place),
    }))
  }

  /** Rules that never struck, each with the line that declared it. One with `chance` counts once dice were thrown. */
  unused(): readonly UnusedFault[] {
    return [...this.#rules]
      .filter((armed) => armed.struck === 0 && !(armed.rule.chance !== undefined && armed.drawn > 0))
      .map((armed) => {
        const line = lineOf(armed.place)
        return { rule: armed.rule, line, sentence: unusedSentence(armed, line, this.#cameBy(armed)) }
      })
  }

  watch(kind: Fault['kind'], changed: (count: number) => void): void {
    this.#watchers.set(kind, changed)
    changed(this.#count(kind))
  }

  ask(point: FaultPoint, facts: FaultFacts): readonly Strike[] | undefined {
    const index = this.armed[point]
    if (index === undefined) return undefined
    index.asked++
    const now = this.#options.now()
    let strikes: Strike[] | undefined
    for (const armed of index.candidates(facts)) {
      if (!armed.strikesAt(facts, now)) continue
      strikes ??= []
      strikes.push(new Struck(armed, point, this.#options.traffic))
      if (armed.definition.effect === 'answers') break
    }
    return strikes
  }

  takeDown(service: FaultService, until: number): void {
    if (until <= this.#options.now()) return
    this.down = { ...this.down, [service]: until }
    this.quiet = false
  }

  #arm(rule: FaultRule, place: Error | string): ArmedRule {
    const { now, random, tenant } = this.#options
    const armed = new ArmedRule(rule, ++this.#ordinal, place, now(), random, tenant)
    this.#rules.add(armed)
    for (const point of armed.points) {
      const index = this.armed[point] ?? new RuleIndex<ArmedRule>()
      index.add(armed)
      armed.askedBefore += index.asked
      this.armed[point] = index
    }
    this.#changed(rule.fault.kind)
    return armed
  }

  #disarm(armed: ArmedRule): void {
    if (!this.#rules.delete(armed)) return
    for (const point of armed.points) {
      const index = this.armed[point]
      index?.delete(armed)
      // A point without rules costs nothing again.
      if (index?.size === 0) delete this.armed[point]
    }
    this.#changed(armed.rule.fault.kind)
  }

  #changed(kind: Fault['kind']): void {
    this.#listen()
    this.#watchers.get(kind)?.(this.#count(kind))
  }

  #listen(): void {
    this.quiet = this.#rules.size === 0 && this.down === undefined
  }

  #count(kind: Fault['kind']): number {
    let count = 0
    for (const { rule } of this.#rules) if (rule.fault.kind === kind) count++
    return count
  }

  #cameBy(armed: ArmedRule): number {
    return armed.points.reduce((sum, point) => sum + (this.armed[point]?.asked ?? 0), -armed.askedBefore)
  }
}

const noMatch: FaultMatch = {}
const minute = 60_000

/** A rule with its counters. */
class ArmedRule implements Indexed {
  readonly points: readonly FaultPoint[]
  readonly definition: FaultDefinition
  readonly match: FaultMatch
  readonly until: number | undefined
  matched = 0
  struck = 0
  /** How often chance had its say. */
  drawn = 0
  askedBefore = 0
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
    this.points = [...new Set([rule.on].flat() as FaultPoint[])]
    this.definition = catalog[rule.fault.kind] as FaultDefinition
    this.match = rule.match ?? noMatch
    const outage = rule.fault.kind === 'outage' && rule.fault.region !== undefined ? { region: rule.fault.region } : {}
    const tests = predicatesOf({ ...this.match, ...outage }, tenant)
    // What writes cannot be answered from the past.
    this.#tests = rule.fault.kind === 'stale-read' ? [(facts) => facts.reads === true, ...tests] : tests
    this.#from = rule.from === undefined ? undefined : windowEnd(rule.from, now)
    this.until = rule.until === undefined ? undefined : windowEnd(rule.until, now)
    if (this.until !== undefined && this.until <= (this.#from ?? Number.NEGATIVE_INFINITY)) {
      throw new TypeError(
        `faults.add(): until ends the window at ${JSON.stringify(rule.until)}, before or as it begins at ${JSON.stringify(rule.from)}.`,
      )
    }
    this.#cron = rule.cron === undefined ? undefined : new CronExpression(rule.cron)
    let own: Random | undefined
    this.#random = () => {
      own ??= random.fork(rule.name ?? `rule ${ordinal}`)
      return own
    }
  }

  /** Decides, and counts. */
  strikesAt(facts: FaultFacts, now: number): boolean {
    const { skip = 0, times, every = 1, chance } = this.rule
    if (this.#from !== undefined && now < this.#from) return false
    if (this.until !== undefined && now >= this.until) return false
    for (const test of this.#tests) if (!test(facts)) return false
    if (this.#cron !== undefined && !namesMinute(this.#cron, now)) return false
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

  draw(below: number): number {
    return this.#random().int(below)
  }
}

function namesMinute(cron: CronExpression, now: number): boolean {
  const begins = Math.floor(now / minute) * minute
  return cron.next(begins - 1) === begins
}

class Struck implements Strike {
  readonly #armed: ArmedRule
  readonly #point: FaultPoint
  readonly #traffic: Pick<Traffic, 'append'>

  constructor(armed: ArmedRule, point: FaultPoint, traffic: Pick<Traffic, 'append'>) {
    this.#armed = armed
    this.#point = point
    this.#traffic = traffic
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

  log(cause: number | undefined, target: string, effect = effectOf(this.fault, this.phase)): StrikeRecord {
    const { name } = this.#armed.rule
    const entry: FaultEntry = {
      type: 'fault',
      point: this.#point,
      fault: this.fault.kind,
      target,
      ...(name !== undefined && { rule: name }),
      effect,
    }
    return this.#traffic.append(entry, cause)
  }
}

function lineOf(place: Error | string): string {
  return typeof place === 'string' ? place : callerLine(place)
}

function unusedSentence({ rule, points, matched }: ArmedRule, line: string, cameBy: number): string {
  const name = rule.name === undefined ? '' : ` ${JSON.stringify(rule.name)}`
  const declared = line === '' ? '' : `, declared at ${line},`
  const what = `The fault ${rule.fault.kind}${name} on ${points.join(', ')}${declared} never struck`
  if (matched > 0) return `${what}: it matched ${counted(matched, 'time')}, and its counters let all of them pass.`
  const outOf = `of ${counted(cameBy, 'moment')} at which it could`
  const window = [rule.from, rule.until, rule.cron].some((part) => part !== undefined) ? ' within its window' : ''
  if (cameBy === 0) return `${what}: nothing came by there.`
  return `${what}: none ${outOf} matched ${JSON.stringify(rule.match ?? {})}${window}.`
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
