import { expect, test } from 'vitest'
import { sandboxMatchers } from '../../matchers/index.js'
import { fault } from '../../src/index.js'
import { failureOf } from '../matchers/failure.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// The failure must name the cause for a reader who does not know the app.

expect.extend(sandboxMatchers as never)
const about = expect as (received: unknown) => Loose
const url = `${app}/order`

async function ran(
  route: (context: Loose, world: WorkflowWorld) => Promise<unknown>,
  { retries = 0 } = {},
): Promise<WorkflowWorld> {
  const world = workflowWorld()
  world.serve('/order', ((context: Loose) => route(context, world)) as never)
  await world.client.trigger({ url, workflowRunId: 'one', retries })
  await world.clock.advance('1s')
  return world
}

const hints = (assertion: () => void): string[] =>
  failureOf(assertion)
    .split('\n')
    .filter((line) => line.startsWith('Hint: '))
    .map((line) => line.slice('Hint: '.length))

test('a failure shows the steps at both ends of 200 steps, those around the focused one, and the failed ones', async () => {
  const world = await ran(
    async (context) => {
      for (let nth = 0; nth < 200; nth++) {
        await context.run(`step ${nth}`, () => {
          if (nth === 80 && context.retried === 0) throw new Error('once')
          return nth
        })
      }
    },
    { retries: 1 },
  )
  await world.clock.drain()
  const lines = failureOf(() => about(world).toHaveWorkflowStep('step 150', { result: 3 })).split('\n')
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('run wfr_one')) + 1)
  const shown = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `  ${from + at + 1} "step ${from + at}"  Run, done → ${from + at}`)
  expect(rows).toEqual([
    ...shown(0, 8),
    '  … 72 more steps',
    ...shown(80, 81),
    expect.stringContaining('500 once; waits until 00:00:12.000: delay 12 s'),
    '  … 66 more steps',
    ...shown(147, 154),
    '  … 38 more steps',
    ...shown(192, 200),
  ])
  expect(hints(() => about(world).toHaveWorkflowStep('setp 150'))).toEqual([
    "No step is named 'setp 150'. Did you mean 'step 150'?",
  ])
})

test('control characters, long names and long results keep a failure short and its lines intact', async () => {
  const world = await ran(async (context) => {
    await context.run('\u001b[31mred\u001b[0m\nline2\u202Eabc', () => 1)
    await context.run('x'.repeat(5000), () => 'y'.repeat(1_000_000))
    await context.run('charge', () => ({ token: 'sk_live_abcdefghijklmnopqrstuv' }))
  })
  for (const assertion of [
    () => about(world).toHaveWorkflowStep('chrage'),
    () => about(world).toHaveWorkflowStep('x'.repeat(5000), { result: 'z' }),
    () => about(world).toHaveWorkflowRun({ steps: ['red'] }),
    () => about(world).toHaveWorkflowStep('charge', { result: { token: 'other' } }),
  ]) {
    const failure = failureOf(assertion)
    expect(failure.length).toBeLessThan(3000)
    expect(failure).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F\u202E]|sk_live/)
    expect(failure).toContain('\\x1b[31mred')
  }
})

test('a failed run shows its step, the number of attempts and the error', async () => {
  const world = await ran(
    async (context) => {
      await context.run('a', () => 1)
      await context.run('b', () => 1)
      await context.run('charge', () => {
        throw new Error('card declined')
      })
      await context.run('d', () => 1)
    },
    { retries: 2 },
  )
  const state = () => about(world).toHaveWorkflowRun({ state: 'success' })
  expect(hints(state)).toEqual([
    "run wfr_one waits until 00:00:12.000 for its next attempt at step 'charge': 1 attempt failed, 500 card declined.",
  ])
  await world.clock.drain()
  const cause = "run wfr_one failed at step 'charge' after 3 attempts: 500 card declined."
  expect(hints(state)).toEqual([cause])
  expect(hints(() => about(world).toHaveWorkflowStep('d'))).toEqual([`No step is named 'd': ${cause}`])
  expect(failureOf(state)).toContain(`  – charge  failed, 3 attempts
      00:00:00.000  500 card declined; waits until 00:00:12.000: delay 12 s from the default back-off after 500
      00:00:12.000  500 card declined; waits until 00:02:40.000: delay 148 s from the default back-off after 500
      00:02:40.000  500 card declined`)
})

test('a hint states that no app responds at the URL of the workflow', async () => {
  const world = workflowWorld()
  await world.client.trigger({ url, workflowRunId: 'one', retries: 0 })
  await world.clock.drain()
  const state = () => about(world).toHaveWorkflowRun({ state: 'success' })
  expect(hints(state)).toEqual([
    'run wfr_one failed before its next step after 1 attempt: dial tcp: lookup app.test: no such host.',
  ])
  const [cause = ''] = failureOf(state).split('\nExpected ')
  expect(cause).toContain(`No destination responds at ${url}`)
  expect(cause).toContain(`Register destinations.on('${url}', handler)`)
})

test('toHaveWorkflowRun() states whether a trigger was rejected or none was sent', async () => {
  const ask: readonly ((world: WorkflowWorld) => unknown)[] = [
    ({ ask }) => ask('POST', `/v2/trigger/${url}`, { headers: { authorization: 'Bearer wrong' } }),
    ({ queue }) => queue.publish({ to: url }),
    () => {},
  ]
  const causes = [
    `No workflow run started: POST https://queue.test/v2/trigger/${url} was rejected with 401 unable to authenticate: invalid token.`,
    'No workflow run started: 1 message was published, but none triggered a workflow. Call client.trigger(), or advance the clock if a message goes to a workflow endpoint.',
    'No workflow run started: the queue received no request. Trigger a run, and check that the client of the app uses the URL of the sandbox.',
  ]
  for (const [index, act] of ask.entries()) {
    const world = workflowWorld()
    await act(world)
    for (const assertion of [
      () => about(world).toHaveWorkflowRun({ workflow: url }),
      () => about(world).toHaveWorkflowStep('charge'),
      () => about(world).toHaveWorkflowWait('approved'),
    ])
      expect(hints(assertion)).toEqual([causes[index]])
  }
})

test('a hint states that an event was sent under another name, or too early', async () => {
  const world = await ran(
    async (context) => void (await context.waitForEvent('approval', 'approved-42', { timeout: '1h' })),
  )
  const came = () => about(world).toHaveWorkflowWait('approved-42', { outcome: 'received' })
  const waiting = "Step 'approval' waits for it until 2030-01-01 01:00. Send it with "
  expect(hints(came)).toEqual([
    `Event 'approved-42' was never sent. ${waiting}sandbox.workflow.notify('approved-42', data), or await sandbox.clock.drain() for the timeout of the wait.`,
  ])
  world.workflow.notify('aproved-42', { by: 'Ada' })
  expect(hints(came)).toEqual([
    expect.stringMatching(
      /^Event 'approved-42' was never sent; 'aproved-42' was sent at 00:00:01\.000, and no step waited for it\. Step /,
    ),
  ])
  expect(hints(() => about(world).toHaveWorkflowWait('aproved-42'))).toEqual([
    "No step waits for event 'aproved-42'. A step waits for event 'approved-42'.",
  ])
  expect(hints(() => about(world).toHaveWorkflowRun({ state: 'success' }))).toEqual([
    "run wfr_one waits for event 'approved-42' until 01:00:00.000. Send it with sandbox.workflow.notify('approved-42', data), or await sandbox.clock.drain() for the timeout of the wait.",
  ])
  await world.clock.drain()
  expect(hints(() => about(world).toHaveWorkflowRun({ state: 'failed' }))).toEqual([])
  // The wait has timed out, so no run waits any more.
  expect(hints(came)).toEqual([expect.stringMatching(/^Event 'approved-42' was never sent; [^.]*\.000, [^.]*\.$/)])

  const early = workflowWorld()
  early.workflow.notify('approved-42')
  early.serve('/order', async (context) => void (await context.waitForEvent('approval', 'approved-42')))
  await early.client.trigger({ url })
  await early.clock.advance('1s')
  expect(hints(() => about(early).toHaveWorkflowWait('approved-42', { outcome: 'received' }))).toEqual([
    "Event 'approved-42' was sent at 00:00:00.000, when no step waited for it. Send it while a step waits for it. Or send it to the run by the ID of the run: the queue then keeps the event for the run's next wait.",
  ])
})

test('a hint lists the running runs that wait for an event, without canceled ones', async () => {
  const world = workflowWorld({ startAt: '2030-01-01T09:00:00Z' })
  world.serve(
    '/order',
    async (context) => void (await context.waitForEvent('approval', 'approved', { timeout: '36h' })),
  )
  for (const workflowRunId of ['one', 'two', 'three']) await world.client.trigger({ url, workflowRunId })
  await world.clock.advance('30s')
  const came = () => about(world).toHaveWorkflowWait('approved', { outcome: 'received' })
  world.workflow.getRun('wfr_one').cancel()
  expect(hints(came)[0]).toContain("Step 'approval' (and 1 other step) waits for it until 2030-01-02 21:00")
  for (const id of ['wfr_two', 'wfr_three']) world.workflow.getRun(id).cancel()
  expect(hints(came)).toEqual(["Event 'approved' was never sent."])
})

test('a failure shows the workflow of the assertion first, and a hint names an unknown URL', async () => {
  const world = await ran(async (context) => void (await context.run('charge', () => 1)))
  world.serve('/other', async (context) => {
    await context.run('charge', () => 2)
    await context.sleep('nap', '1d')
  })
  await world.client.trigger({ url: `${app}/other`, workflowRunId: 'two' })
  await world.clock.advance('1s')
  const failure = failureOf(() => about(world).toHaveWorkflowStep('charge', { workflow: `${app}/other`, result: 1 }))
  expect(failure.indexOf('run wfr_two of')).toBeLessThan(failure.indexOf('\nrun wfr_one of'))
  expect(failure).toContain('  2 nap  SleepFor, sleeps until 2030-01-02 00:00:01.000')
  expect(hints(() => about(world).toHaveWorkflowRun({ workflow: `${app}/other`, state: 'success' }))).toEqual([
    'run wfr_two sleeps until 2030-01-02 00:00:01.000. Advance the clock, or call workflow.skipSleeps().',
  ])
  const nowhere = [`No run belongs to workflow '${app}/ordr'. There are runs of ${app}/order, ${app}/other.`]
  expect(hints(() => about(world).toHaveWorkflowRun({ workflow: `${app}/ordr` }))).toEqual(nowhere)
  expect(hints(() => about(world).toHaveWorkflowStep('charge', { workflow: `${app}/ordr` }))).toEqual(nowhere)
})

test('a failure shows the entries that a hint refers to by number', async () => {
  const world = await ran(
    async (context, { urls, faults, tokens }) => {
      await context.run('charge', async () => {
        const headers = { authorization: `Bearer ${tokens.store}` }
        const count = (): Promise<Response> => fetch(`${urls.store}/incr/charges`, { headers })
        faults.add({ on: 'store.request', times: 1, fault: fault.lostAck() })
        await count().catch(count)
        return { id: 'ch_1' }
      })
    },
    { retries: 1 },
  )
  await world.clock.drain()
  const text = failureOf(() => about(world).toHaveWorkflowStep('charge', { result: { id: 'ch_2' } }))
  const [hint = ''] = hints(() => about(world).toHaveWorkflowStep('charge', { result: { id: 'ch_2' } }))
  const named = [...hint.matchAll(/#(\d+)/g)].map(([, seq]) => seq)
  expect(named.length, text).toBeGreaterThan(1)
  expect(text).toContain('charge  Run, done')
  for (const seq of named) expect(text).toMatch(new RegExp(`^ +#${seq}  `, 'm'))
  expect(text.split('\n').length).toBeLessThanOrEqual(40)
})
