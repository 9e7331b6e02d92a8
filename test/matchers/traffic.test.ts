import { describe, expect, expectTypeOf, test } from 'vitest'
import '../../matchers/vitest.js'
import { sandboxMatchers } from '../../matchers/index.js'
import { fault } from '../../src/index.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { verdictOf } from './failure.js'

const startAt = '2030-01-01T09:00:00Z'
const to = 'https://shop.test/orders'

/** Delivers one order, which fails once and is then charged. */
async function order(): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt, seed: 7 })
  let calls = 0
  sandbox.destinations.on(to, async () => {
    if (calls++ === 0) return new Response('sold out', { status: 500 })
    await sandbox.fetch(`${sandbox.urls.store}/incr/charged:42`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    return new Response('ok')
  })
  await sandbox.fetch(`${sandbox.urls.queue}/v2/publish/${to}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'service-retries': '2' },
    body: '{"id":42}',
  })
  await sandbox.clock.drain()
  return sandbox
}

describe('matchers on a real sandbox', () => {
  test('check one order with all matchers', async () => {
    using sandbox = await order()
    expect(sandbox.queue).toHavePublished({ to, retries: 2, body: { id: 42 } }, { times: 1 })
    expect(sandbox.queue).toHaveDelivered({ to, attempts: [500, 200], response: 'ok' })
    expect(sandbox.queue).not.toHaveDeadLetter()
    expect(sandbox.queue).not.toHaveDeliveredCallback()
    expect(sandbox.store).toHaveExecuted('INCR', 'charged:42', { times: 1 })
    expect(sandbox.store).toHaveKey('charged:42', { value: 1 })
    expect(sandbox).toHaveReceivedRequest({ service: 'queue', status: 200 })
    expect(sandbox).toBeIdle()
  })
})

test('name the limit that holds a message in flow control', async () => {
  using sandbox = createSandbox({ startAt })
  const { clock, destinations, queue } = sandbox
  destinations.on('https://shop.test/*', async (_, task) => {
    await task.sleep('10m')
    return new Response()
  })
  for (const path of ['a', 'b']) {
    queue.publish({ to: `https://shop.test/${path}`, flowControlKey: 'k', flowControlValue: 'parallelism=1' })
  }
  await clock.advance('1m')
  expect(verdictOf(() => expect(queue).toHaveDelivered({ to: 'https://shop.test/b' }))).toMatch(
    /Hint: msg_\w+… waits: flow-control key k holds it, parallelism 1 of 1; msg_\w+… must finish first\. Await sandbox\.clock\.drain\(\).*\n/,
  )
  await clock.drain()
  expect(queue).toHaveDelivered({ to: 'https://shop.test/b' })
})

describe('toHaveReceivedRequest', () => {
  test('compares all fields', async () => {
    using sandbox = await order()
    expect(sandbox).toHaveReceivedRequest({
      service: 'queue',
      method: 'POST',
      url: 'https://queue.test/v2/publish/*',
      headers: { 'Service-Retries': 2, authorization: 'Bearer ***' },
      body: { id: 42 },
      status: 200,
      response: { messageId: expect.stringMatching(/^msg_/) },
    })
    expect(sandbox).toHaveReceivedRequest({ service: 'store' }, { times: 1 })
    expect(sandbox.queue).toHaveReceivedRequest({}, { times: 1 })
    expect(sandbox.store).not.toHaveReceivedRequest({ method: 'POST' })
    expect(sandbox).not.toHaveReceivedRequest({ status: 401 })
    expect(verdictOf(() => expect(sandbox.store).toHaveReceivedRequest({ method: 'POST', status: 200 }))).toMatch(
      /Nearest of 1:\n {2}#\d+ at 09:00:12\.000 {3}GET https:\/\/store\.test\/incr\/charged:42 → 200\n {6}✗ method: expected 'POST', received 'GET' {3}✓ status\n/,
    )
  })
})

describe('toFollowSequence', () => {
  test('allows other entries between the steps', async () => {
    using sandbox = await order()
    expect(sandbox).toFollowSequence([
      { type: 'request', service: 'queue' },
      { type: 'published', to },
      { type: 'attempt', status: 500, state: 'RETRY' },
      { type: 'attempt', retried: 1 },
      { type: 'command', argv: ['INCR', 'charged:42'] },
    ])
    expect(sandbox).not.toFollowSequence([
      { type: 'command', argv: ['INCR'] },
      { type: 'attempt', status: 500 },
    ])
  })

  test('shows a step that occurred too early', async () => {
    using sandbox = await order()
    const [first] = sandbox.traffic.ofType('attempt')
    const [incr] = sandbox.traffic.ofType('command')
    expect(
      verdictOf(() =>
        expect(sandbox).toFollowSequence([
          { type: 'published', to },
          { type: 'command', argv: ['INCR'] },
          { type: 'attempt', status: 500 },
          { type: 'dead-letter' },
        ]),
      ),
    ).toBe(
      [
        'expect(sandbox).toFollowSequence([4 steps])',
        '',
        `Expected these steps in order. No entry after #${incr!.seq} matches step 3 of 4:`,
        `  ✓ { type: 'published', to: 'https://shop.test/orders' }   #2`,
        `  ✓ { type: 'command', argv: ['INCR'] }   #${incr!.seq}`,
        "  ✗ { type: 'attempt', status: 500 }",
        "  · { type: 'dead-letter' }   not checked",
        `This step occurred too early: #${first!.seq} at 09:00:00.000, before the step above it.`,
        `Replay: seed 7`,
      ].join('\n'),
    )
  })

  test('shows the nearest later entry', async () => {
    using sandbox = await order()
    const text = verdictOf(() =>
      expect(sandbox).toFollowSequence([
        { type: 'attempt', status: 500 },
        { type: 'attempt', status: 503 },
      ]),
    )
    expect(text).toMatch(
      /Nearest later entry:\n {2}#\d+ at 09:00:12\.000 {3}attempt 2 of 3 of msg_\w+… to https:\/\/shop\.test\/orders → 200\n {6}✗ status: expected 503, received 200\n/,
    )
    expect(verdictOf(() => expect(sandbox).toFollowSequence([{ type: 'fault' }]))).toContain(
      'There is no later fault entry.',
    )
  })

  test('misuse', () => {
    using sandbox = createSandbox()
    const follow = (steps: unknown) => () => expect(sandbox).toFollowSequence(steps as never)
    expect(follow([])).toThrow('toFollowSequence(): the steps must be a list')
    expect(follow([{ type: 'delivered' }])).toThrow(
      "unknown type of step (got { type: 'delivered' }). The types are request, outbound, command,",
    )
    expect(follow([{ type: 'attempt', code: 500 }])).toThrow("toFollowSequence(): unknown field 'code'.")
  })
})

describe('toBeIdle', () => {
  test('fails while a message waits', async () => {
    using sandbox = createSandbox({ startAt })
    expect(sandbox).toBeIdle()
    sandbox.destinations.record(to)
    sandbox.queue.publish({ to, delay: '1h' })
    expect(sandbox).not.toBeIdle()
    const text = verdictOf(() => expect(sandbox).toBeIdle())
    expect(text).toMatch(
      /^expect\(sandbox\)\.toBeIdle\(\)\n\nExpected no pending work and no unused fault, but found:\n {2}waits 1h, until 10:00:00\.000: .+\n\nHint: Await sandbox\.clock\.drain\(\) first.*\nReplay: seed 1$/,
    )
    await sandbox.clock.drain()
    expect(sandbox).toBeIdle()
    expect(verdictOf(() => expect(sandbox).not.toBeIdle())).toContain('Expected pending work or an unused fault')
  })

  test('fails while a script has unused steps', () => {
    using sandbox = createSandbox({ startAt })
    sandbox.destinations.script(to, [fault.status(500)])
    expect(verdictOf(() => expect(sandbox).toBeIdle())).toContain(
      '  unused script steps at https://shop.test/orders: status',
    )
  })

  test('throws a TypeError for anything but a sandbox', () => {
    using sandbox = createSandbox()
    // @ts-expect-error: a queue has no clock
    expect(() => expect(sandbox.queue).toBeIdle()).toThrow(
      'toBeIdle(): expect() must get the sandbox. Write expect(sandbox).toBeIdle().',
    )
  })
})

describe('toHaveSchedule', () => {
  test('compares the fields of a schedule', async () => {
    using sandbox = createSandbox({ startAt })
    await sandbox.fetch(`${sandbox.urls.queue}/v2/schedules/${to}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sandbox.tokens.queue}`,
        'service-cron': '0 3 * * *',
        'service-schedule-id': 'nightly',
        'service-retries': '1',
      },
      body: '{"report":true}',
    })
    expect(sandbox.queue).toHaveSchedule({
      to,
      cron: '0 3 * * *',
      scheduleId: 'nightly',
      paused: false,
      retries: 1,
      body: { report: true },
      next: '2030-01-02T03:00:00Z',
    })
    expect(sandbox).not.toHaveSchedule({ cron: '0 4 * * *' })
    expect(verdictOf(() => expect(sandbox.queue).toHaveSchedule({ cron: '0 4 * * *', retries: 2 }))).toContain(
      [
        'Expected a schedule. Nearest of 1:',
        '  nightly   0 3 * * * to https://shop.test/orders, next 2030-01-02T03:00:00.000Z',
        "      ✗ cron: expected '0 4 * * *', received '0 3 * * *'   ✗ retries: expected 2, received 1",
        'Replay: seed 1',
      ].join('\n'),
    )
  })
})

test('evaluators work without a runner', async () => {
  using sandbox = await order()
  const { toHavePublished } = sandboxMatchers
  const result = toHavePublished.call(undefined, sandbox.queue, { to })
  expect(result.pass).toBe(true)
  expect(toHavePublished.call({ isNot: true }, sandbox.queue, { to }).message()).toContain(
    "expect(queue).not.toHavePublished({ to: 'https://shop.test/orders' })",
  )
})

test('types check patterns and keep promises', () => {
  using sandbox = createSandbox()
  expectTypeOf(expect(sandbox).toHaveKey).parameter(0).toEqualTypeOf<string>()
  expectTypeOf(expect(sandbox).toBeIdle).returns.toEqualTypeOf<void>()
  expectTypeOf(expect(Promise.resolve(sandbox)).resolves.toBeIdle).returns.toEqualTypeOf<Promise<void>>()
  // @ts-expect-error: url is not a field
  const wrong = (): void => expect(sandbox).toHavePublished({ url: to })
  // @ts-expect-error: a duration has a unit
  const unit = (): void => expect(sandbox).toHaveKey('k', { ttl: '1' })
  expect([wrong, unit]).toHaveLength(2)
})
