import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { runs } from '../support/effort.js'
import { naiveReport, remembering } from './naive-fold.js'

// Third implementation, over HTTP: the queue's own log and its dead-letter queue, which the statistics never read.

type Act =
  | { readonly do: 'publish'; readonly retries: number; readonly extras: readonly string[]; readonly to: string }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'dead letter'; readonly which: number; readonly how: 'retry' | 'delete' }
  | { readonly do: 'wait'; readonly by: number }

const [good, bad, slow] = ['https://shop.test/good', 'https://shop.test/bad', 'https://shop.test/slow']

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      retries: fc.nat(2),
      extras: fc.subarray(['callback', 'failure callback', 'same id', 'delay', 'method GET']),
      to: fc.constantFrom(good, bad, slow, 'everybody'),
    }),
  },
  fc.record({ do: fc.constant('cancel' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('dead letter' as const), which: fc.nat(), how: fc.constantFrom('retry', 'delete') }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), by: fc.integer({ min: 0, max: 100_000 }) }) },
)

function world(): { readonly sandbox: Sandbox; readonly ask: (path: string, init?: RequestInit) => Promise<Response> } {
  const sandbox = createSandbox({ startAt: '2030-01-15T12:00:00Z', policy: { maxTrafficEntries: 5 } })
  const { destinations, queue } = sandbox
  destinations.on(good, () => new Response('fine'))
  destinations.on(bad, () => new Response('not now', { status: 503 }))
  destinations.on(slow, async (_, task) => {
    await task.sleep('20s')
    return new Response('at last')
  })
  destinations.on('https://shop.test/report', () => new Response(null, { status: 204 }))
  queue.urlGroups.addEndpoints('everybody', [good, bad])
  const headers = { authorization: `Bearer ${sandbox.tokens.queue}` }
  return {
    sandbox,
    ask: (path, init = {}) =>
      sandbox.fetch(sandbox.urls.queue + path, { ...init, headers: { ...headers, ...init.headers } }),
  }
}

async function perform(one: Act, { sandbox, ask }: ReturnType<typeof world>): Promise<void> {
  const { clock, queue } = sandbox
  if (one.do === 'wait') await clock.advance(one.by)
  else if (one.do === 'publish') {
    const headers: Record<string, string> = { 'service-retries': String(one.retries), 'service-retry-delay': '15000' }
    if (one.extras.includes('callback')) headers['service-callback'] = 'https://shop.test/report'
    if (one.extras.includes('failure callback')) headers['service-failure-callback'] = 'https://shop.test/report'
    if (one.extras.includes('same id')) headers['service-deduplication-id'] = 'same'
    if (one.extras.includes('delay')) headers['service-delay'] = '30s'
    if (one.extras.includes('method GET')) headers['service-method'] = 'GET'
    expect((await ask(`/v2/publish/${one.to}`, { method: 'POST', headers, body: 'hello' })).ok).toBe(true)
  } else if (one.do === 'cancel') {
    const message = queue.messages[one.which % Math.max(1, queue.messages.length)]
    if (message) await ask(`/v2/messages/${message.id}`, { method: 'DELETE' })
  } else {
    const letter = queue.deadLetters[one.which % Math.max(1, queue.deadLetters.length)]
    if (letter === undefined) return
    if (one.how === 'retry') await ask(`/v2/dlq/retry/${letter.id}`, { method: 'POST' })
    else await ask(`/v2/dlq/${letter.id}`, { method: 'DELETE' })
  }
}

const idOf: Readonly<Record<string, string>> = {
  CREATED: 'created',
  ACTIVE: 'active',
  DELIVERED: 'delivered',
  RETRY: 'retried',
  ERROR: 'error',
  FAILED: 'failed',
  CANCELLED: 'canceled',
}

test('the series equal the entries of the log by state and minute', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 15, size: 'max' }), async (acts) => {
      const { sandbox, ask } = world()
      const all = remembering(sandbox.traffic)
      for (const one of acts) await perform(one, { sandbox, ask })
      const { events } = (await (await ask('/v2/logs?count=1000')).json()) as {
        events: { time: number; state: string }[]
      }
      const report = sandbox.stats.queue.report('1h')
      for (const { id, data_points } of report.daily_qstash_messages) {
        const logged = data_points.map(({ x }) => {
          const start = Date.parse(x.replace(' +0000 UTC', 'Z').replace(' ', 'T'))
          const inside = events.filter(
            ({ time, state }) => idOf[state] === id && time >= start && time < start + 60_000,
          )
          return { x, y: inside.length }
        })
        expect([id, data_points]).toEqual([id, logged])
      }
      const { messages } = (await (await ask('/v2/dlq?count=100')).json()) as { messages: object[] }
      expect(report.dlq_message_count).toBe(messages.length)
      const price = { message: 1 / 100_000, freeBandwidth: 50e9, gigabyte: 0.05 }
      const walked = naiveReport([...all], sandbox.clock.now(), '1h', price, messages.length)
      expect(report.daily_bandwidths).toEqual(walked.daily_bandwidths)
      expect(report.daily_requests).toEqual(walked.daily_requests)
      expect(report.daily_used).toEqual(walked.daily_used)
      sandbox.dispose()
    }),
    { numRuns: runs(40, 40, 400) },
  )
})
