import { Client as QueueClient } from '@upstash/qstash'
import { Client, type WorkflowContext } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { expect, test } from 'vitest'
import { type RunHistory, replay } from '../../packages/explore/src/checks.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/index.js'

type Route = (context: WorkflowContext<{ id: number }>) => Promise<unknown>

const url = 'https://shop.test/api/order'

function app(route: Route): (sandbox: Sandbox) => void {
  return (sandbox) => {
    const qstashClient = new QueueClient({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
    const { POST } = serve<{ id: number }>(route, { qstashClient, receiver: undefined as never })
    sandbox.destinations.on(url, POST as unknown as (request: Request) => Promise<Response>)
  }
}

async function recorded(route: Route): Promise<RunHistory> {
  using sandbox = createSandbox({ onWarning: () => {} })
  using _ = replaceFetch(sandbox)
  app(route)(sandbox)
  sandbox.destinations.respond('https://third.test/*', 200)
  const client = new Client({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
  const { workflowRunId } = await client.trigger({ url, body: { id: 1 }, headers: { 'x-user': 'u' } })
  await sandbox.clock.drain()
  return JSON.parse(JSON.stringify(sandbox.workflow.getRun(workflowRunId).history())) as RunHistory
}

interface Change {
  readonly first?: string
  readonly firstBody?: () => unknown
  readonly sleep?: boolean
  readonly pay?: string
  readonly branches?: readonly string[]
  readonly order?: readonly ['first', 'nap'] | readonly ['nap', 'first']
  readonly approval?: boolean | 'run'
  readonly extra?: 'before' | 'after'
  readonly early?: boolean
  readonly throws?: boolean
}

const routeWith = (change: Change = {}): Route => {
  const { first = 'first', sleep = true, pay = 'pay', branches = ['a', 'b'], order = ['first', 'nap'] } = change
  return async (context) => {
    if (change.extra === 'before') await context.run('new', () => 0)
    if (change.throws === true) throw new Error('no such order')
    for (const step of order) {
      if (step === 'first') await context.run(first, change.firstBody ?? (() => 1))
      else if (sleep) await context.sleep('nap', 60)
      else await context.run('nap', () => 1)
    }
    if (change.early === true) return
    if (pay !== '') await context.call(pay, { url: 'https://third.test/pay', method: 'POST', body: '5' })
    if (branches.length > 1) await Promise.all(branches.map((name) => context.run(name, () => name)))
    else for (const name of branches) await context.run(name, () => name)
    if (change.approval === 'run') await context.run('approval', () => 1)
    else if (change.approval !== false) await context.waitForEvent('approval', 'evt', { timeout: '1h' })
    await context.run('last', () => 1)
    if (change.extra === 'after') await context.run('added', () => 0)
  }
}

const breaking: readonly [string, Change][] = [
  ['a step has another name', { first: 'second' }],
  ['a step was added before', { extra: 'before' }],
  ['two steps have changed places', { order: ['nap', 'first'] }],
  ['a sleep has become a step', { sleep: false }],
  ['a call was taken away', { pay: '' }],
  ['a call has another name', { pay: 'charge' }],
  ['a branch was added', { branches: ['a', 'b', 'c'] }],
  ['a branch was taken away', { branches: ['a'] }],
  ['branches have changed places', { branches: ['b', 'a'] }],
  ['a wait was taken away', { approval: false }],
  ['a wait has become a step', { approval: 'run' }],
  ['the route ends before its history', { early: true }],
  ['the route throws outside steps', { throws: true }],
]

test.each(breaking)('replay() finds a breaking change: %s', async (_, change) => {
  const history = await recorded(routeWith())
  const { incompatible } = await replay(history, app(routeWith(change)))
  expect(incompatible).not.toEqual([])
})

test.each<[string, Change]>([
  ['nothing has changed', {}],
  ['a step was added at the end', { extra: 'after' }],
  ['a body has changed', { firstBody: () => ({ other: 'result' }) }],
  ['a body reaches for a host', { firstBody: async () => (await fetch('https://pay.test/')).status }],
])('replay() accepts a compatible change: %s', async (_, change) => {
  const history = await recorded(routeWith())
  const { incompatible, prefixes, unchecked } = await replay(history, app(routeWith(change)))
  expect([incompatible, unchecked]).toEqual([[], []])
  expect(prefixes).toBe(10)
})

test('replay() accepts a run history of a running run', async () => {
  const history = await recorded(routeWith())
  const early: RunHistory = { ...history, state: 'RUN_STARTED', entries: history.entries.slice(0, 3) }
  expect(await replay(early, app(routeWith({ pay: 'charge' })))).toEqual({
    prefixes: 3,
    incompatible: [],
    unchecked: [],
  })
  expect((await replay(early, app(routeWith({ sleep: false })))).incompatible).not.toEqual([])
})

test('replay() reports differences in a readable form', async () => {
  const history = await recorded(routeWith())
  const { incompatible } = await replay(history, app(routeWith({ first: 'second' })))
  expect(incompatible[0]).toEqual({
    prefix: 1,
    expected: "step 1 'first' (Run)",
    actual: "step 1 'second' (Run)",
    message: expect.stringMatching(/step 1 'first' \(Run\) .*but .*step 1 'second' \(Run\)\.$/),
  })
  expect(incompatible[1]!.actual).toBe(
    "responded 500: Incompatible step name. Expected 'second', got 'first' from the request",
  )
  expect(incompatible[1]).toMatchObject({
    sdkError: "Incompatible step name. Expected 'second', got 'first' from the request",
    message: expect.stringMatching(
      /^After step 1 'first', step 2 'nap' \(SleepFor\) .*but .*step 'second' .*history has 'first'\.$/,
    ),
  })
  await expect(replay({} as never, () => {})).rejects.toThrow(/replay\(\).*arguments .*a history/)
})
