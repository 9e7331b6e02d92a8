import { fault } from 'stuntdouble'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'

// Hints for clients without JavaScript are requests, and these tests send them.

async function asked(url: string, init?: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })
}

/** Sends the request that a message contains. */
async function obey(sentence: string): Promise<Response> {
  const [, method, url, body] = /(POST) (http:\S+) with (\{.*?\})[,.;]/.exec(sentence) ?? []
  return asked(url!, { method: method!, body: body! })
}

const noJavaScript = /sandbox\.|destinations\.|clock\.|handler|deliverTo: \[/

test('a delivery to a blocked host contains a request that registers a response', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const { tokens, urls, traffic } = server.tenant('w1')
  const published = () =>
    asked(`${urls.queue}/v2/publish/https://shop.example/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}`, 'service-retries': '0' },
      body: '{}',
    })
  const advance = () => asked(`${server.origin}/_control/w1/clock/advance`, { method: 'POST', body: '{"by":"1s"}' })
  expect((await published()).ok).toBe(true)
  await advance()
  const { unhandled } = (await (await asked(`${server.origin}/_control/w1/destinations`)).json()) as {
    unhandled: string[]
  }
  expect(unhandled).toEqual([
    expect.stringMatching(
      new RegExp(
        `^Delivery to https://shop\\.example/orders was refused.*this machine.* POST ${server.origin}/_control/w1/destinations/respond .*{"to":"https://shop\\.example/orders","response":200}.* --deliver-to shop\\.example `,
      ),
    ),
  ])
  expect(unhandled.join()).not.toMatch(noJavaScript)
  expect((await obey(unhandled[0]!)).status).toBe(200)
  await published()
  await advance()
  expect(traffic.ofType('attempt').at(-1)!.outcome).toMatchObject({ status: 200 })
})

test('a delivery to a production host contains the option that allows it', async () => {
  await using server = await startServer({ port: 0, clock: 'manual', dialect: 'upstash' })
  const { destinations, queue, clock } = server.tenant('w1')
  queue.publish({ to: 'https://qstash.upstash.io/v2/queues', retries: 0 })
  await clock.drain()
  expect(destinations.unhandled[0]).toMatch(/on purpose.* --deliver-to qstash\.upstash\.io\./)
})

test('an unhandled outbound request contains a request that registers a response', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const { outbound } = server.tenant('w1')
  const bank = `${server.origin}/w1/outbound/https://bank.example/charges`
  for (const url of [bank, `${bank}/42`]) {
    const refused = await asked(url)
    expect(refused.status).toBe(502)
    const { error } = (await refused.json()) as { error: string }
    expect(error).not.toMatch(noJavaScript)
    expect([outbound.unhandled.at(-1), outbound.unanswered.at(-1)]).toEqual([error, error])
    expect((await obey(error)).status).toBe(200)
    expect((await asked(url)).status).toBe(200)
  }
})

test('a request that waits for time contains a request that advances it', async () => {
  const warnings: string[] = []
  await using server = await startServer({ port: 0, clock: 'manual', onWarning: (text) => warnings.push(text) })
  const { urls, tokens, faults } = server.tenant('w1')
  faults.add({ on: 'store.request', fault: fault.latency('5s') })
  const waiting = asked(`${urls.store}/ping`, { headers: { authorization: `Bearer ${tokens.store}` } })
  await expect.poll(() => warnings, { timeout: 9000 }).toHaveLength(1)
  expect(warnings[0]).toContain('start the server with --clock auto')
  expect(warnings[0]).not.toMatch(/clock\.|sandbox/)
  expect((await obey(warnings[0]!)).status).toBe(200)
  expect((await waiting).status).toBe(200)
})
