import { Client as QueueClient } from '@upstash/qstash'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRunHistory, type RunHistory, replay } from '../../packages/explore/src/checks.js'
import type { Sandbox } from '../../src/index.js'
import { isReplay, runs, seedOr } from '../support/effort.js'
import { breakingChanges, type Plan, plans, routeOf, third } from './random-routes.js'
import { type Loose, type WorkflowWorld, workflowWorld } from './world.js'

const base = 'https://shop.test/api'
const url = `${base}/main`

/** Serves a plan, and the workflow that it invokes, in any sandbox. */
function app(plan: Plan, more: Parameters<typeof routeOf>[2] = {}): (sandbox: Sandbox) => void {
  return ({ urls, tokens, destinations }) => {
    const qstashClient = new QueueClient({ baseUrl: urls.queue, token: tokens.queue })
    const child = createWorkflow(async (context: Loose) => await context.run('inner', () => context.requestPayload))
    const main = createWorkflow<unknown, unknown>(routeOf(plan, { child }, more))
    const { POST } = serveMany({ main, child } as never, { qstashClient, receiver: undefined as never } as never)
    destinations.on(`${base}/*`, POST as never)
  }
}

const written = (history: RunHistory): RunHistory => JSON.parse(JSON.stringify(history)) as RunHistory

interface Ran {
  readonly world: WorkflowWorld
  readonly runId: string
  /** Run histories taken while the run lasted: from the double, from the list, and from the log. */
  readonly early: readonly RunHistory[]
}

/** Plays a run of a plan to its end. */
async function ran(plan: Plan): Promise<Ran> {
  const world = workflowWorld({ startAt: '2030-01-01T09:00:00Z' })
  world.destinations.respond(third, { status: 200, body: { paid: true } })
  app(plan)(world)
  const { workflowRunId: runId } = await world.client.trigger({ url, body: { id: 1 }, headers: { 'x-user': 'u1' } })
  const early: RunHistory[] = []
  for (let hour = 0; hour < 40 && world.workflow.getRun(runId).state === 'RUN_STARTED'; hour++) {
    await world.clock.advance('30s')
    if (world.workflow.getRun(runId).state === 'RUN_STARTED') {
      const { json } = await world.ask('GET', `/v2/workflows/runs/${runId}`)
      const source = { url, runId, createdAt: world.workflow.getRun(runId).createdAt, headers: { 'x-user': 'u1' } }
      early.push(
        world.workflow.getRun(runId).history(),
        parseRunHistory(json, source),
        parseRunHistory(await logOf(world, runId)),
      )
    }
    await world.clock.advance('30s')
    world.workflow.notify('told', { by: 'Ada' })
    await world.clock.advance('10m')
  }
  await world.clock.drain()
  expect(world.workflow.getRun(runId).state).toBe('RUN_SUCCESS')
  return { world, runId, early: early.map(written) }
}

async function logOf({ ask }: WorkflowWorld, runId: string): Promise<Loose> {
  return (await ask('GET', `/v2/workflows/logs?workflowRunId=${runId}`)).json
}

test('a run history from the log of any workflow finds the same breaking changes as the list, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.nat(5), fc.constantFrom(...Object.keys(breakingChanges)), async (plan, place, name) => {
      const { world, runId } = await ran(plan)
      const direct = written(world.workflow.getRun(runId).history())
      const rebuilt = written(parseRunHistory(await logOf(world, runId)))
      world.dispose()
      const at = place % plan.length
      for (const history of [direct, rebuilt]) {
        for (const [same, more] of [[plan, {}] as const, [plan, { extra: true }] as const]) {
          const { incompatible, unchecked } = await replay(history, app(same, more))
          expect([incompatible, unchecked]).toEqual([[], []])
        }
        const { incompatible } = await replay(history, app(breakingChanges[name]!(plan, at)))
        expect(incompatible).not.toEqual([])
        for (const { sdkError: refusal, actual } of incompatible)
          if (actual.includes('Incompatible')) expect(refusal).toBeDefined()
        const thrown = await replay(history, app(plan, { throwsAt: at }))
        expect(thrown.incompatible).not.toEqual([])
        if (history === rebuilt)
          expect(history.missing?.join(' ') ?? '').not.toMatch(/Not in the log|Truncated|Redacted/)
      }
    }),
    { numRuns: runs(25, 25, 250), seed: seedOr(1) },
  )
}, 300_000)

test('a run history taken at any point of any workflow raises no false alarm', async () => {
  const open = new Set<string>()
  let taken = 0
  await fc.assert(
    fc.asyncProperty(plans, fc.nat(1000), async (plan, pick) => {
      const { world, runId, early } = await ran(plan)
      const whole = written(world.workflow.getRun(runId).history())
      world.dispose()
      const cut = { ...whole, state: 'RUN_STARTED', entries: whole.entries.slice(0, 1 + (pick % whole.entries.length)) }
      const some = early.filter((_, at) => at % 3 === pick % 3)
      for (const history of [cut, ...some.slice(-2)]) {
        taken++
        if (history.open !== undefined) open.add(history.open.stepType)
        const { incompatible, unchecked } = await replay(history, app(plan, { extra: true }))
        expect([incompatible, unchecked]).toEqual([[], []])
      }
    }),
    { numRuns: runs(40, 40, 400), seed: seedOr(2) },
  )
  if (!isReplay) expect(taken).toBeGreaterThan(60)
  if (!isReplay) expect([...open]).toContain('Wait')
}, 300_000)
