import fc from 'fast-check'
import type { FaultRule } from '../src/faults/fault.js'
import { Coverage, type StateOf, watchStates } from './coverage.js'
import { type DeliveryRun, type DeliverySubject, runDelivery } from './delivery-run.js'
import { deliveryFaultKinds, GuidedRules, spaceOf } from './fault-arbitraries.js'
import { blockLength, Guide } from './guide.js'

interface ScheduleOptions extends DeliverySubject {
  readonly runs?: number
  readonly seed?: number
  readonly examples?: readonly unknown[]
  readonly guidance?: 'unreached' | 'none'
  readonly stateOf?: StateOf
}

/** The schedules that a check tries, and what they have reached. */
export class Schedules {
  readonly arbitrary: fc.Arbitrary<readonly FaultRule[]>
  readonly coverage: Coverage
  readonly #options: ScheduleOptions
  readonly #guide: Guide | undefined
  /** What the guide has proposed, and was not run yet. */
  #proposed: readonly FaultRule[] | undefined

  constructor(options: ScheduleOptions, faults: fc.Arbitrary<readonly FaultRule[]>) {
    const { guidance = 'unreached', seed = 1 } = options
    const space = spaceOf(faults)
    this.#options = options
    this.coverage = new Coverage(space?.kinds ?? deliveryFaultKinds)
    this.#guide = space && guidance === 'unreached' ? new Guide(space, seed, samplesOf(faults, seed)) : undefined
    this.arbitrary = this.#guide === undefined ? faults : new GuidedRules(() => this.#propose(), faults)
  }

  #propose(): readonly FaultRule[] {
    this.#proposed = this.#guide!.next()
    return this.#proposed
  }

  /** Runs a schedule, and learns from it if it was the guide's own. */
  async run(rules: readonly FaultRule[]): Promise<DeliveryRun> {
    let states: ReadonlyMap<number, string> = new Map()
    const run = await runDelivery(this.#options, rules, (sandbox) => {
      states = watchStates(sandbox, this.#options.stateOf)
    })
    const moments = this.coverage.note(run.sandbox, states)
    if (rules === this.#proposed) this.#guide!.learn(rules, moments)
    return run
  }

  /** Plays what came before a schedule that is to be replayed, as far as it depends on that. */
  async comeTo(path: string | undefined): Promise<void> {
    if (path === undefined || this.#guide === undefined) return
    const index = Number.parseInt(path, 10) - (this.#options.examples?.length ?? 0)
    if (!(index >= 0)) return
    const isGuided = this.#guide.isGuided(index)
    this.#guide.startAt(isGuided ? index - (index % blockLength) : index)
    while (this.#guide.index < index) (await this.run(this.#propose())).end()
  }
}

/** What chance alone tries, drawn as fast-check draws it. */
function samplesOf(faults: fc.Arbitrary<readonly FaultRule[]>, seed: number): (index: number) => readonly FaultRule[] {
  let samples: readonly (readonly FaultRule[])[] = []
  return (index) => {
    if (index >= samples.length)
      samples = fc.sample(faults, { seed, numRuns: Math.max(100, 2 ** Math.ceil(Math.log2(index + 1))) })
    return samples[index]!
  }
}
