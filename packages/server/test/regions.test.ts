import { afterEach, describe, expect, test } from 'vitest'
import { delivered } from '../../../matchers/message-matchers.js'
import { scheduled } from '../../../matchers/schedule-matchers.js'
import type { RemoteSandbox } from '../../../src/client/connect.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { ended, kinds, shop } from './both-sandboxes.js'

// These tests run with a sandbox in the process and with one behind a server.

let sandbox: Sandbox | RemoteSandbox
afterEach(() => ended(sandbox))

/** Publishes as an app in a region does. */
async function published(at: Sandbox | RemoteSandbox, region: 'us-east-1' | 'eu-central-1'): Promise<string> {
  const send = 'fetch' in at ? at.fetch : fetch
  const answer = await send(`${at.urls.regions[region]}/v2/publish/${shop}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.tokens.queue}`, 'service-deduplication-id': 'one' },
    body: '{}',
  })
  return ((await answer.json()) as { messageId: string }).messageId
}

describe.each(kinds)('%s', (_, make) => {
  test('each region has its own queue', async () => {
    sandbox = await make()
    await sandbox.destinations.record(shop)
    const home = await published(sandbox, 'eu-central-1')
    const away = await published(sandbox, 'us-east-1')
    const us = sandbox.queueIn('us-east-1')
    expect((await us.messages).map(({ id }) => id)).toEqual([away])
    expect((await sandbox.queue.messages).map(({ id }) => id)).toEqual([home])
    expect(await sandbox.queue.getMessage(away)).toBeUndefined()
    expect(await us.explain(away)).toContain('due immediately')
    const rotated = await us.signingKeys.rotate()
    expect(sandbox.env.US_EAST_1_QUEUE_CURRENT_SIGNING_KEY).toBe(rotated.current)
    expect(await sandbox.queue.signingKeys.current).toBe(sandbox.env.QUEUE_CURRENT_SIGNING_KEY)
    await us.pauseQueue('line')
    await us.publish({ to: shop, queue: 'line' })
    await sandbox.clock.drain()
    const copy = await sandbox.snapshot()
    expect(delivered(copy.queueIn('us-east-1'), { to: shop, messageId: away } as never).pass).toBe(true)
    expect(delivered(copy.queue, { to: shop }, { times: 1 }).pass).toBe(true)
    expect(scheduled(copy).pass).toBe(false)
    expect(copy.queues.map(({ messages }) => messages.length)).toEqual([0, 1])
    const dump = await sandbox.dump()
    expect([dump.version, dump.regions?.['us-east-1']?.queues.map(({ name }) => name)]).toEqual([2, ['line']])
    await us.reset()
    expect([(await us.messages).length, (await sandbox.assertInvariants()).violations]).toEqual([0, []])
    await sandbox.load(dump)
    expect(await sandbox.queueIn('us-east-1').messages).toHaveLength(1)
    expect(await sandbox.workflowIn('us-east-1').runs).toEqual([])
    await expect((async () => sandbox.queueIn('moon' as never).messages)()).rejects.toThrow('There is no region "moon"')
  })
})
