import fc from 'fast-check'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { blockLength } from '../campaign/blocks.js'
import { CoverageTracker, type StateOf, watchStates } from './coverage.js'
import { CoverageGuide, seedOfBlock } from './coverage-guide.js'
import { type DeliveryRun, type DeliveryUnderTest, runDelivery } from './delivery-run.js'
import { deliveryFaultKinds, GuidedRules, spaceOf } from './fault-arbitraries.js'

interface ScheduleOptions {
  readonly seed?: number
  readonly guidance?: 'coverage' | 'none'
  readonly stateOf?: StateOf
}

/** The fault plans that a check tries, and their coverage. */
export class DrawnSchedules {
  readonly arbitrary: fc.Arbitrary<readonly FaultRule[]>
  readonly coverage: CoverageTracker
  readonly #options: ScheduleOptions
  readonly #faults: fc.Arbitrary<readonly FaultRule[]>
  readonly #guide: CoverageGuide | undefined
  #proposed: readonly FaultRule[] | undefined

  /** @param run number of the first run that is tried, from 0 */
  constructor(options: ScheduleOptions, faults: fc.Arbitrary<readonly FaultRule[]>, run = 0) {
    const { guidance = 'coverage', seed = 1 } = options
    const space = spaceOf(faults)
    this.#options = options
    this.#faults = faults
    this.coverage = new CoverageTracker(space?.kinds ?? deliveryFaultKinds, run)
    this.#guide = space && guidance === 'coverage' ? new CoverageGuide(space, seed) : undefined
    this.arbitrary = this.#guide === undefined ? faults : new GuidedRules((chance) => this.#propose(chance), faults)
  }

  #propose(chance: readonly FaultRule[]): readonly FaultRule[] {
    this.#proposed = this.#guide!.next(chance)
    return this.#proposed
  }

  /** Plays a run with this fault plan. The guide learns from the run if the guide proposed the plan. */
  async run(subject: DeliveryUnderTest, rules: readonly FaultRule[]): Promise<DeliveryRun> {
    let states: ReadonlyMap<number, string> = new Map()
    const run = await runDelivery(subject, rules, (sandbox) => {
      states = watchStates(sandbox, this.#options.stateOf)
    })
    const moments = this.coverage.note(run.sandbox, states)
    if (rules === this.#proposed) this.#guide!.learn(rules, moments)
    return run
  }

  /** Continues the guide with the first run of a block. */
  begin(block: number): void {
    this.#guide?.startAt(block * blockLength)
  }

  /**
   * A guided plan depends on the earlier runs of its block. If the plan to replay is guided, plays these runs first.
   * @param nth index of the random plan in its block
   * @param others generates the value that is drawn with each plan, such as a combination of policy values
   */
  async comeTo<T>(
    block: number,
    nth: number,
    others: fc.Arbitrary<T>,
    play: (rules: readonly FaultRule[], other: T) => Promise<unknown>,
  ): Promise<void> {
    if (this.#guide === undefined || nth < 0) return
    const isGuided = this.#guide.isGuided(nth)
    this.#guide.startAt(block * blockLength + (isGuided ? 0 : nth))
    if (!isGuided || nth === 0) return
    const seed = seedOfBlock(this.#options.seed ?? 1, block)
    const drawn = fc.sample(fc.tuple(this.#faults, others), { seed, numRuns: nth })
    for (const [chance, other] of drawn) await play(this.#propose(chance), other)
  }
}
