import { fault } from 'stuntdouble'
import { type Kit, messageOf, type SuiteTest } from './suite-test.ts'

const orders = 'https://shop.test/orders'
const done = 'https://shop.test/done'

/** Responds with 200 to a valid signature of the queue, otherwise with 401. */
function verifiedRoute({ receiver }: Kit): (request: Request) => Promise<Response> {
  return async (request) => {
    const signature = request.headers.get('upstash-signature') ?? ''
    const valid = await receiver.verify({ signature, body: await request.text(), url: orders }).catch(() => false)
    return new Response(null, { status: valid ? 200 : 401 })
  }
}

/** Deliveries, retries, schedules, signatures and faults. */
export const queueTests: readonly SuiteTest[] = [
  {
    name: 'queue: delivers a message after its delay',
    async run({ expect, client, sandbox: { clock, destinations } }) {
      const received = destinations.record(orders)
      await client.publishJSON({ url: orders, body: { id: 42 }, delay: '2d' })
      await clock.advance('47h')
      expect(received.count).toBe(0)
      await clock.advance('1h')
      expect(received.last().json()).toEqual({ id: 42 })
    },
  },
  {
    name: 'retries: the default back-off is 12 s, 2 min 28 s and 30 min 8 s',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.respond(orders, 503)
      await client.publishJSON({ url: orders, body: {} })
      await clock.drain()
      const attempts = [{ delayMs: 12_000 }, { delayMs: 148_000 }, { delayMs: 1_808_000 }, { status: 503 }]
      expect(queue).toHaveDelivered({ to: orders, state: 'FAILED', attempts })
      expect(queue).toHaveDeadLetter({ to: orders, status: 503, attempts: 4 })
    },
  },
  {
    name: 'retries: an expression determines the delay',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.script(orders, [503, 503, 503])
      await client.publishJSON({ url: orders, body: {}, retryDelay: 'pow(2, retried) * 1000' })
      await clock.drain()
      const attempts = [{ delayMs: 1000 }, { delayMs: 2000 }, { delayMs: 4000 }, { status: 200 }]
      expect(queue).toHaveDelivered({ to: orders, attempts })
    },
  },
  {
    name: 'retries: Retry-After takes precedence',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.script(orders, [fault.status(429, { retryAfter: '30s' })])
      await client.publishJSON({ url: orders, body: {} })
      await clock.drain()
      expect(queue).toHaveDelivered({ to: orders, attempts: [{ status: 429, delayMs: 30_000 }, { status: 200 }] })
    },
  },
  {
    name: 'queue: a callback and a failure callback report the attempts',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.script(orders, [503, fault.status(500, { body: 'no' })])
      const callbacks = destinations.record(done)
      const failures = destinations.record('https://shop.test/failed')
      await client.publishJSON({
        url: orders,
        body: { id: 42 },
        retries: 1,
        callback: done,
        failureCallback: 'https://shop.test/failed',
      })
      await clock.drain()
      expect(callbacks.count).toBe(2)
      const { status, body, dlqId } = failures.last().json() as Record<string, unknown>
      // Callbacks have the body in base64.
      expect([status, atob(String(body)), dlqId]).toEqual([500, 'no', queue.deadLetters[0]?.id])
    },
  },
  {
    name: 'queue: a dead letter can be retried through the SDK',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      destinations.respond(orders, 500)
      await client.publishJSON({ url: orders, body: { id: 42 }, retries: 0 })
      await clock.drain()
      destinations.respond(orders, 200)
      const { messages } = await client.dlq.listMessages()
      await client.dlq.retry(messages.map(({ dlqId }) => dlqId))
      await clock.drain()
      expect(queue).toHaveDelivered({ to: orders, attempts: [200], body: { id: 42 } })
      expect((await client.dlq.listMessages()).messages).toEqual([])
    },
  },
  {
    name: 'queue: a deduplication ID lets one message through',
    async run({ expect, client, sandbox: { clock, destinations } }) {
      const received = destinations.record(orders)
      for (const _click of [1, 2]) await client.publishJSON({ url: orders, body: {}, deduplicationId: 'order-42' })
      await clock.drain()
      expect(received.count).toBe(1)
    },
  },
  {
    name: 'queue: a URL group delivers to each endpoint',
    async run({ expect, client, sandbox: { clock, destinations } }) {
      const stock = destinations.record('https://shop.test/stock')
      const mail = destinations.record('https://shop.test/mail')
      const endpoints = ['stock', 'mail'].map((name) => ({ name, url: `https://shop.test/${name}` }))
      await client.urlGroups.addEndpoints({ name: 'orders', endpoints })
      await client.publishJSON({ urlGroup: 'orders', body: { id: 42 } })
      await clock.drain()
      expect([stock.count, mail.count]).toEqual([1, 1])
    },
  },
  {
    name: 'queue: a FIFO queue waits for a retry before the next message',
    async run({ expect, client, sandbox: { clock, destinations, queue } }) {
      const letters = destinations.record(orders)
      destinations.script(orders, [503])
      const fifo = client.queue({ queueName: 'letters' })
      await fifo.enqueueJSON({ url: orders, body: { letter: 1 } })
      await fifo.enqueueJSON({ url: orders, body: { letter: 2 } })
      await clock.drain()
      expect(queue).toHaveDelivered({ to: orders, attempts: [503, 200], body: { letter: 1 } })
      expect(letters.last().json()).toEqual({ letter: 2 })
    },
  },
  {
    name: 'queue: flow control delivers two at a time',
    async run({ expect, client, sandbox: { clock, destinations } }) {
      let printing = 0
      let most = 0
      destinations.on(orders, async (_request, task) => {
        most = Math.max(most, ++printing)
        await task.sleep('10s')
        printing--
        return new Response('printed')
      })
      for (let letter = 1; letter <= 5; letter++) {
        await client.publishJSON({ url: orders, body: { letter }, flowControl: { key: 'printer', parallelism: 2 } })
      }
      await clock.drain()
      expect([most, clock.now()]).toEqual([2, Date.UTC(2030, 0, 1, 9, 0, 30)])
    },
  },
  {
    name: 'schedules: a cron pattern fires each night',
    async run({ expect, client, sandbox: { clock, destinations } }) {
      const reports = destinations.record(orders)
      await client.schedules.create({ destination: orders, cron: '0 3 * * *', scheduleId: 'nightly' })
      await clock.advance('30d')
      expect(reports.count).toBe(30)
      expect(await client.schedules.get('nightly')).toEqual(expect.objectContaining({ cron: '0 3 * * *' }))
    },
  },
  {
    name: 'schedules: a time zone leaves out the hour that daylight saving skips',
    async run({ expect, client, sandbox: { queue } }) {
      const cron = 'CRON_TZ=Europe/Berlin 30 2 * * *'
      await client.schedules.create({ destination: orders, cron, scheduleId: 'nightly' })
      const times = { from: Date.UTC(2030, 2, 29, 12), to: Date.UTC(2030, 3, 1, 12) }
      const nights = queue.schedules.upcoming('nightly', times).map((at) => new Date(at).toISOString())
      expect(nights).toEqual(['2030-03-30T01:30:00.000Z', '2030-04-01T00:30:00.000Z'])
    },
  },
  {
    name: 'signatures: the SDK rejects a wrong signature, and accepts the retry',
    async run(kit) {
      const { expect, client, sandbox } = kit
      sandbox.destinations.on(orders, verifiedRoute(kit))
      sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.badSignature('body') })
      await client.publishJSON({ url: orders, body: { id: 42 } })
      await sandbox.clock.drain()
      expect(sandbox.queue).toHaveDelivered({ to: orders, attempts: [401, 200] })
    },
  },
  {
    name: 'signatures: a receiver survives one rotation of keys',
    async run(kit) {
      const { expect, client, sandbox } = kit
      sandbox.destinations.on(orders, verifiedRoute(kit))
      sandbox.queue.signingKeys.rotate()
      await client.publishJSON({ url: orders, body: { id: 1 } })
      await sandbox.clock.drain()
      expect(sandbox.queue).toHaveDelivered({ to: orders, attempts: [200], body: { id: 1 } })
      sandbox.queue.signingKeys.rotate()
      await client.publishJSON({ url: orders, body: { id: 2 }, retries: 0 })
      await sandbox.clock.drain()
      expect(sandbox.queue).toHaveDeadLetter({ to: orders, status: 401, body: { id: 2 } })
    },
  },
  {
    name: 'faults: a lost response delivers twice',
    async run({ expect, client, sandbox: { clock, destinations, faults, queue } }) {
      let charged = 0
      destinations.on(orders, () => {
        charged++
        return new Response('charged')
      })
      faults.add({ on: 'queue.delivery', times: 1, fault: fault.lostAck() })
      await client.publishJSON({ url: orders, body: {} })
      await clock.drain()
      expect(charged).toBe(2)
      expect(queue).toHaveDelivered({ to: orders, attempts: [0, 200] })
    },
  },
  {
    name: 'faults: a command fails at its third call',
    async run({ expect, redis, sandbox: { faults } }) {
      const rule = { match: { command: 'INCR', key: 'stock:*' }, skip: 2, times: 1 }
      faults.add({ on: 'store.command', ...rule, fault: fault.errorReply('OOM command not allowed') })
      expect([await redis.incr('stock:7'), await redis.incr('stock:7')]).toEqual([1, 2])
      expect(await messageOf(() => redis.incr('stock:7'))).toContain('OOM command not allowed')
      expect(await redis.incr('stock:7')).toBe(3)
    },
  },
  {
    name: 'faults: a broken connection rejects fetch with a TypeError',
    async run({ expect, sandbox: { faults, tokens, urls } }) {
      faults.add({ on: 'store.request', times: 1, fault: fault.reset() })
      const headers = { authorization: `Bearer ${tokens.store}` }
      const error = await fetch(`${urls.store}/ping`, { headers }).catch((reason) => reason)
      expect(error instanceof TypeError).toBe(true)
      expect(await (await fetch(`${urls.store}/ping`, { headers })).json()).toEqual({ result: 'PONG' })
    },
  },
  {
    name: 'outbound: a script responds for an external host',
    async run({ expect, sandbox: { outbound } }) {
      outbound.script('https://mail.test/*', [503, Response.json({ sent: true })])
      const send = () => fetch('https://mail.test/send', { method: 'POST', body: '{}' })
      expect((await send()).status).toBe(503)
      expect(await (await send()).json()).toEqual({ sent: true })
    },
  },
  {
    name: 'headers: responses of handlers have the defaults of the fetch standard, in its order',
    async run({ expect, client, sandbox: { clock, destinations, traffic } }) {
      const cookies: [string, string][] = [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ]
      // A page can neither set nor read this header of a response.
      const kept = new Response(null, { headers: cookies }).headers.has('set-cookie') ? cookies : []
      const own: [string, string][] = [['X-Shop', 'a'], ...cookies, ['Content-Type', 'text/html; charset=utf-8']]
      const responses: readonly [Response, readonly [string, string][]][] = [
        [new Response('text'), [['content-type', 'text/plain;charset=UTF-8']]],
        [new Response(null), []],
        [
          new Response(new URLSearchParams({ name: 'ä' })),
          [['content-type', 'application/x-www-form-urlencoded;charset=UTF-8']],
        ],
        [new Response(new Blob(['<svg/>'], { type: 'image/svg+xml' })), [['content-type', 'image/svg+xml']]],
        [new Response(new Uint8Array([0xff, 0])), []],
        [Response.json({ id: 42 }), [['content-type', 'application/json']]],
        [
          new Response('<p>', { headers: own }),
          [['content-type', 'text/html; charset=utf-8'], ...kept, ['x-shop', 'a']],
        ],
      ]
      for (const [response] of responses) {
        destinations.on(orders, () => response)
        await client.publishJSON({ url: orders, body: {} })
        await clock.drain()
      }
      const logged = traffic.entries.flatMap((entry) => (entry.type === 'attempt' ? [entry.outcome?.headers] : []))
      expect(logged).toEqual(responses.map(([, headers]) => headers))
    },
  },
  {
    name: 'real hosts: a request to the real service is blocked',
    async run({ expect, sandbox: { urls } }) {
      const ways = [
        () => fetch('https://eu1-shop.upstash.io/ping'),
        () => fetch(new Request('https://qstash.upstash.io/v2')),
      ]
      for (const request of ways) expect(await messageOf(request)).toContain('a real host of the service, was blocked')
      const { Redis } = await import('@upstash/redis')
      const real = new Redis({ url: 'https://eu1-shop.upstash.io', token: 't', retry: false, enableTelemetry: false })
      expect(await messageOf(() => real.ping())).toContain(`Point the client at the sandbox: ${urls.store}`)
    },
  },
]
