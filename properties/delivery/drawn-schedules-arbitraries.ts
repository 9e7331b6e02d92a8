import fc from 'fast-check'
import type { FaultRule } from '../../src/faults/fault.js'
import { Coverage, type StateOf, watchStates } from './coverage.js'
import { type DeliveryRun, type DeliverySubject, runDelivery } from './delivery-run.js'
import { deliveryFaultKinds, GuidedRules, spaceOf } from './fault-arbitraries.js'
import { blockLength, Guide } from './guide.js'

interface ScheduleOptions {
  readonly seed?: number
  readonly path?: string
  readonly guidance?: 'unreached' | 'none'
  readonly stateOf?: StateOf
}

/** The schedules that a check tries, and what they have reached. */
export class DrawnSchedules {
  readonly arbitrary: fc.Arbitrary<readonly FaultRule[]>
  readonly coverage: Coverage
  readonly #options: ScheduleOptions
  readonly #faults: fc.Arbitrary<readonly FaultRule[]>
  readonly #guide: Guide | undefined
  /** What the guide has proposed, and was not run yet. */
  #proposed: readonly FaultRule[] | undefined

  constructor(options: ScheduleOptions, faults: fc.Arbitrary<readonly FaultRule[]>) {
    const { guidance = 'unreached', seed = 1 } = options
    const space = spaceOf(faults)
    this.#options = options
    this.#faults = faults
    this.coverage = new Coverage(space?.kinds ?? deliveryFaultKinds)
    this.#guide = space && guidance === 'unreached' ? new Guide(space, seed) : undefined
    this.arbitrary = this.#guide === undefined ? faults : new GuidedRules((chance) => this.#propose(chance), faults)
  }

  #propose(chance: readonly FaultRule[]): readonly FaultRule[] {
    this.#proposed = this.#guide!.next(chance)
    return this.#proposed
  }

  /** Runs a schedule, and learns from it if it was the guide's own. */
  async run(subject: DeliverySubject, rules: readonly FaultRule[]): Promise<DeliveryRun> {
    let states: ReadonlyMap<number, string> = new Map()
    const run = await runDelivery(subject, rules, (sandbox) => {
      states = watchStates(sandbox, this.#options.stateOf)
    })
    const moments = this.coverage.note(run.sandbox, states)
    if (rules === this.#proposed) this.#guide!.learn(rules, moments)
    return run
  }

  /**
   * Plays what came before a schedule that is to be replayed, as far as it depends on that.
   * @param examples how many schedules were given beforehand
   * @param others what is drawn along with each schedule
   */
  async comeToPath<T>(
    examples: number,
    others: fc.Arbitrary<T>,
    play: (rules: readonly FaultRule[], other: T) => Promise<unknown>,
  ): Promise<void> {
    const { path, seed = 1 } = this.#options
    const index = Number.parseInt(path ?? '', 10) - examples
    if (this.#guide === undefined || !(index >= 0)) return
    const begin = this.#guide.isGuided(index) ? index - (index % blockLength) : index
    this.#guide.startAt(begin)
    if (begin === index) return
    const drawn = fc.sample(fc.tuple(this.#faults, others), { seed, numRuns: index })
    for (const [chance, other] of drawn.slice(begin)) await play(this.#propose(chance), other)
  }
}
