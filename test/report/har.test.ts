import { expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { harErrors } from './har-rules.js'
import { askQueue, askStore, done, orders, orderWorld } from './worlds.js'

test('toHar() contains requests and attempts in order, with virtual times', async () => {
  const { sandbox, messageId } = await orderWorld()
  const har = JSON.parse(JSON.stringify(sandbox.traffic.toHar()))
  expect(harErrors(har)).toEqual([])
  const { entries } = har.log
  expect(entries.map((entry: { _seq: number }) => entry._seq)).toEqual(
    sandbox.traffic.filter((entry) => entry.type === 'request' || entry.type === 'attempt').map(({ seq }) => seq),
  )
  const [pipeline, publish] = entries
  expect(pipeline).toMatchObject({
    _type: 'request',
    _commands: ['INCR visits', 'GET stock'],
    request: { method: 'POST' },
  })
  expect(publish).toMatchObject({
    startedDateTime: '2030-01-01T09:00:00.000Z',
    request: { bodySize: 9, postData: { mimeType: 'application/json', text: '{"id":42}' } },
    response: { status: 200 },
  })
  const attempts = entries.filter((entry: { _messageId?: string }) => entry._messageId === messageId)
  expect(
    attempts.map((entry: { startedDateTime: string; response: { status: number } }) => [
      entry.startedDateTime.slice(11, 19),
      entry.response.status,
    ]),
  ).toEqual([
    ['09:00:00', 500],
    ['09:00:12', 503],
    ['09:02:40', 200],
  ])
  expect(attempts[1].comment).toContain('retry 1 of 3')
})

test('toHar() contains the duration of slow responses; lost ones have status 0 and a reason', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  sandbox.destinations.on(orders, async (_, task) => {
    await task.sleep('3s')
    return new Response('ok', { headers: { location: '/x', 'content-type': 'text/plain' } })
  })
  sandbox.destinations.on(done, () => {
    throw new TypeError('no network')
  })
  sandbox.queue.publish({ to: orders, retries: 0 })
  sandbox.queue.publish({ to: done, retries: 0 })
  await sandbox.clock.drain()
  const har = sandbox.traffic.toHar()
  expect(harErrors(har)).toEqual([])
  const [slow, failed] = har.log.entries
  expect(slow).toMatchObject({
    time: 3000,
    timings: { wait: 3000 },
    response: { redirectURL: '/x', content: { text: 'ok', size: 2, mimeType: 'text/plain' } },
  })
  expect(failed!.response.status === 0 ? failed!.response._error : String(failed!.response.status)).toMatch(/./)
})

test('toHar() encodes binary bodies as base64, marks streams, and separates parameters', async () => {
  const sandbox = createSandbox()
  const bytes = new Uint8Array([0, 255, 254, 10])
  sandbox.destinations.respond(orders, () => ({ status: 200, body: bytes }))
  await askQueue(sandbox, `/v2/publish/${orders}?a=1&b=gr%C3%BCn+x&c&%zz=1`, { body: bytes })
  await sandbox.clock.drain()
  const controller = new AbortController()
  await sandbox.fetch(`${sandbox.urls.store}/subscribe/news`, {
    headers: { authorization: `Bearer ${sandbox.tokens.store}`, accept: 'text/event-stream' },
    signal: controller.signal,
  })
  const har = sandbox.traffic.toHar()
  controller.abort()
  expect(harErrors(har)).toEqual([])
  const [publish, attempt, stream] = har.log.entries
  const encoded = Buffer.from(bytes).toString('base64')
  expect(publish!.request.postData).toMatchObject({ text: encoded, _encoding: 'base64' })
  expect(publish!.request.queryString.slice(0, 4)).toEqual([
    { name: 'a', value: '1' },
    { name: 'b', value: 'grün x' },
    { name: 'c', value: '' },
    { name: '%zz', value: '1' },
  ])
  expect(attempt!.response.content).toMatchObject({ text: encoded, encoding: 'base64', size: 4 })
  expect(stream!.response.content.comment).toContain('stream')
})

test('toHar() exports an empty log, and one that dropped entries', async () => {
  expect(harErrors(createSandbox().traffic.toHar())).toEqual([])
  const sandbox = createSandbox({ policy: { maxTrafficEntries: 5 } })
  for (let count = 0; count < 10; count++) await askStore(sandbox, '/ping')
  const har = sandbox.traffic.toHar()
  expect(harErrors(har)).toEqual([])
  expect(har.log.comment).toMatch(/\d+ earlier entries.*dropped/)
})

test('the HAR rules find invalid archives', () => {
  expect(harErrors({ log: { version: '1.2', creator: { name: 'x' }, entries: [{}], extra: 1 } })).toEqual(
    expect.arrayContaining([
      'har.log.creator.version is missing',
      'har.log.entries[0].request is missing',
      'har.log.extra is no field of HAR 1.2',
    ]),
  )
})
