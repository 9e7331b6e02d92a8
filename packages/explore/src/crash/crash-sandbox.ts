import { connect, type FixtureOptions, sandboxOf } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { OutboundHandlers } from '../delivery/handled-outbound.js'
import { DeliveryWork } from './crash-work.js'
import type { Disruption, DisruptionKind } from './disruption.js'
import { type AsyncCarrier, replaceChance, silence } from './step-chance.js'

/**
 * Sets an app up in a sandbox: serves its workflows, registers destinations. What it returns is called once and triggers
 * the runs; the set-up itself runs anew whenever a schedule lets the process die.
 */
export type WorkflowUnderTest = (sandbox: Sandbox) => unknown

export interface CrashSubject {
  readonly workflow: WorkflowUnderTest
  readonly sandbox?: FixtureOptions
  readonly outbound?: OutboundHandlers
  readonly drain?: (sandbox: Sandbox) => unknown
}

export interface CrashSandboxOptions {
  readonly works: AsyncCarrier<DeliveryWork | undefined>
  /** When each delivery happens first, in the run that nothing disturbs. */
  readonly times: Map<string, number>
  readonly seed: number | string
  readonly disturbances?: readonly Disruption[]
  /** Fault rules instead, as a scenario that somebody has pasted into a test. */
  readonly rules?: readonly FaultRule[]
}

/** A world for one run of an app, what goes wrong in it, and the process that serves the app. */
export class CrashSandbox {
  readonly sandbox: Sandbox
  readonly works: AsyncCarrier<DeliveryWork | undefined>
  readonly times: Map<string, number>
  readonly disturbances: readonly Disruption[]
  readonly rules: readonly FaultRule[]
  /** What the set-up, the trigger or time threw. */
  error: unknown
  /** The set-up of the process that serves now. */
  started: Promise<unknown> = Promise.resolve()
  /** Whether a set-up alone triggers nothing. */
  isRestartable = false
  readonly #subject: CrashSubject
  readonly #seed: number | string
  readonly #endings: (() => void)[] = []
  readonly #counts = new Map<string, number>()

  constructor(subject: CrashSubject, given: CrashSandboxOptions) {
    const { works, times, seed, disturbances = [], rules = [] } = given
    this.#subject = subject
    this.works = works
    this.times = times
    this.#seed = seed
    this.disturbances = disturbances
    this.rules = rules
    const isLazy = disturbances.some(({ kind }) => kind === 'lazy-fetch')
    const ofSandbox = subject.sandbox ?? {}
    const options: FixtureOptions = {
      ...ofSandbox,
      env: false,
      realHosts: 'allow',
      intercept: 'fetch',
      ...(isLazy && { policy: { ...ofSandbox.policy, workflowLazyBodyAbove: 0 } }),
    }
    this.sandbox = sandboxOf(options)
    const outside = new DeliveryWork(this.seedOf('outside'), () => this.sandbox.clock.now())
    this.onEnd(replaceChance(() => works.getStore() ?? outside))
    this.onEnd(silence(() => !this.isPlain || works.getStore()?.submitsNothing === true))
    this.onEnd(connect(this.sandbox, options))
  }

  /** Whether this is the run that all others are measured by. */
  get isPlain(): boolean {
    return this.disturbances.length === 0 && this.rules.length === 0
  }

  seedOf(key: string): string {
    return `${this.#seed}/${key}`
  }

  /** How often it was counted before. */
  count(what: string): number {
    const before = this.#counts.get(what) ?? 0
    this.#counts.set(what, before + 1)
    return before
  }

  /** What goes wrong at a delivery, if this kind of thing does. */
  disturbance(kind: DisruptionKind, delivery: number, submission?: number): Disruption | undefined {
    return this.disturbances.find(
      (one) =>
        one.kind === kind && one.delivery === delivery && (submission === undefined || one.submission === submission),
    )
  }

  /** Runs the set-up as a new process would. */
  setUp(): unknown {
    return this.works.run(undefined, () => this.#subject.workflow(this.sandbox))
  }

  /** A process that dies loses what it had in memory. */
  restart(): void {
    if (!this.isRestartable) return
    this.started = Promise.resolve(this.setUp()).catch((error) => {
      this.error ??= error
    })
  }

  /** The process dies in the middle of its work, which never gets any further. */
  die(work: DeliveryWork): Promise<never> {
    work.die()
    this.restart()
    return new Promise(() => {})
  }

  onEnd(end: () => void): void {
    this.#endings.push(end)
  }

  /** Takes back what connected the world with the process. */
  end(): void {
    for (const end of this.#endings.splice(0).reverse()) end()
    this.sandbox.dispose()
  }
}
