// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it must be inside quotes.
import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { createSandbox, fault, type Sandbox, type SandboxOptions } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'

/** Sandboxes with traffic that a user may want to copy. */
export interface CapturedWorld {
  readonly name: string
  readonly options?: SandboxOptions
  play(world: { sandbox: Sandbox; redis: Redis; client: Client }): Promise<void>
}

const orders = 'https://shop.test/orders'
const done = 'https://shop.test/done'

export const capturedWorlds: readonly CapturedWorld[] = [
  {
    name: 'retries and a callback',
    options: { seed: 7, startAt: '2030-05-01T09:00:00Z' },
    async play({ sandbox, client }) {
      sandbox.destinations.script(orders, [fault.status(503), fault.status(500, { body: { no: 'stock' } })])
      sandbox.destinations.record(done)
      await client.publishJSON({
        url: orders,
        body: { id: 42 },
        delay: '2d',
        retries: 3,
        callback: done,
        headers: { 'x-a': 'b' },
      })
      await sandbox.clock.advance('2d')
      await sandbox.clock.drain()
    },
  },
  {
    name: 'a dead letter with its failure callback',
    async play({ sandbox, client }) {
      sandbox.destinations.respond(orders, { status: 500, body: 'no sku' })
      sandbox.destinations.record(done)
      await client.publish({
        url: orders,
        body: 'plain',
        retries: 1,
        failureCallback: done,
        retryDelay: '1000 * (retried + 1)',
      })
      await sandbox.clock.drain()
    },
  },
  {
    name: 'a slow destination, a time-out, a broken connection',
    async play({ sandbox }) {
      sandbox.destinations.script(orders, [fault.hang(), { kind: 'reset' }])
      sandbox.destinations.on(orders, async (_request, task) => {
        await task.sleep('3s')
        return new Response('late', { status: 202, headers: { 'x-b': 'c' } })
      })
      sandbox.queue.publish({ to: orders, body: { n: 1 }, timeout: '10s' })
      await sandbox.clock.drain()
    },
  },
  {
    name: 'faults as rules',
    async play({ sandbox, client }) {
      sandbox.destinations.record(orders)
      sandbox.faults.add({
        name: 'outage',
        on: 'queue.delivery',
        match: { url: orders },
        skip: 1,
        times: 2,
        fault: fault.status(503),
      })
      sandbox.faults.add({ on: 'queue.delivery', match: { url: orders }, times: 1, fault: fault.lostAck() })
      for (const id of [1, 2]) await client.publishJSON({ url: orders, body: { id } })
      await sandbox.clock.drain()
    },
  },
  {
    name: 'an app that writes and publishes while it is called',
    async play({ sandbox, redis, client }) {
      sandbox.destinations.on(orders, async () => {
        await redis.incr('orders')
        await client.publishJSON({ url: 'https://shop.test/mail', body: { to: 'ada' } })
        return new Response()
      })
      sandbox.destinations.script('https://shop.test/mail', [429])
      await redis.set('stock', { left: 3 }, { ex: 60 })
      await client.publishJSON({ url: orders, body: { id: 1 } })
      await sandbox.clock.advance('1m')
      sandbox.store.run('HSET', 'user:1', 'name', "O'Hara", 'note', 'a "b" `c` ${d}')
      await sandbox.clock.advance('1h')
    },
  },
  {
    name: 'a batch, a queue, a schedule, a duplicate, a cancelled message',
    async play({ sandbox, client }) {
      sandbox.destinations.record(orders)
      await client.batchJSON([
        { url: orders, body: 1 },
        { url: orders, body: 2, queueName: 'q' },
      ])
      await client.queue({ queueName: 'lane' }).enqueueJSON({ url: orders, body: { lane: 1 } })
      await client.schedules.create({ destination: orders, cron: '0 3 * * *', scheduleId: 'nightly', body: 'tick' })
      for (const _ of [1, 2]) await client.publishJSON({ url: orders, body: {}, deduplicationId: 'once' })
      const { id } = sandbox.queue.publish({ to: orders, delay: '1h' })
      sandbox.queue.cancel(id)
      await sandbox.clock.advance('2d')
    },
  },
  {
    name: 'a delayed message that is delivered at once',
    async play({ sandbox }) {
      sandbox.destinations.record(orders)
      const { id } = sandbox.queue.publish({ to: orders, delay: '1d' })
      await sandbox.clock.advance('1h')
      sandbox.queue.deliverNow(id)
      await sandbox.clock.advance('1h')
    },
  },
  {
    name: 'a refused request and a struck one',
    async play({ sandbox, redis }) {
      sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
      await redis.get('a').catch(() => undefined)
      await redis.set('a', 'text')
      await redis.incr('a').catch(() => undefined)
      // The fault is not injected into earlier requests of the copy either.
      sandbox.faults.add({ name: 'busy', on: 'store.request', times: 2, fault: fault.status(502) })
      for (const _ of [1, 2, 3]) await redis.incr('a').catch(() => undefined)
    },
  },
]

/** A sandbox with a hostile text in every place that can contain text, one message each. */
export function hostileWorld(texts: readonly string[]): CapturedWorld {
  return {
    name: 'hostile',
    async play({ sandbox, redis, client }) {
      let at = 0
      for (const text of texts) {
        const url = `https://shop.test/${++at}/${encodeURIComponent(text)}?${encodeURI(text).replaceAll('#', '%23')}`
        const value = /^[\t\x20-\x7e]*$/.test(text) ? text : 'plain'
        sandbox.destinations.respond(url, { status: 500, body: text, headers: { 'x-answer': value } })
        sandbox.queue.publish({
          to: url,
          body: text,
          retries: 0,
          label: text.replaceAll(',', ' '),
          deduplicationId: text.replaceAll(':', ' '),
          headers: { 'x-value': value, 'content-type': 'text/plain' },
        })
        sandbox.queue.publish({ to: url, body: { [text]: [text] }, retries: 0 })
        sandbox.queue.upsertQueue(`q${at}`, { parallelism: 1 })
        await client
          .publish({ url, body: text, label: `l${at}`, retries: 0, headers: { 'X-Forward': value } })
          .catch(() => {})
        await redis.set(text, text)
        sandbox.store.run('HSET', `h:${text}`, text, text)
        sandbox.faults.add({
          name: text || 'none',
          on: 'queue.delivery',
          match: { url },
          times: 1,
          fault: fault.status(418, { body: text }),
        })
      }
      await sandbox.clock.drain()
    },
  }
}

/** Returns the log of a sandbox as a trace. */
export async function captured({ options, play }: CapturedWorld): Promise<ReturnType<Sandbox['traffic']['toTrace']>> {
  const sandbox = createSandbox(options)
  const restore = replaceFetch(sandbox)
  const { env } = sandbox
  const redis = new Redis({
    url: env.UPSTASH_REDIS_REST_URL!,
    token: env.UPSTASH_REDIS_REST_TOKEN!,
    retry: false,
    enableTelemetry: false,
  })
  const client = new Client({ baseUrl: env.QSTASH_URL!, token: env.QSTASH_TOKEN!, enableTelemetry: false })
  try {
    await play({ sandbox, redis, client })
    return JSON.parse(JSON.stringify(sandbox.traffic))
  } finally {
    restore()
    sandbox.dispose()
  }
}
