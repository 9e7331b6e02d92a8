import type { WorkflowContext } from '@upstash/workflow'
import fc from 'fast-check'

// Workflows as data, so that a test can change them like a deployment.

/** One step, by what it does. */
type Kind = 'run' | 'undefined' | 'sleep' | 'until' | 'call' | 'wait' | 'timeout' | 'webhook' | 'notify' | 'invoke'

interface PlannedStep {
  readonly kind: Kind
  readonly name: string
  /** Return value of a `run` step. */
  readonly value: unknown
}

/** Sequential steps. Those of an inner list are parallel. */
export type Plan = readonly (readonly PlannedStep[])[]

const alone: readonly Kind[] = [
  ...(['run', 'undefined', 'sleep', 'until', 'call', 'wait'] as const),
  ...(['timeout', 'webhook', 'notify', 'invoke'] as const),
]
const beside: readonly Kind[] = ['run', 'undefined', 'sleep', 'until', 'call', 'wait', 'timeout', 'invoke']
const values: readonly unknown[] = [{ ok: true, text: 'a "quoted" ☕' }, 'plain', 7, [1, 2], null, true, '']

/** Workflows with up to six positions, each with up to three parallel steps. */
export const plans: fc.Arbitrary<Plan> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...alone).map((kind) => [kind]) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom(...beside), { minLength: 2, maxLength: 3 }) },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .chain((places) =>
    fc.record({ places: fc.constant(places), picks: fc.array(fc.nat(6), { minLength: 20, maxLength: 20 }) }),
  )
  .map(({ places, picks }) => {
    let count = 0
    return places.map((kinds) =>
      kinds.map((kind) => {
        const at = count++
        return { kind, name: `${kind} ${at}`, value: values[picks[at]!] }
      }),
    )
  })

export const third = 'https://third.test/'

interface Places {
  readonly child: unknown
}

async function done(context: WorkflowContext<unknown>, step: PlannedStep, { child }: Places): Promise<unknown> {
  const { kind, name, value } = step
  if (kind === 'run') return await context.run(name, () => value)
  if (kind === 'undefined') return await context.run(name, () => undefined)
  if (kind === 'sleep') return await context.sleep(name, 60)
  if (kind === 'until') return await context.sleepUntil(name, 1_900_000_000)
  if (kind === 'call')
    return await context.call(name, { url: third, method: 'POST', body: { stepName: 'no step' } as never })
  if (kind === 'wait') return await context.waitForEvent(name, 'told', { timeout: '1h' })
  if (kind === 'timeout') return await context.waitForEvent(name, `never ${name}`, { timeout: '5m' })
  if (kind === 'notify') return await context.notify(name, 'nobody', { n: 1 })
  if (kind === 'invoke') return await context.invoke(name, { workflow: child as never, body: { n: 1 } })
  return await context.createWebhook(name)
}

/** A route that follows a plan and reads every result, like code between steps. */
export function routeOf(
  plan: Plan,
  places: Places,
  more: { readonly extra?: boolean; readonly throwsAt?: number } = {},
) {
  return async (context: WorkflowContext<unknown>): Promise<unknown> => {
    const seen: unknown[] = []
    for (const [at, steps] of plan.entries()) {
      if (more.throwsAt === at) throw new Error('outside steps')
      seen.push(await Promise.all(steps.map((step) => done(context, step, places))))
    }
    if (more.extra === true) await context.run('appended', () => Promise.reject(new Error('needs what is not here')))
    return JSON.stringify(seen).length > 1e9 ? 'long' : 'done'
  }
}

/** A change in a deployment that no running workflow survives. */
export const breakingChanges: Readonly<Record<string, (plan: Plan, at: number) => Plan>> = {
  renamed: (plan, at) => changed(plan, at, ([step, ...others]) => [{ ...step!, name: 'renamed' }, ...others]),
  removed: (plan, at) => plan.filter((_, index) => index !== at),
  'another before it': (plan, at) => [...plan.slice(0, at), [added], ...plan.slice(at)],
  retyped: (plan, at) =>
    changed(plan, at, ([step, ...others]) => [
      { ...step!, kind: step!.kind === 'run' || step!.kind === 'undefined' ? 'sleep' : 'run' },
      ...others,
    ]),
  'one more beside it': (plan, at) => changed(plan, at, (steps) => [...steps, added]),
}

const added: PlannedStep = { kind: 'run', name: 'added', value: 1 }

function changed(plan: Plan, at: number, change: (steps: readonly PlannedStep[]) => readonly PlannedStep[]): Plan {
  return plan.map((steps, index) => (index === at ? change(steps) : steps))
}
