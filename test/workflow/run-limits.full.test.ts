import { expect, test } from 'vitest'
import { connectedSandbox } from '../support/sandbox.js'
import { SettingsSdk } from './settings-sdk.js'
import { url } from './settings-world.js'

// The documented limit of 1,000 steps. The endpoint does not parse its deliveries, because a thousand lists of up to a
// thousand steps take long. [workflow.md 12]

test.each([
  [1000, 'RUN_SUCCESS', 0],
  [1001, 'RUN_FAILED', 1],
] as const)(
  'a loop of %d steps ends with %s',
  async (count, state, failed) => {
    const sandbox = connectedSandbox({ seed: 16 })
    const sdk = new SettingsSdk(sandbox)
    const run = { 'upstash-workflow-runid': 'wfr_one', 'upstash-workflow-url': url, 'upstash-workflow-init': 'false' }
    let failures = 0
    let done = 0
    sandbox.destinations.on(url, async ({ headers }) => {
      if (headers.get('upstash-workflow-is-failure') === 'true') failures++
      else if (done === count) await sdk.ask('DELETE', '/v2/workflows/runs/wfr_one?cancel=false', {})
      else {
        const body = { stepId: ++done, stepName: `step ${done}`, stepType: 'Run', concurrent: 1, out: '1' }
        await sdk.ask('POST', '/v2/batch', {}, [{ destination: url, headers: run, body: JSON.stringify(body) }])
      }
      return new Response('{}', { headers: { 'upstash-workflow-sdk-version': '1' } })
    })
    await sdk.trigger(url, 'wfr_one')
    await sandbox.clock.drain()
    const { explain, state: reached } = sandbox.workflow.getRun('wfr_one')
    expect(reached).toBe(state)
    expect(failures).toBe(failed)
    expect(sandbox.queue.deadLetters).toHaveLength(failed)
    expect(explain()).toContain('(1,000 of 1,000 steps, 1,000 of 104,857,600 bytes of context)')
  },
  120_000,
)

// The requests of calls are no context, but the list in each delivery contains them. A list that is longer than a text
// can be in JavaScript must not break the sandbox.
test('requests of calls that are too long together fail the run', async () => {
  const sandbox = connectedSandbox({ seed: 16 })
  const sdk = new SettingsSdk(sandbox)
  const run = { 'upstash-workflow-runid': 'wfr_one', 'upstash-workflow-url': url, 'upstash-workflow-init': 'false' }
  let failures = 0
  sandbox.destinations.on(url, ({ headers }) => {
    if (headers.get('upstash-workflow-is-failure') === 'true') failures++
    return new Response('{}', { headers: { 'upstash-workflow-sdk-version': '1' } })
  })
  sandbox.destinations.respond('https://third.test/', 200)
  await sdk.trigger(url, 'wfr_one')
  await sandbox.clock.advance('1s')
  const callback = 'upstash-callback-forward-upstash-workflow'
  const body = 'x'.repeat(1_000_000)
  let status = 0
  let calls = 0
  for (; calls < 600; calls++) {
    const headers = {
      ...{ ...run, 'upstash-workflow-calltype': 'toCallback', 'upstash-delay': '30d', 'upstash-callback': url },
      ...{ 'upstash-callback-workflow-calltype': 'fromCallback', 'upstash-callback-workflow-runid': 'wfr_one' },
      ...{
        [`${callback}-stepid`]: String(calls + 1),
        [`${callback}-stepname`]: 'call',
        [`${callback}-steptype`]: 'Call',
      },
      ...{ 'upstash-callback-workflow-url': url, [`${callback}-concurrent`]: '600', [`${callback}-callback`]: 'true' },
    }
    ;({ status } = await sdk.ask('POST', '/v2/publish/https://third.test/', headers, body))
    if (status === 429) break
  }
  expect(status).toBe(429)
  expect(calls).toBeGreaterThan(150)
  await sandbox.clock.advance('1s')
  expect(sandbox.workflow.getRun('wfr_one').state).toBe('RUN_FAILED')
  expect(failures).toBe(1)
  expect(sandbox.traffic.ofType('dead-letter').map(({ error }) => error)).toEqual([
    expect.stringMatching(/^-1 EXCEEDS_LIMIT: the run has more than \d+ bytes.*context\.invoke/),
  ])
})
