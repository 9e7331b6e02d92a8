import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { world } from './world.js'

// Until there are workflows, nothing may be accepted that would never run, and no list of the SDKs may fail.

describe('the SDKs', () => {
  let sandbox: Sandbox
  let restore: () => void
  let client: Client
  beforeEach(() => {
    sandbox = createSandbox({ vocabulary: 'upstash' })
    restore = replaceFetch(sandbox)
    client = new Client({ baseUrl: sandbox.addresses.queue, token: sandbox.tokens.queue, retry: false })
  })
  afterEach(() => {
    restore()
    sandbox.dispose()
  })

  test('trigger fails with the sentence, and nothing is published', async () => {
    const run = { url: 'https://shop.test/flow', body: { order: 7 } }
    await expect(client.trigger(run)).rejects.toThrow(/has no workflows yet.*docs\/limits\.md/)
    await expect(client.trigger([run, { ...run, workflowRunId: 'mine' }])).rejects.toThrow(/has no workflows yet/)
    expect(sandbox.queue.messages).toEqual([])
  })

  test('every filter of the list of dead letters is taken, none matches', async () => {
    await new QueueClient({ baseUrl: sandbox.addresses.queue, token: sandbox.tokens.queue }).publish({
      url: 'https://shop.test/gone',
      retries: 0,
    })
    await sandbox.clock.drain()
    const empty = { messages: [] }
    expect(await client.dlq.list()).toEqual(empty)
    const filters = [
      { workflowUrl: ['https://shop.test/flow', 'https://shop.test/a,b'] },
      { workflowRunId: 'wfr_1', workflowCreatedAt: 1 },
      { failureFunctionState: 'CALLBACK_FAIL' },
      { fromDate: new Date(0), toDate: Date.now(), callerIp: ['1.2.3.4'], label: ['a', 'b'], flowControlKey: 'k' },
      { responseStatus: 500, url: 'https://shop.test/gone' },
    ] as never[]
    for (const filter of filters) expect(await client.dlq.list({ filter, count: 5 })).toEqual(empty)
  })
})

describe('without an SDK', () => {
  const init = { 'service-workflow-init': 'true', 'service-workflow-runid': 'wfr_1' }

  test.each([
    ['/v2/trigger/https://shop.test/flow', {}, '{}'],
    ['/v2/trigger', {}, '{}'],
    ['/v2/batch/trigger', {}, '[]'],
    ['/v2/publish/https://shop.test/flow', init, '{}'],
    ['/v2/publish/https://shop.test/flow?service-workflow-init=True', {}, '{}'],
    ['/v2/enqueue/line/https://shop.test/flow', init, '{}'],
    ['/v2/schedules/https://shop.test/flow', { ...init, 'service-cron': '* * * * *' }, '{}'],
    ['/v2/batch', {}, JSON.stringify([{ destination: 'https://shop.test/flow', headers: init }])],
  ])('POST %s is refused', async (path, headers, body) => {
    const { send, queue } = world()
    const answer = await send('POST', path, { headers, body })
    expect([answer.status, answer.json.error]).toEqual([
      501,
      expect.stringMatching(/^This double has no workflows yet: /),
    ])
    expect([queue.messages, queue.schedules.list()]).toEqual([[], []])
  })

  test('a step and a failure callback, which begin no run, are accepted as before', async () => {
    const { send } = world()
    const headers = { 'service-workflow-init': 'false', 'service-failure-callback-workflow-init': 'true' }
    expect((await send('POST', '/v2/publish/https://shop.test/flow', { headers })).status).toBe(200)
  })

  test('a dead letter is found by its run', async () => {
    const { send, clock } = world()
    const headers = {
      'service-workflow-runid': 'wfr_1',
      'service-workflow-url': 'https://a.test',
      'service-retries': '0',
    }
    await send('POST', '/v2/publish/https://shop.test/flow', { headers })
    await send('POST', '/v2/publish/https://shop.test/flow', { headers: { 'service-retries': '0' } })
    await clock.drain()
    const found = async (query: string): Promise<number> => (await send('GET', `/v2/dlq?${query}`)).json.messages.length
    expect(await found('')).toBe(2)
    expect(await found('source=workflow&api=x')).toBe(1)
    expect(await found('workflowRunId=wfr_1')).toBe(1)
    expect(await found('workflowRunId=wfr_2')).toBe(0)
    expect(await found('workflowUrl=https://a.test')).toBe(1)
    expect(await found('workflowCreatedAt=1')).toBe(0)
    expect((await send('GET', '/v2/dlq?workflow=1')).status).toBe(400)
    expect((await send('GET', '/v2/events?api=x')).status).toBe(200)
  })
})
