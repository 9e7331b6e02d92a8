import { catalog } from '../../../../src/faults/catalog.js'
import type { Fault, FaultFacts, FaultRule } from '../../../../src/faults/fault.js'
import { deliveryPoints, type InjectionPoint, injectionPoints } from '../../../../src/faults/points.js'
import { factOf } from '../../../../src/rules/matching.js'
import { ruleProblems } from '../../../../src/rules/rule-schema.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type PlayOptions, playOptionsOf, playScenario } from '../../../../src/scenarios/play-scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'

// Finds the injection points that occur in a scenario. A rule at each injection point counts occurrences and injects
// nothing.

/**
 * An injection point with the faults that are possible there. `moments` describes its occurrences in a scenario, in
 * order.
 */
export interface Places {
  readonly point: InjectionPoint
  readonly faults: readonly Fault[]
  readonly moments: readonly string[]
}

/**
 * Plays a scenario once and returns the occurrences of the injection points.
 * @throws TypeError if an injection point is unknown, or if none of the faults is possible at one of these points
 */
export async function placesOf(
  scenario: Scenario,
  points: readonly InjectionPoint[],
  faults: readonly Fault[],
  options: PlayOptions,
): Promise<readonly Places[]> {
  const places = fitting(points, faults).map((place) => ({ ...place, moments: [] as string[] }))
  const rules = places.map(({ point, faults: [fault] }) => {
    return { name: counting(point), on: point, skip: Number.MAX_SAFE_INTEGER, fault: fault! } as FaultRule
  })
  const prepare = async (sandbox: Sandbox): Promise<void> => {
    await options.setup?.(sandbox)
    const { faults: asked } = sandbox
    const ask = asked.injections.bind(asked)
    const counted = (point: InjectionPoint): number =>
      asked.rules.find(({ rule }) => rule.name === counting(point))?.matched ?? 0
    asked.injections = (point, facts, ...more) => {
      const before = counted(point)
      const strikes = ask(point, facts, ...more)
      const place = places.find((one) => one.point === point)
      if (counted(point) > before) place?.moments.push(momentText(point, facts, place.moments.length + 1))
      return strikes
    }
  }
  const counts = { ...scenario, faults: [...rules, ...(scenario.faults ?? [])] }
  await playScenario(counts, { ...playOptionsOf(options), strict: false, setup: prepare })
  return places
}

function counting(point: InjectionPoint): string {
  return `exploreFaults() counts ${point}`
}

function fitting(points: readonly InjectionPoint[], faults: readonly Fault[]): Omit<Places, 'moments'>[] {
  const unknown = points.find((point) => !injectionPoints.includes(point))
  if (unknown !== undefined || points.length === 0)
    throw new TypeError(
      `exploreFaults(): unknown injection point ${String(unknown ?? '(none)')}. Use one of ${injectionPoints.join(', ')}.`,
    )
  const [first] = points as readonly [InjectionPoint, ...InjectionPoint[]]
  for (const fault of faults) {
    const fits = points.find((point) => catalog[fault?.kind]?.points.includes(point)) ?? first
    const [problem] = ruleProblems({ on: fits, times: 1, fault })
    if (problem !== undefined) throw new TypeError(`exploreFaults(): ${problem.sentence}`)
  }
  return points.map((point) => {
    const there = faults.filter(({ kind }) => catalog[kind].points.includes(point))
    if (there.length > 0) return { point, faults: there }
    throw new TypeError(
      `exploreFaults(): none of the faults ${faults.map(({ kind }) => kind).join(', ')} have an effect at ${point}.`,
    )
  })
}

const isDelivery = (point: InjectionPoint): boolean => (deliveryPoints as readonly InjectionPoint[]).includes(point)

function momentText(point: InjectionPoint, facts: FaultFacts, nth: number): string {
  const { argv, attempt, url, method, scheduleId, urlGroup, queue, keys = [] } = facts
  const step = point.startsWith('workflow.') ? factOf(facts, 'step') : undefined
  const ofStep = step === undefined ? '' : `, step ${JSON.stringify(step)}`
  if (isDelivery(point))
    return `${point === 'workflow.call' ? 'call' : 'delivery'} ${nth}: attempt ${attempt} to ${url}${ofStep}`
  if (argv !== undefined) return `command ${nth}: ${argv.slice(0, 3).join(' ')}`
  if (point === 'schedule.fire') return `fire time ${nth} of schedule ${scheduleId}, to ${url ?? urlGroup ?? queue}`
  if (method !== undefined) return `request ${nth}: ${method} ${url}${ofStep}`
  return `event ${nth}: ${keys.join(' ')}`
}
