import type { FaultRule } from '../../../../src/faults/fault.js'
import { carryFailure } from '../../../../src/report/failure.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import type { Tried } from '../campaign/index-space.js'
import { campaignUnderWay } from '../campaign/under-way.js'
import { withCoverage } from '../delivery/coverage.js'
import { inEnvironment } from '../delivery/delivery-run.js'
import { crashCoverage } from './crash-coverage.js'
import { type CrashSafetyOptions, checkOptions, usualBound } from './crash-options.js'
import {
  bySize,
  type CrashFailure,
  CrashSafetyError,
  type CrashSafetyReport,
  type CrashSequence,
  crashReport,
  crashSequence,
  smallestOf,
} from './crash-report.js'
import { CrashRun, type RepeatedDelivery } from './crash-run.js'
import type { CrashSubject, WorkflowUnderTest } from './crash-sandbox.js'
import { CrashTally, crashSpace } from './crash-space.js'
import type { DeliveryWork } from './crash-work.js'
import { type Disruption, disturbancesOf } from './disruption.js'
import type { RunDelivery } from './run-delivery.js'
import { type AsyncCarrier, carrier } from './step-chance.js'
import { straysOf } from './step-determinism.js'
import type { StepDifference } from './step-differences.js'
import { type WorkflowEffects, workflowDifferences, workflowEffects } from './workflow-effects.js'

/**
 * Runs an app's workflows once without faults, then again with one disruption, each time in a new sandbox. Disruptions:
 * the process dies at each crash point, a delivery is repeated or late, branches end in another order, an event arrives
 * before its wait. All effects that other systems can see must be the same in each run.
 * @param workflow sets the app up in a sandbox, and returns a function that triggers its runs. It is called again after
 * the process has died
 * @example
 * await assertCrashSafe((sandbox) => {
 *   sandbox.destinations.on('https://shop.test/api/order', POST)
 *   return () => client.trigger({ url: 'https://shop.test/api/order', body: { id: 42 } })
 * })
 * @throws CrashSafetyError with the smallest crash plan, as text and as a scenario to paste
 */
export async function assertCrashSafe(
  workflow: WorkflowUnderTest,
  options: CrashSafetyOptions = {},
): Promise<CrashSafetyReport> {
  checkOptions(workflow, options)
  const campaign = campaignUnderWay()
  const given = { ...options, ...(campaign !== undefined && { seed: campaign.given.seed }) }
  const during = <T>(work: (check: Check) => Promise<T>, more: CrashSafetyOptions = {}): Promise<T> =>
    inEnvironment({ ...given, sandbox: given.sandbox ?? {} } as never, () =>
      work(new Check({ ...given, workflow }, { ...given, ...more })),
    )
  if (campaign === undefined) return during((check) => check.all())
  return campaign.explore(
    crashSpace(campaign.given.runs, {
      planned: () => during((check) => check.planned()),
      attempt: (from, to, ended) => during((check) => check.attempt(from, to, ended)),
      report: (only) => during((check) => check.all(), only),
    }),
  )
}

interface Undisturbed {
  readonly deliveries: readonly RunDelivery[]
  readonly effects: WorkflowEffects
  readonly finalStores: readonly StoreDump[]
}

interface Plan {
  readonly undisturbed: Undisturbed
  readonly disturbances: readonly Disruption[]
  readonly schedules: readonly (readonly Disruption[])[]
}

/** Maximum number of failures for which the check looks for fault rules that reproduce the failure. */
const maxScenarios = 5

class Check {
  readonly #subject: CrashSubject
  readonly #options: CrashSafetyOptions
  readonly #works: AsyncCarrier<DeliveryWork | undefined> = carrier('assertCrashSafe()')
  readonly #times = new Map<string, number>()
  readonly #seed: number

  constructor(subject: CrashSubject, options: CrashSafetyOptions) {
    this.#subject = subject
    this.#options = options
    this.#seed = options.seed ?? 1
  }

  async #plan(): Promise<Plan> {
    const { depth = 1, only } = this.#options
    const undisturbed = await this.#undisturbed()
    const disturbances = disturbancesOf(undisturbed.deliveries)
    const planned = schedulesOf(disturbances, depth)
    const schedules = only === undefined ? planned : planned.filter((schedule) => only.includes(idOf(schedule)))
    if (schedules.length === 0) throw new TypeError(noSuchSchedule(only ?? [], planned))
    return { undisturbed, disturbances, schedules }
  }

  async planned(): Promise<readonly string[]> {
    return (await this.#plan()).schedules.map(idOf)
  }

  /** Tries runs of a campaign: run 0 is the undisturbed run, run 1 the first crash plan. */
  async attempt(from: number, to: number, ended: (failed: boolean) => void): Promise<Tried> {
    const { undisturbed, disturbances, schedules } = await this.#plan()
    const tried = new CrashTally(undisturbed.deliveries, disturbances)
    for (let run = from; run < to; run++) {
      const schedule = schedules[run - 1]
      const found =
        schedule === undefined ? await this.#strays(undisturbed) : await this.#try(schedule, undisturbed.effects)
      ended(tried.note(run, schedule ?? [], found))
    }
    return tried.tried()
  }

  #strays({ deliveries, finalStores }: Undisturbed): Promise<readonly StepDifference[]> {
    return straysOf(deliveries, finalStores, (delivery, stores) => this.#again(delivery, stores))
  }

  async all(): Promise<CrashSafetyReport> {
    const { maxRuns: bound = usualBound } = this.#options
    const { undisturbed, disturbances, schedules } = await this.#plan()
    const { deliveries, effects } = undisturbed
    const strays = await this.#strays(undisturbed)
    const tried = schedules.slice(0, bound)
    const findings: CrashFailure[] = []
    const exhausted = new Set<readonly Disruption[]>()
    for (const schedule of tried) {
      const found = await this.#try(schedule, effects)
      if (found === 'exhausted') exhausted.add(schedule)
      else if (found !== undefined) findings.push(found)
    }
    const taught = tried.filter((schedule) => !exhausted.has(schedule))
    const counts = {
      deliveries: deliveries.length,
      plans: tried.length,
      notTried: schedules.length - tried.length,
      skipped: exhausted.size,
    }
    const done = withCoverage(counts, crashCoverage(deliveries, disturbances, taught))
    if (findings.length === 0 && strays.length === 0) return done
    const smallest = smallestOf(findings)
    const history = smallest && {
      ...(await this.#historyOf(smallest)),
      scenario: await this.#scenarioOf(bySize(findings).slice(0, maxScenarios), effects),
    }
    const { message, failure } = crashReport(done, findings, strays, history)
    throw carryFailure(new CrashSafetyError(message, { ...done, findings, nondeterminism: strays }), failure)
  }

  /**
   * Plays a failing crash plan again, and returns its deliveries and its timeline. Only one failure is reported, so
   * runs do not keep their deliveries and timelines.
   */
  async #historyOf({ disturbances }: CrashFailure): Promise<ReturnType<typeof crashSequence>> {
    const run = await this.#run(disturbances).play()
    try {
      return crashSequence(run, disturbances)
    } finally {
      run.end()
    }
  }

  /**
   * Returns fault rules that reproduce one of the failures. Fault rules cannot make a process lose its memory, so they
   * reproduce only some failures.
   */
  async #scenarioOf(
    findings: readonly CrashFailure[],
    wanted: WorkflowEffects,
  ): Promise<CrashSequence['scenario'] | undefined> {
    for (const { id, disturbances } of findings) {
      if (disturbances.some((one) => one.rules.length === 0)) continue
      const rules = disturbances.flatMap((one) => one.rules)
      const run = await this.#run([], this.#seed, rules).play()
      try {
        const broken = workflowDifferences(workflowEffects(run, this.#options), wanted)
        if (broken.length > 0 || run.error !== undefined) return { id, rules }
      } finally {
        run.end()
      }
    }
    return undefined
  }

  /** Runs the workflow without disruptions. The effects of all other runs are compared with those of this run. */
  async #undisturbed(): Promise<Undisturbed> {
    const run = await this.#run([]).play()
    try {
      if (run.error !== undefined) throw run.error
      if (run.deliveries.length === 0)
        throw new TypeError(
          'assertCrashSafe(): no delivery of a run reached the app. Register its endpoint with sandbox.destinations.on(url, POST) and return a function that triggers a run.',
        )
      tellWaits(run)
      const { deliveries, sandbox } = run
      return {
        deliveries,
        effects: workflowEffects(run, this.#options),
        finalStores: sandbox.stores.map((store) => store.dump()),
      }
    } finally {
      run.end()
    }
  }

  #run(
    disturbances: readonly Disruption[],
    seed: number | string = this.#seed,
    rules: readonly FaultRule[] = [],
  ): CrashRun {
    return new CrashRun(this.#subject, { works: this.#works, times: this.#times, seed, disturbances, rules })
  }

  async #try(
    schedule: readonly Disruption[],
    wanted: WorkflowEffects,
  ): Promise<CrashFailure | 'exhausted' | undefined> {
    const run = await this.#run(schedule).play()
    try {
      if (run.isExhausted) return 'exhausted'
      const broken = workflowDifferences(workflowEffects(run, this.#options), wanted)
      if (run.error !== undefined) broken.push(firstLine(run.error))
      if (broken.length === 0) return undefined
      return { id: idOf(schedule), disturbances: schedule, differences: broken, deliveries: run.deliveries.length }
    } finally {
      run.end()
    }
  }

  async #again(delivery: RunDelivery, stores: readonly StoreDump[]): Promise<RepeatedDelivery> {
    const run = this.#run([], `${this.#seed}/again`)
    try {
      return await run.again(delivery, stores)
    } finally {
      run.end()
    }
  }
}

/**
 * Completes the submitted waits of a run. Each wait gets the ID of the event that ended it, and the milliseconds from
 * its submission to that event.
 */
function tellWaits({ sandbox, deliveries }: CrashRun): void {
  const events = sandbox.traffic.ofType('notify')
  for (const { runId, submissions } of deliveries) {
    for (const submission of submissions) {
      if (!submission.endpoint.startsWith('/v2/wait/')) continue
      const eventId = decodeURIComponent(submission.endpoint.slice('/v2/wait/'.length))
      const event = events.find(
        (one) => one.at >= submission.at && one.eventId === eventId && one.runIds.includes(runId),
      )
      if (event !== undefined) submission.waited = { eventId, heldMs: event.at - submission.at }
    }
  }
}

/**
 * Returns crash plans with one disruption. With depth 2, pairs follow, in which the second disruption is not at an
 * earlier delivery than the first.
 */
function schedulesOf(all: readonly Disruption[], depth: 1 | 2): readonly (readonly Disruption[])[] {
  const alone = all.map((one) => [one])
  if (depth === 1) return alone
  const pairs = all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other) => (one.delivery <= other.delivery ? [[one, other]] : [[other, one]])),
  )
  return [...alone, ...pairs]
}

function idOf(schedule: readonly Disruption[]): string {
  return schedule.map(({ id }) => id).join(' + ')
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .trim()
    .split('\n')[0]!
}

function noSuchSchedule(only: readonly string[], planned: readonly (readonly Disruption[])[]): string {
  const some = planned.slice(0, 5).map((schedule) => JSON.stringify(idOf(schedule)))
  return `assertCrashSafe(): \`only\` names no crash plan of this workflow (got ${JSON.stringify(only)}). Use one of the ${planned.length} names: ${some.join(', ')} …`
}
