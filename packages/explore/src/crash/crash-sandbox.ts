import { type FixtureOptions, intercept, sandboxOf } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { OutboundHandlers } from '../delivery/handled-outbound.js'
import { DeliveryWork } from './crash-work.js'
import type { Disruption, DisruptionKind } from './disruption.js'
import { type AsyncCarrier, replaceChance, silence } from './step-chance.js'

/**
 * Function that sets an app up in a sandbox: it serves the workflows and registers destinations. It returns a function
 * that triggers the workflow runs and is called once. The setup runs again whenever the process dies.
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
  /**
   * Instant of each delivery in the undisturbed run, by the key of the delivery. In milliseconds since the Unix epoch.
   */
  readonly times: Map<string, number>
  readonly seed: number | string
  readonly disturbances?: readonly Disruption[]
  /** Fault rules that are injected instead of disruptions, to find out whether they reproduce a failure. */
  readonly rules?: readonly FaultRule[]
}

/** The sandbox of one run, with its disruptions and the process that serves the app. */
export class CrashSandbox {
  readonly sandbox: Sandbox
  readonly works: AsyncCarrier<DeliveryWork | undefined>
  readonly times: Map<string, number>
  readonly disturbances: readonly Disruption[]
  readonly rules: readonly FaultRule[]
  /** Error of the setup, of the trigger or of the clock. */
  error: unknown
  /** Settles when the setup of the current process has ended. */
  started: Promise<unknown> = Promise.resolve()
  /**
   * Whether the setup can run again. The setup can run again if it returned a trigger, because then the setup itself
   * starts no workflow run.
   */
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
      realHosts: 'block',
      intercept: 'fetch',
      ...(isLazy && { policy: { ...ofSandbox.policy, workflowLazyBodyAbove: 0 } }),
    }
    this.sandbox = sandboxOf(options)
    const outside = new DeliveryWork(this.seedOf('outside'), () => this.sandbox.clock.now())
    this.onEnd(replaceChance(() => works.getStore() ?? outside))
    this.onEnd(silence(() => !this.isPlain || works.getStore()?.submitsNothing === true))
    this.onEnd(intercept(this.sandbox, options))
  }

  /** Whether this is the undisturbed run. */
  get isPlain(): boolean {
    return this.disturbances.length === 0 && this.rules.length === 0
  }

  seedOf(key: string): string {
    return `${this.#seed}/${key}`
  }

  /** Counts an occurrence of `what`. @returns the number of earlier occurrences */
  count(what: string): number {
    const before = this.#counts.get(what) ?? 0
    this.#counts.set(what, before + 1)
    return before
  }

  /** Returns the disruption of this kind at a delivery, if there is one. */
  disturbance(kind: DisruptionKind, delivery: number, submission?: number): Disruption | undefined {
    return this.disturbances.find(
      (one) =>
        one.kind === kind && one.delivery === delivery && (submission === undefined || one.submission === submission),
    )
  }

  setUp(): unknown {
    return this.works.run(undefined, () => this.#subject.workflow(this.sandbox))
  }

  /** Starts a new process, which runs the setup again. */
  restart(): void {
    if (!this.isRestartable) return
    this.started = Promise.resolve(this.setUp()).catch((error) => {
      this.error ??= error
    })
  }

  /** Lets the process die. The work that was running never continues. */
  die(work: DeliveryWork): Promise<never> {
    work.die()
    this.restart()
    return new Promise(() => {})
  }

  onEnd(end: () => void): void {
    this.#endings.push(end)
  }

  end(): void {
    for (const end of this.#endings.splice(0).reverse()) end()
    this.sandbox.dispose()
  }
}
