import 'stuntdouble/vitest/extend'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, type RemoteSandbox } from '../../../src/client/connect.js'
import * as fault from '../../../src/faults/constructors.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { asClient as ask, ended, kinds, shop } from './both-sandboxes.js'

const noon = Date.parse('2030-01-01T12:00:00Z')

/** Converts a value to JSON and back. */
const printed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

// One suite for a sandbox in the process and for one behind a server.
describe.each(kinds)('a sandbox %s', (kind, open) => {
  let sandbox: Sandbox | RemoteSandbox

  beforeEach(async () => {
    sandbox = await open()
  })
  afterEach(() => ended(sandbox))

  const asClient = async (...command: string[]): Promise<unknown> => (await ask(sandbox, ...command)).json()

  describe('the clock', () => {
    test('begins at its start time and advances', async () => {
      expect(await sandbox.clock.now()).toBe(Date.parse('2030-01-01T09:00:00Z'))
      await sandbox.clock.advance('3h')
      expect(await sandbox.clock.now()).toBe(noon)
      await sandbox.clock.advanceTo('2030-01-02T00:00:00Z')
      expect(await sandbox.clock.now()).toBe(Date.parse('2030-01-02T00:00:00Z'))
      await sandbox.clock.settle()
    })

    test('cannot go back, and rejects an invalid duration', async () => {
      await expect((async () => sandbox.clock.advanceTo('2029-01-01T00:00:00Z'))()).rejects.toThrow(
        'must not be in the past',
      )
      await expect((async () => sandbox.clock.advance('soon' as '1s'))()).rejects.toThrow(
        /(?:is not|must be) a duration/,
      )
    })

    test('lists pending timers', async () => {
      await sandbox.queue.publish({ to: shop, delay: '1h' })
      expect(await sandbox.clock.pending).toMatchObject([
        { at: Date.parse('2030-01-01T10:00:00Z'), label: `delivery to ${shop}` },
      ])
    })
  })

  describe('the store', () => {
    test('runs commands and returns their replies', async () => {
      const { store } = sandbox
      expect(await store.run('SET', 'k', 'grüße', 'EX', 60)).toBe('OK')
      expect(await store.run('GET', 'k')).toBe('grüße')
      expect(await store.run('TTL', 'k')).toBe(60)
      expect(await store.run('GET', 'nobody')).toBeNull()
      expect(await store.run('HSET', 'h', 'a', 1, 'b', 2n)).toBe(2)
      expect(await store.run('HGETALL', 'h')).toEqual(['a', '1', 'b', '2'])
      expect(await store.run('INCRBY', 'big', '9007199254740993')).toBe(9007199254740993n)
    })

    test('throws a ReplyError for an error reply', async () => {
      const refused = (async () => sandbox.store.run('INCR'))()
      await expect(refused).rejects.toMatchObject({
        name: 'ReplyError',
        message: "ERR wrong number of arguments for 'incr' command",
      })
    })

    test('accepts bytes', async () => {
      await sandbox.store.run('SET', new Uint8Array([0xff, 0]), new Uint8Array([0, 0xc3]))
      expect(await sandbox.store.run('STRLEN', new Uint8Array([0xff, 0]))).toBe(2)
    })

    test('reads a key without an entry, and expires it on the clock', async () => {
      await sandbox.store.run('SET', 'k', 'v', 'PX', 1500)
      expect(await sandbox.store.get('k')).toBe('v')
      await sandbox.clock.advance(1499)
      expect(await sandbox.store.get('k')).toBe('v')
      await sandbox.clock.advance(1)
      expect(await sandbox.store.get('k')).toBeNull()
    })

    test('dumps, loads and compares its content', async () => {
      const { store } = sandbox
      await store.run('SET', 'kept', '1')
      const before = await store.dump()
      await store.run('SET', 'more', '2')
      expect((await store.diff(before)).added).toMatchObject([{ key: 'more', type: 'string' }])
      await store.load(before)
      expect(await store.run('KEYS', '*')).toEqual(['kept'])
    })

    test('counts the cost of HTTP requests, but not of a test', async () => {
      await sandbox.store.run('SET', 'k', 'v')
      expect(await asClient('GET', 'k')).toEqual({ result: 'v' })
      expect(await sandbox.store.cost()).toMatchObject({ commands: 1, reads: 1, writes: 0 })
    })

    test('revokes its tokens', async () => {
      const before = sandbox.tokens.store
      const { standard } = await sandbox.store.resetPassword()
      expect(sandbox.tokens.store).toBe(standard)
      expect(standard).not.toBe(before)
      expect(await asClient('PING')).toEqual({ result: 'PONG' })
      expect(Object.values(sandbox.env)).toContain(standard)
    })
  })

  describe('the queue', () => {
    test('publishes, delivers, retries and gives up', async () => {
      const { queue, clock, destinations } = sandbox
      await destinations.script(shop, [fault.status(500), fault.reset()])
      const { id } = await queue.publish({ to: shop, body: { n: 42 }, retries: 1 })
      expect(await queue.messages).toMatchObject([{ id, url: shop, body: '{"n":42}', state: 'CREATED', maxRetries: 1 }])
      await clock.drain()
      expect(await queue.messages).toHaveLength(0)
      const [letter, ...others] = await queue.deadLetters
      expect(others).toEqual([])
      expect(letter).toMatchObject({ message: { id, state: 'FAILED', retried: 1 }, response: { status: 0 } })
      expect(await queue.explain(id)).toMatch(/fail/i)
      expect(await queue.forecast(id)).toBeUndefined()
    })

    test('explains when a message starts and what it waits for', async () => {
      const { queue, clock, destinations } = sandbox
      await destinations.script(shop, [fault.status(500)])
      const publish = async (options: object) => (await queue.publish({ to: shop, ...options })).id
      const first = await publish({ queue: 'orders' })
      const second = await publish({ queue: 'orders', deduplicationId: 'order-1' })
      await clock.advance('1s')
      const now = await clock.now()
      expect(await queue.forecast(first)).toEqual({ at: now + 11_000 })
      const blockedBy = { kind: 'response', messageIds: [first], holdsSlot: true }
      expect(await queue.forecast(second)).toEqual({ notBefore: now + 11_000, blockedBy })
      expect(await queue.explain(second)).toContain('must get its response first')
      expect(await queue.explain({ queue: 'orders' })).toContain(`The first is ${second}.`)
      expect(await queue.explain({ deduplicationId: 'order-1' })).toContain(`by message ${second}`)
      expect(await queue.explain({ flowControlKey: 'k' })).toContain('There is no flow-control key "k".')
      expect(await queue.explain({ scheduleId: 's' })).toContain('There is no schedule "s".')
      const copy = await queue.snapshot()
      expect(copy.forecast(second)).toEqual({ notBefore: now + 11_000, blockedBy })
      await expect((async () => queue.forecast('msg_x'))()).rejects.toThrow('There is no message "msg_x"')
      await expect((async () => queue.explain({ topic: 'x' } as never))()).rejects.toThrow(/queue|flowControlKey/)
    })

    test('accepts bytes, and returns them unchanged', async () => {
      await sandbox.destinations.record(shop)
      await sandbox.queue.publish({ to: shop, body: new Uint8Array([0xff, 0, 0x80]), delay: '1m' })
      expect((await sandbox.queue.messages)[0]!.body).toBe('\xff\0\x80')
    })

    test('rejects what its API would reject', async () => {
      const refused = (async () => sandbox.queue.publish({ to: 'not a url!' }))()
      await expect(refused).rejects.toThrow('invalid destination')
      const misspelt = (async () => sandbox.queue.publish({ to: shop, retrys: 3 } as never))()
      await expect(misspelt).rejects.toThrow('no option "retrys"')
    })

    test('delivers to a URL group, and through a FIFO queue in order', async () => {
      const { queue, clock, destinations } = sandbox
      const recorder = await destinations.record('https://*.test/*')
      await queue.urlGroups.addEndpoints('all', ['https://a.test/1', { url: 'https://b.test/2', name: 'b' }])
      expect(await queue.publish({ to: 'all', body: 'x' })).toMatchObject([
        { url: 'https://a.test/1' },
        { url: 'https://b.test/2' },
      ])
      await queue.upsertQueue('line', { parallelism: 1 })
      await queue.pauseQueue('line')
      await queue.publish({ to: shop, body: 'first', queue: 'line' })
      await queue.publish({ to: shop, body: 'second', queue: 'line' })
      await clock.advance('1m')
      expect(await recorder.count).toBe(2)
      await queue.resumeQueue('line')
      await clock.drain()
      expect((await recorder.requests).map(({ url, body }) => [url, body])).toEqual([
        ['https://a.test/1', 'x'],
        ['https://b.test/2', 'x'],
        [shop, 'first'],
        [shop, 'second'],
      ])
      expect((await recorder.last()).body).toBe('second')
    })

    test('rotates its signing keys, and signs correctly or with a flaw', async () => {
      const next = Object.entries(sandbox.env).find(([name]) => name.includes('NEXT_SIGNING_KEY'))?.[1]
      expect((await sandbox.queue.signingKeys.rotate()).current).toBe(next)
      const claims = (signature: string) => JSON.parse(atob(signature.split('.')[1]!)) as { sub: string; exp: number }
      expect(claims(await sandbox.queue.sign({ url: shop, body: 'x' })).sub).toBe(shop)
      const expired = claims(await sandbox.queue.sign({ url: shop, body: 'x' }, { flaw: 'expired' }))
      expect(expired.exp).toBeLessThan(Date.parse('2030-01-01T09:00:00Z') / 1000)
    })

    test('finds a waiting message, and cancels it once', async () => {
      const { queue, clock, destinations } = sandbox
      const recorder = await destinations.record(shop)
      const { id } = await queue.publish({ to: shop, delay: '1h' })
      expect(await queue.getMessage(id)).toMatchObject({ id, state: 'CREATED' })
      expect(await queue.getMessage('msg_none')).toBeUndefined()
      expect([await queue.cancel(id), await queue.cancel(id)]).toEqual([true, false])
      expect(await queue.getMessage(id)).toBeUndefined()
      await clock.drain()
      expect(await recorder.count).toBe(0)
      expect(await queue.cancel(id)).toBe(false)
    })

    test('cancels messages by filters as a bulk action', async () => {
      const { queue } = sandbox
      for (const label of ['spring', 'spring', 'autumn']) await queue.publish({ to: shop, delay: '1h', label })
      const at = Date.parse('2030-01-01T09:00:00Z')
      const action = await queue.cancelMessages({ label: ['spring', 'summer'], toDate: new Date(at) })
      const expected = {
        id: action.id,
        resource: 'messages',
        state: 'FINISHED',
        total: 2,
        processed: 2,
        createdAt: at,
        completedAt: at,
        filter: { label: ['spring', 'summer'], toDate: [String(at)] },
      }
      expect(printed(action)).toStrictEqual(expected)
      expect(printed(await queue.bulkActions)).toStrictEqual([expected])
      expect(await queue.snapshot()).toHaveBulkAction({ actionId: action.id, filter: { label: ['spring', 'summer'] } })
      for (const filter of [{ labels: 'x' }, { label: undefined }, { label: [] }, { label: 7 }])
        await expect((async () => queue.cancelMessages(filter as never))()).rejects.toThrow('label')
      expect(await queue.messages).toHaveLength(1)
      for (const filter of [null, 'spring', []])
        await expect((async () => queue.cancelMessages(filter as never))()).rejects.toThrow(
          'must be an object of filters',
        )
      expect((await queue.cancelMessages()).total).toBe(1)
    })

    test('delivers a waiting message now', async () => {
      const { queue, clock, destinations } = sandbox
      const recorder = await destinations.record(shop)
      const { id } = await queue.publish({ to: shop, delay: '1h' })
      expect(await queue.deliverNow(id)).toBe(true)
      await clock.advance(0)
      expect(await recorder.count).toBe(1)
      expect(await queue.deliverNow(id)).toBe(false)
      expect(await clock.now()).toBe(Date.parse('2030-01-01T09:00:00Z'))
    })

    test('publishes a dead letter again', async () => {
      const { queue, clock, destinations } = sandbox
      await destinations.script(shop, [fault.status(500)])
      await queue.publish({ to: shop, body: 'again', retries: 0 })
      await clock.drain()
      const [letter] = await queue.deadLetters
      const { id } = await queue.retryDeadLetter(letter!.id)
      expect(id).not.toBe(letter!.message.id)
      expect(await queue.messages).toMatchObject([{ id, body: 'again' }])
      expect(await queue.deadLetters).toEqual([])
    })

    test('rejects unknown IDs', async () => {
      const { queue } = sandbox
      await expect((async () => queue.cancel('msg_none'))()).rejects.toThrow('There is no message "msg_none".')
      await expect((async () => queue.deliverNow('msg_none'))()).rejects.toThrow('There is no message "msg_none".')
      await expect((async () => queue.retryDeadLetter('0-0'))()).rejects.toThrow('There is no dead letter "0-0".')
    })

    test('deletes URL groups, and FIFO queues with their messages', async () => {
      const { queue } = sandbox
      await queue.urlGroups.addEndpoints('all', ['https://a.test/'])
      expect(await queue.urlGroups.list()).toMatchObject([{ name: 'all', endpoints: [{ url: 'https://a.test/' }] }])
      await queue.urlGroups.delete('all')
      expect(await queue.urlGroups.list()).toEqual([])
      await queue.upsertQueue('line', { parallelism: 1, paused: true })
      await queue.publish({ to: shop, queue: 'line' })
      await queue.deleteQueue('line')
      expect(await queue.messages).toEqual([])
    })

    test('returns its current and former signing keys', async () => {
      const { signingKeys } = sandbox.queue
      const before = { current: await signingKeys.current, next: await signingKeys.next }
      expect(await signingKeys.pair()).toEqual(before)
      expect(await signingKeys.former).toEqual([])
      const { next } = await signingKeys.rotate()
      expect(await signingKeys.pair()).toEqual({ current: before.next, next })
      expect(await signingKeys.former).toEqual([before.current])
    })

    test('is dumped, reset, and loaded with its signing keys', async () => {
      const { queue } = sandbox
      const { id } = await queue.publish({ to: shop, delay: '1h' })
      const dump = await queue.dump()
      const pair = await queue.signingKeys.pair()
      await queue.reset()
      expect(await queue.messages).toEqual([])
      expect(await queue.signingKeys.pair()).toEqual(pair)
      await queue.signingKeys.rotate()
      await queue.load(dump)
      expect(await queue.messages).toMatchObject([{ id }])
      expect(Object.values(sandbox.env)).toEqual(expect.arrayContaining([pair.current, pair.next]))
      await expect((async () => queue.load({} as never))()).rejects.toThrow('dump')
      expect(await queue.messages).toHaveLength(1)
    })

    test('lists mistakes in accepted requests', async () => {
      const send = 'fetch' in sandbox ? sandbox.fetch : fetch
      expect(await sandbox.queue.diagnostics).toEqual([])
      await send(`${sandbox.urls.queue}/v2/publish/${encodeURIComponent(shop)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
      })
      expect(await sandbox.queue.diagnostics).toMatchObject([expect.stringContaining('percent-encoded')])
    })

    test('lists commands that the service may reject', async () => {
      const send = 'fetch' in sandbox ? sandbox.fetch : fetch
      expect(await sandbox.store.diagnostics).toEqual([])
      await send(sandbox.urls.store, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
        body: '["SORT","scores"]',
      })
      expect(await sandbox.store.diagnostics).toEqual([expect.stringMatching(/^SORT has no page/)])
    })

    test('schedules', async () => {
      const send = 'fetch' in sandbox ? sandbox.fetch : fetch
      await sandbox.destinations.respond(shop, 200)
      const answer = await send(`${sandbox.urls.queue}/v2/schedules/${shop}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'service-cron': '0 12 * * *' },
        body: 'nightly',
      })
      const { scheduleId } = (await answer.json()) as { scheduleId: string }
      expect(await sandbox.queue.schedules.list()).toMatchObject([{ id: scheduleId, paused: false, nextTime: noon }])
      const day = 86_400_000
      expect(await sandbox.queue.schedules.upcoming(scheduleId, { from: noon, to: noon + day })).toEqual([
        noon,
        noon + day,
      ])
      expect(await sandbox.queue.schedules.fire(scheduleId)).toMatchObject([{ url: shop, body: 'nightly' }])
    })
  })

  // [issue: all values of a sandbox can be printed and put into snapshots, with the same fields in both places]
  test('prints messages, dead letters, schedules, URL groups and timers', async () => {
    const send = 'fetch' in sandbox ? sandbox.fetch : fetch
    const { queue, clock } = sandbox
    const nine = Date.parse('2030-01-01T09:00:00Z')
    await sandbox.destinations.respond(shop, { status: 500, body: 'broken' })
    await sandbox.destinations.respond('https://shop.test/down', { kind: 'reset' } as never)
    const anId = expect.stringMatching(/^msg_\w+$/)
    const said = {
      id: anId,
      kind: 'message',
      method: 'POST',
      body: 'b',
      createdAt: nine,
      notBefore: nine,
      nextAttemptAt: nine,
    }
    const first = { ...said, url: shop, state: 'CREATED', retried: 0, maxRetries: 0, isEnded: false }
    expect(printed(await queue.publish({ to: shop, body: 'b', retries: 0 }))).toStrictEqual(first)
    await queue.urlGroups.addEndpoints('g', [{ url: 'https://shop.test/down', name: 'n' }, 'https://shop.test/down/2'])
    await sandbox.destinations.respond('https://shop.test/down/2', 200)
    expect(printed(await queue.publish({ to: 'g', body: 'b', retries: 0 }))).toStrictEqual([
      { ...first, url: 'https://shop.test/down' },
      { ...first, url: 'https://shop.test/down/2' },
    ])
    const later = nine + 3_600_000
    await queue.publish({ to: shop, delay: '1h' })
    const created = await send(`${sandbox.urls.queue}/v2/schedules/${shop}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sandbox.tokens.queue}`,
        'service-cron': '0 12 * * *',
        'service-schedule-id': 'nightly',
      },
    })
    expect(created.status).toBe(200)
    await clock.advance('1s')

    const waiting = { ...first, body: '', url: shop, notBefore: later, nextAttemptAt: later, maxRetries: 3 }
    expect(printed(await queue.messages)).toStrictEqual([waiting])
    if ('fetch' in sandbox) {
      const [message] = sandbox.queue.messages
      expect(structuredClone(message!.toJSON())).toStrictEqual(waiting)
    }
    const failed = { ...first, state: 'FAILED', isEnded: true }
    expect(printed(await queue.deadLetters)).toStrictEqual([
      { id: `${nine}-0`, createdAt: nine, message: failed, response: { status: 500, body: 'broken' } },
      {
        id: `${nine}-1`,
        createdAt: nine,
        message: { ...failed, url: 'https://shop.test/down' },
        response: { status: 0, error: expect.stringContaining('connection reset'), body: '' },
      },
    ])
    const schedule = { id: 'nightly', createdAt: nine, paused: false, nextTime: noon }
    expect(printed(await queue.schedules.list())).toStrictEqual([schedule])
    expect(printed(await queue.urlGroups.list())).toStrictEqual([
      {
        name: 'g',
        createdAt: nine,
        updatedAt: nine,
        endpoints: [{ url: 'https://shop.test/down', name: 'n' }, { url: 'https://shop.test/down/2' }],
      },
    ])
    const delivery = { at: later, label: `delivery to ${shop}`, background: false }
    const slot = { at: noon, label: 'schedule nightly', background: true }
    expect(printed(await clock.pending)).toStrictEqual([delivery, slot])
    // After it has fired, a schedule has more fields.
    await clock.advanceTo(noon)
    expect(printed(await queue.schedules.list())).toStrictEqual([
      { ...schedule, lastTime: noon, nextTime: noon + 86_400_000 },
    ])
    expect(await clock.pending).toMatchInlineSnapshot(`
      [
        {
          "at": 1893499212000,
          "background": false,
          "label": "delivery to https://shop.test/orders",
        },
        {
          "at": 1893585600000,
          "background": true,
          "label": "schedule nightly",
        },
      ]
    `)
  })

  describe('workflow runs', () => {
    /** Creates a run that waits for an event, with the requests of an app. */
    const begun = async (): Promise<string> => {
      const send = 'fetch' in sandbox ? sandbox.fetch : fetch
      const headers = { authorization: `Bearer ${sandbox.tokens.queue}`, 'content-type': 'application/json' }
      const base = sandbox.urls.queue
      await sandbox.destinations.respond(shop, { headers: { 'service-workflow-sdk-version': '1' } })
      const run = { 'service-workflow-runid': 'wfr_1', 'service-workflow-url': shop }
      const init = { ...headers, ...run, 'service-workflow-init': 'true' }
      await send(`${base}/v2/publish/${shop}`, { method: 'POST', headers: init, body: '{}' })
      const step = { stepId: 1, stepName: 'approval', stepType: 'Wait', concurrent: 1 }
      const body = JSON.stringify({ url: shop, timeout: '2h', timeoutUrl: shop, timeoutHeaders: {}, step })
      const waits = await send(`${base}/v2/wait/approved`, { method: 'POST', headers: { ...headers, ...run }, body })
      expect(waits.status).toBe(200)
      await sandbox.clock.advance('1m')
      return 'wfr_1'
    }

    test('are listed, and read one by one', async () => {
      expect(await sandbox.workflow.runs).toEqual([])
      const id = await begun()
      const createdAt = Date.parse('2030-01-01T09:00:00Z')
      expect(await sandbox.workflow.runs).toMatchObject([{ id, url: shop, state: 'RUN_STARTED', createdAt }])
      const run = sandbox.workflow.getRun(id)
      expect([run.id, await run.url, await run.state, await run.createdAt]).toEqual([
        id,
        shop,
        'RUN_STARTED',
        createdAt,
      ])
      expect([await run.completedAt, await run.result]).toEqual([undefined, undefined])
      expect((await sandbox.snapshot()).workflow.getRun(id).state).toBe('RUN_STARTED')
    })

    test('can be printed', async () => {
      const id = await begun()
      const createdAt = Date.parse('2030-01-01T09:00:00Z')
      const open = { id, url: shop, state: 'RUN_STARTED', createdAt }
      expect(printed(await sandbox.workflow.runs)).toStrictEqual([open])
      await sandbox.workflow.getRun(id).cancel()
      const ended = { ...open, state: 'RUN_CANCELED', completedAt: createdAt + 60_000 }
      expect(printed(await sandbox.workflow.runs)).toStrictEqual([ended])
      if ('fetch' in sandbox) expect(printed(sandbox.workflow.getRun(id))).toStrictEqual(ended)
    })

    test('receive events, including early ones and bytes', async () => {
      const id = await begun()
      expect(await sandbox.workflow.notify('other', { not: 'waited for' })).toBe(0)
      expect(await sandbox.workflow.notify('later', new Uint8Array([0xff]), { runId: id })).toBe(0)
      expect(await sandbox.workflow.notify('approved', { by: 'Ada' })).toBe(1)
      expect(await sandbox.workflow.notify('approved', { by: 'Ada' })).toBe(0)
      await expect((async () => sandbox.workflow.notify('approved', 1, { runId: 'wfr_none' }))()).rejects.toThrow(
        'wfr_none',
      )
    })

    test('are canceled by filters as a bulk action', async () => {
      const { workflow } = sandbox
      const id = await begun()
      expect(await workflow.cancelRuns({ workflowUrl: 'https://other.test/' })).toMatchObject({
        resource: 'runs',
        total: 0,
      })
      expect(await workflow.getRun(id).state).toBe('RUN_STARTED')
      const action = await workflow.cancelRuns({ workflowUrl: shop })
      expect(printed(await workflow.bulkActions)).toMatchObject([{ total: 0 }, printed(action)])
      expect(await workflow.getRun(id).state).toBe('RUN_CANCELED')
      await expect((async () => workflow.cancelRuns({ workflowURL: shop } as never))()).rejects.toThrow('workflowUrl')
      expect(await workflow.cancelRuns()).toMatchObject({ total: 0, filter: {} })
    })

    test('are canceled once', async () => {
      const run = sandbox.workflow.getRun(await begun())
      expect(await run.explain()).toMatch(/"approval" waits.*"approved".*2030-01-01 11:00:00\./)
      await run.cancel()
      expect(await run.state).toBe('RUN_CANCELED')
      expect(await run.completedAt).toBe(Date.parse('2030-01-01T09:01:00Z'))
      await expect((async () => run.cancel())()).rejects.toThrow('wfr_1 not found')
    })

    test('use the stubs of a test', async () => {
      const run = sandbox.workflow.getRun(await begun())
      await run.advanceToStep('approval')
      await sandbox.workflow.stubEvent('approved', { by: 'Ada' })
      await sandbox.clock.advance(1)
      expect(await sandbox.workflow.unused).toEqual([])
      const snapshot = await sandbox.snapshot()
      expect(snapshot).toHaveWorkflowWait('approved', { outcome: 'received', data: { by: 'Ada' } })
      await sandbox.workflow.stubEvent('approved').timesOut()
      await sandbox.workflow.stubStep('chrage', 2).returns({ id: 1 })
      await sandbox.workflow.stubStep('charge').throws('no', { times: 2 })
      await sandbox.workflow.stubStep('charge').timesOut()
      await sandbox.workflow.skipSleeps()
      await sandbox.workflow.skipRetryDelays()
      const told = [
        expect.stringMatching(
          /^workflow\.stubStep\('chrage', 2\)\.returns\(…\) .*never used: .*'chrage' .*'approval'\.$/,
        ),
        expect.stringMatching(/^workflow\.stubStep\('charge'\)\.throws\(…\) .*never used: .*'charge' .*'approval'\.$/),
        expect.stringMatching(
          /^workflow\.stubStep\('charge'\)\.timesOut\(…\) .*never used: .*'charge' .*'approval'\.$/,
        ),
        expect.stringMatching(/^workflow\.stubEvent\('approved'\)\.timesOut\(\) .*never used: .*'approved' again\.$/),
        expect.stringMatching(/^workflow\.skipSleeps\(\) .*never used: .*\bslept/),
        expect.stringMatching(/^workflow\.skipRetryDelays\(\) .*never used: .*\bretried/),
      ]
      expect(await sandbox.workflow.unused).toEqual(told)
      expect((await sandbox.snapshot()).workflow.unused).toEqual(told)
      await expect((async () => run.advanceToEnd('failed'))()).rejects.toThrow(
        /wfr_1 .*not end.*'failed'.*no timer.*[\s\S]*1 approval {2}Wait, done/,
      )
      await expect((async () => sandbox.workflow.stubStep('').returns())()).rejects.toThrow('name of a step')
      await expect((async () => sandbox.workflow.stubStep('a').throws('no', { times: 0 }))()).rejects.toThrow(
        'whole number from 1',
      )
    })

    test('are rejected if they do not exist, with a list of those that do', async () => {
      await begun()
      await expect((async () => sandbox.workflow.getRun('wfr_none').state)()).rejects.toThrow(
        new RegExp(`getRun\\("wfr_none"\\).*no such run.* wfr_1 of ${shop}\\.$`),
      )
    })

    test('are dumped and loaded', async () => {
      const id = await begun()
      const dump = await sandbox.dump()
      await sandbox.reset()
      expect(await sandbox.workflow.runs).toEqual([])
      await sandbox.load(dump)
      expect(await sandbox.workflow.notify('approved')).toBe(1)
      expect(await sandbox.workflow.getRun(id).state).toBe('RUN_STARTED')
    })
  })

  describe('destinations', () => {
    test('list unhandled deliveries and unused steps', async () => {
      const { destinations, queue, clock } = sandbox
      await destinations.script('https://never.test/', [fault.lostAck()])
      expect(await destinations.unused).toEqual([{ pattern: 'https://never.test/', steps: [fault.lostAck()] }])
      await destinations.off('https://never.test/')
      expect(await destinations.unused).toEqual([])
      expect(await destinations.unhandled).toEqual([])
      await queue.publish({ to: 'https://nobody.test/', retries: 0 })
      await clock.drain()
      expect((await destinations.unhandled).join()).toContain('https://nobody.test/')
    })

    test('respond with status, headers and body', async () => {
      const { destinations, queue, clock } = sandbox
      await destinations.respond(shop, { status: 418, headers: { 'x-own': '1' }, body: { tea: true } })
      await queue.publish({ to: shop, retries: 0 })
      await clock.drain()
      expect(await queue.deadLetters).toMatchObject([{ response: { status: 418, body: '{"tea":true}' } }])
    })

    test('report that a recorder has recorded nothing', async () => {
      const recorder = await sandbox.destinations.record(shop)
      await expect((async () => recorder.last())()).rejects.toThrow(`arrived at ${shop} yet`)
    })
  })

  test('knows its own URLs', () => {
    expect(sandbox.owns(`${sandbox.urls.store}/get/k`)).toBe(true)
    expect(sandbox.owns('https://shop.test/')).toBe(false)
    expect(Object.values(sandbox.env)).toEqual(expect.arrayContaining([sandbox.urls.store, sandbox.tokens.queue]))
  })

  test('resets to its start', async () => {
    await sandbox.store.run('SET', 'k', 'v')
    await sandbox.clock.advance('1h')
    await sandbox.reset()
    expect(await sandbox.clock.now()).toBe(Date.parse('2030-01-01T09:00:00Z'))
    expect(await sandbox.store.get('k')).toBeNull()
  })

  if (kind === 'behind a server') {
    test('rejects functions, which cannot be sent to a server', () => {
      expect(() => (sandbox as RemoteSandbox).destinations.on(shop, () => new Response())).toThrow(
        /remote sandbox.*function/,
      )
    })
  }
})

test('connect() explains how to start a server when nothing listens', async () => {
  await expect(connect('http://127.0.0.1:9')).rejects.toThrow('Start one with "npx stuntdouble serve"')
  await expect(connect('localhost')).rejects.toThrow(/connect\(\).*URL.*server/)
})
