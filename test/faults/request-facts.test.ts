import { createSandbox, type FaultMatch, fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'

// Facts of a request for rules, by the path of the request as the API describes it.

const teapot = 418

type Asked = readonly [method: string, path: string, body?: string | undefined]

/**
 * Returns whether a rule with this match is injected into the request, in the presence of a rule that never matches.
 */
async function strikes(on: 'queue.request' | 'store.request', match: FaultMatch, asked: Asked): Promise<boolean> {
  const sandbox = createSandbox({ onWarning: () => {} })
  sandbox.faults.add({ on, match, fault: fault.status(teapot) })
  const [method, path, body] = asked
  const queue = on === 'queue.request'
  const response = await sandbox.fetch((queue ? sandbox.urls.queue : sandbox.urls.store) + path, {
    method,
    body: body ?? null,
    headers: { authorization: `Bearer ${queue ? sandbox.tokens.queue : sandbox.tokens.store}` },
  })
  return response.status === teapot
}

const shop = 'https://shop.test/orders'

const queueCases: readonly (readonly [...Asked, match: FaultMatch])[] = [
  ['POST', `/v2/publish/${shop}?a=1`, 'x', { url: `${shop}?a=1` }],
  ['POST', '/v2/publish/https:/shop.test/orders', 'x', { url: shop }],
  ['POST', `/v2/publish/${encodeURIComponent(shop)}`, 'x', { url: shop }],
  ['POST', '/v2/publish/team%20a', 'x', { urlGroup: 'team a' }],
  ['POST', `/V2/Publish/${shop}`, 'x', { url: shop }],
  ['POST', `/v2/enqueue/orders/${shop}`, 'x', { queue: 'orders', url: shop }],
  ['POST', '/v2/enqueue/a%20b/team', 'x', { queue: 'a b', urlGroup: 'team' }],
  ['POST', `/v2/schedules/${shop}`, 'x', { url: shop }],
  ['POST', '/v2/schedules/team', 'x', { urlGroup: 'team' }],
  ['GET', '/v2/schedules/nightly', '', { scheduleId: 'nightly' }],
  ['DELETE', '/v2/schedules/nightly', '', { scheduleId: 'nightly' }],
  ['PATCH', '/v2/schedules/nightly/pause', '', { scheduleId: 'nightly' }],
  // With another method, the same path is not a schedule for a destination called nightly/pause.
  ['POST', '/v2/schedules/nightly/pause', '', { scheduleId: 'nightly' }],
  ['POST', '/v2/schedules/nightly/resume', '', { scheduleId: 'nightly' }],
  ['GET', '/v2/messages/msg_1', '', { messageId: 'msg_1' }],
  ['DELETE', '/v2/messages/msg_1', '', { messageId: 'msg_1' }],
  ['POST', '/v2/messages/msg_1/retry', '', { messageId: 'msg_1' }],
  ['GET', '/v2/queues/orders', '', { queue: 'orders' }],
  ['DELETE', '/v2/queues/orders', '', { queue: 'orders' }],
  ['POST', '/v2/queues/orders/pause', '', { queue: 'orders' }],
  ['POST', '/v2/queues/orders/resume', '', { queue: 'orders' }],
  ['GET', '/v2/topics/team%20a', '', { urlGroup: 'team a' }],
  ['PATCH', '/v2/topics/team', '{}', { urlGroup: 'team' }],
  ['DELETE', '/v2/topics/team', '', { urlGroup: 'team' }],
  ['POST', '/v2/topics/team/endpoints', '{}', { urlGroup: 'team' }],
  ['DELETE', '/v2/topics/team/endpoints', '{}', { urlGroup: 'team' }],
  ['GET', '/v2/flowControl/key', '', { flowControlKey: 'key' }],
  ['POST', '/v2/flowControl/key/pause', '', { flowControlKey: 'key' }],
  // A key can contain slashes, literal or escaped.
  ['GET', '/v2/flowControl/a/b', '', { flowControlKey: 'a/b' }],
  ['POST', '/v2/flowControl/a%2Fb/resetRate', '', { flowControlKey: 'a/b' }],
  ['POST', '/v2/flowControl/a/b/unpin?rate=true', '', { flowControlKey: 'a/b' }],
]

const storeCases: readonly (readonly [...Asked, match: FaultMatch])[] = [
  ['GET', '/get/a%20b', '', { command: 'GET', key: 'a b' }],
  ['POST', '/set/k', 'value', { command: 'SET', key: 'k' }],
  ['POST', '/', '["mget","a","b"]', { command: 'MGET', key: 'b' }],
  ['POST', '/pipeline', '[["get","a"],["del","b"]]', { command: 'DEL', key: 'b' }],
  ['POST', '/multi-exec', '[["get","a"],["del","b"]]', { command: 'DEL', key: 'b' }],
  ['GET', '/subscribe/news/sport', '', { command: 'SUBSCRIBE', key: 'sport' }],
  ['POST', '/psubscribe/n*', '', { command: 'PSUBSCRIBE', key: 'n\\*' }],
  ['GET', '/monitor', '', { command: 'MONITOR' }],
  ['OPTIONS', '/get/k', '', { command: 'GET', key: 'k' }],
]

const other = (match: FaultMatch): FaultMatch[] =>
  Object.entries(match).map(([field, value]) => ({ ...match, [field]: `${value}-other` }))

describe.each([
  ['queue.request', queueCases],
  ['store.request', storeCases],
] as const)('facts at %s', (on, cases) => {
  test.each(cases)('match %s %s (%s) as %j', async (method, path, given, match) => {
    const asked: Asked = given === '' ? [method, path] : [method, path, given]
    expect(await strikes(on, match, asked)).toBe(true)
    for (const wrong of other(match)) expect(await strikes(on, wrong, asked), JSON.stringify(wrong)).toBe(false)
  })
})

test('of an invalid request contain no commands and no keys', async () => {
  expect(await strikes('store.request', { key: '*' }, ['POST', '/', '{"a":1}'])).toBe(false)
  expect(await strikes('store.request', { key: '*' }, ['GET', '/get/%ZZ'])).toBe(false)
  expect(await strikes('store.request', {}, ['GET', '/get/%ZZ'])).toBe(true)
})
