import { catalog } from '../../../../src/faults/catalog.js'
import type { FaultKind, FaultRule } from '../../../../src/faults/fault.js'
import type { InjectionPoint } from '../../../../src/faults/points.js'
import { createRandom, type Random } from '../../../../src/kernel/random.js'
import { blockLength } from '../campaign/blocks.js'
import type { CoveragePoint } from './coverage.js'

/** Limits of the fault plans that the guide proposes. Each rule of a plan injects one fault, once. */
export interface FaultPlanSpace {
  readonly on: InjectionPoint | readonly InjectionPoint[]
  readonly kinds: readonly FaultKind[]
  /** Maximum number of rules. */
  readonly max: number
  readonly reach: number
}

/** Number of random plans at the beginning of a block. The guide learns from them before it proposes plans. */
const unguided = 20
/** One of every ten plans stays random, because the guide alone would never propose some plans. */
const chancePer = 10
/** Maximum number of fault plans that the guide keeps for one target. */
const maxWays = 4
/**
 * After this many plans that did not inject a certain fault at their target, the guide gives up that fault at that
 * target.
 */
const maxMisses = 3

/** Returns the seed for the random plans of a block. Block 0 uses the seed of the check. */
export function seedOfBlock(seed: number, block: number): number {
  return block === 0 ? seed : createRandom(`${seed}/${block}/drawn`).int(0x8000_0000)
}

/**
 * Fault plan that leads to a target: the rules before the target, and the `skip` of a rule that injects a fault at the
 * target.
 */
interface Way {
  readonly kept: readonly FaultRule[]
  readonly skip: number
  /** Index of the target among the injection points of the run. */
  readonly at: number
}

/** A state and an injection point that some run has reached, with the faults that were never injected there. */
interface Target {
  readonly ways: Way[]
  readonly left: Set<FaultKind>
  readonly misses: Map<FaultKind, number>
  visits: number
  /** Smallest number of faults with which a run has reached this target. */
  distance: number
}

/**
 * Proposes fault plans that inject a fault where it was never injected. The guide takes a fault plan that led to a
 * state and an injection point, keeps the faults before that point, and adds a fault that is new there. The guide has
 * its own random source, so the result depends only on the seed, the block and the earlier runs of that block.
 */
export class CoverageGuide {
  readonly #space: FaultPlanSpace
  readonly #seed: number
  #random: Random = createRandom(0)
  #index = 0
  #aim: { readonly target: Target; readonly kind: FaultKind } | undefined
  readonly #targets = new Map<string, Target>()

  constructor(space: FaultPlanSpace, seed: number) {
    this.#space = space
    this.#seed = seed
  }

  /** Number of the next run, counted over all blocks. */
  get index(): number {
    return this.#index
  }

  /** Sets the number of the next run. @param index number of the run, counted over all blocks */
  startAt(index: number): void {
    this.#index = index
  }

  /** Returns whether the fault plan of a run can depend on earlier runs of its block. */
  isGuided(index: number): boolean {
    return index % blockLength >= unguided
  }

  /**
   * Returns the fault plan of the next run.
   * @param chance random fault plan, which is returned if the guide proposes none
   */
  next(chance: readonly FaultRule[]): readonly FaultRule[] {
    const index = this.#index++
    if (index % blockLength === 0) this.#begin(Math.floor(index / blockLength))
    this.#aim = undefined
    if (!this.isGuided(index) || this.#random.chance(1, chancePer)) return chance
    return this.#aimed() ?? chance
  }

  #begin(block: number): void {
    this.#random = createRandom(`${this.#seed}/${block}`)
    this.#targets.clear()
  }

  /**
   * Learns from a run.
   * @param rules fault plan of the run
   * @param moments injection points of the run, in order
   */
  learn(rules: readonly FaultRule[], moments: readonly CoveragePoint[]): void {
    const { on, max, reach } = this.#space
    const points = [on].flat()
    const asked = moments.filter(({ place }) => points.some((point) => pointIn(place).startsWith(point)))
    // Rules with the allowed `skip` cannot reach later injection points.
    const near = asked.slice(0, reach + max)
    const strikes = strikesOf(rules, near.length)
    for (const [at, { place }] of near.entries()) {
      const kept = rules.filter((_, index) => (strikes.get(index) ?? Number.POSITIVE_INFINITY) < at)
      const skip = passedBefore(kept, at)
      const target = this.#targets.get(place) ?? this.#targetAt(place)
      target.visits++
      if (kept.length < max && skip <= reach) remember(target, { kept, skip, at })
    }
    for (const { place, struck } of asked) for (const kind of struck) this.#targets.get(place)?.left.delete(kind)
    if (this.#aim !== undefined) missed(this.#aim.target, this.#aim.kind)
  }

  #targetAt(place: string): Target {
    const left = this.#space.kinds.filter((kind) => catalog[kind].points.some((one) => pointIn(place).startsWith(one)))
    const target = { ways: [], left: new Set(left), misses: new Map(), visits: 0, distance: Number.POSITIVE_INFINITY }
    this.#targets.set(place, target)
    return target
  }

  /**
   * Returns a fault plan that injects a fault at a target where it was never injected, or `undefined` if there is no
   * such target. Prefers targets that need few faults, then targets that few runs reached.
   */
  #aimed(): readonly FaultRule[] | undefined {
    let best: Target | undefined
    let least = Number.POSITIVE_INFINITY
    for (const target of this.#targets.values()) {
      if (target.left.size === 0) continue
      const rank = blockLength * target.distance + target.visits
      if (rank < least) [best, least] = [target, rank]
    }
    if (best === undefined) return undefined
    const way = this.#picked(best.ways)
    const kind = this.#picked([...best.left])
    this.#aim = { target: best, kind }
    return this.#extended([...way.kept, this.#rule(kind, way.skip)], way.at)
  }

  /** Adds rules with random faults at injection points soon after `at`. The states at these points are unknown. */
  #extended(rules: readonly FaultRule[], at: number): readonly FaultRule[] {
    const { max, reach } = this.#space
    let all = rules
    for (let next = at; all.length < max; ) {
      next += 1 + this.#random.int(2)
      const skip = passedBefore(all, next)
      if (skip > reach) break
      all = [...all, this.#rule(this.#picked(this.#space.kinds), skip)]
    }
    return all
  }

  #rule(kind: FaultKind, skip: number): FaultRule {
    const { on } = this.#space
    return { on, ...(skip > 0 && { skip }), times: 1, fault: catalog[kind].example } as FaultRule
  }

  #picked<T>(all: readonly T[]): T {
    return all[this.#random.int(all.length)]!
  }
}

function pointIn(place: string): string {
  return place.slice(place.indexOf('\n') + 1)
}

/** Keeps a plan for a target. If the target has too many plans, the new plan replaces a longer one. */
function remember(target: Target, way: Way): void {
  const { ways } = target
  const longest = ways.findIndex(({ kept }) => kept.length > way.kept.length)
  if (ways.length < maxWays) ways.push(way)
  else if (longest !== -1) ways[longest] = way
  target.distance = Math.min(target.distance, way.kept.length)
}

/**
 * Counts a plan that did not inject the fault at its target. After `maxMisses` such plans, the guide gives up this
 * fault.
 */
function missed({ left, misses }: Target, kind: FaultKind): void {
  const times = (misses.get(kind) ?? 0) + 1
  misses.set(kind, times)
  if (times >= maxMisses) left.delete(kind)
}

/**
 * Returns the injection point at which each rule injects its fault. Keys are indexes of rules, values are indexes of
 * injection points.
 */
function strikesOf(rules: readonly FaultRule[], moments: number): ReadonlyMap<number, number> {
  const strikes = new Map<number, number>()
  const passed = rules.map(() => 0)
  for (let at = 0; at < moments; at++) {
    for (const [index, { skip = 0, fault }] of rules.entries()) {
      if (strikes.has(index)) continue
      if (passed[index]!++ < skip) continue
      strikes.set(index, at)
      // This rule responds, so the injection point evaluates no further rules.
      if (catalog[fault.kind].effect === 'answers') break
    }
  }
  return strikes
}

/** Returns how often a rule at the end of the list is evaluated before the injection point `at`. */
function passedBefore(rules: readonly FaultRule[], at: number): number {
  const answered = [...strikesOf(rules, at)].filter(([index]) => catalog[rules[index]!.fault.kind].effect === 'answers')
  return at - answered.length
}
