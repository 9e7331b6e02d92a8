import { expect, test, vi } from 'vitest'
import { Waits } from '../../src/workflow/workflow-waits.js'
import { workflowWorld } from './world.js'

const url = 'https://app.test/x'
const waiters = 100_000
const step = { stepId: 1, stepName: 'w', stepType: 'Wait', concurrent: 1 }

function headersOf(runId: string, more: Record<string, string> = {}): Record<string, string> {
  return { 'upstash-workflow-runid': runId, 'upstash-workflow-url': url, 'upstash-workflow-init': 'false', ...more }
}

test('an event ends a hundred thousand waits, which are visited only when it arrives', async () => {
  const { ask, workflow } = workflowWorld({ policy: { maxTrafficEntries: 1000 } })
  const listed = vi.spyOn(Waits.prototype, 'of')
  const begins = { 'upstash-workflow-init': 'true', 'upstash-delay': '1d' }
  for (let n = 0; n < waiters; n += 1000) {
    const body = Array.from({ length: 1000 }, (_, k) => ({
      destination: url,
      headers: headersOf(`wfr_${n + k}`, begins),
    }))
    await ask('POST', '/v2/batch', { body })
  }
  for (let n = 0; n < waiters; n++) {
    const { status } = await ask('POST', '/v2/wait/evt', { headers: headersOf(`wfr_${n}`), body: { url, step } })
    if (status !== 200) expect(status).toBe(200)
  }
  expect((await ask('POST', '/v2/notify/wfr_7/evt')).json).toHaveLength(1)
  expect(workflow.notify('evt')).toBe(waiters - 1)
  expect((await ask('GET', '/v2/waiters/evt')).json).toEqual([])
  const sum = listed.mock.results.reduce((so, { value }) => so + (value as readonly unknown[]).length, 0)
  expect(sum).toBeLessThan(4 * waiters)
}, 180_000)
