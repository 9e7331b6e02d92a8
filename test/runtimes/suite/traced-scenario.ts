import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { Client as WorkflowClient } from '@upstash/workflow'
import { serve } from '@upstash/workflow/cloudflare'
import { createSandbox, fault } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'

const shop = 'https://shop.test'

/**
 * Plays a day of a shop and returns its trace: SDKs, raw requests, Lua and geo with transcendental functions, retries by
 * an expression, callbacks, a schedule, faults, an outbound request and a workflow.
 */
export async function traceOf(seed: number): Promise<string> {
  const sandbox = createSandbox({ seed, startAt: '2030-01-01T09:00:00Z', onWarning: () => {} })
  replaceFetch(sandbox)
  const { clock, destinations, faults, outbound, urls, tokens, env } = sandbox
  const redis = new Redis({ url: urls.store, token: tokens.store })
  const client = new Client({ baseUrl: urls.queue, token: tokens.queue })
  const workflows = new WorkflowClient({ baseUrl: urls.queue, token: tokens.queue })
  try {
    outbound.on('https://mail.test/*', async (request) => Response.json({ sent: await request.json() }))
    destinations.on(`${shop}/orders`, async (request, task) => {
      const { id } = (await request.json()) as { id: number }
      await task.sleep('2s')
      const tries = await redis.hincrby('tries', String(id), 1)
      if (id % 3 === 0 && tries < 3) return new Response('later', { status: 503 })
      // Each engine has its own text for this error.
      if (id === 5) JSON.parse('no order')
      await fetch('https://mail.test/send', { method: 'POST', body: JSON.stringify({ id }) })
      return Response.json({ id, tries }, { headers: { 'x-shop': 'a', 'x-a': 'b' } })
    })
    destinations.record(`${shop}/done`)
    const { fetch: route } = serve(
      async (context) => {
        await context.run('charge', () => 'paid')
        await context.sleep('cooling off', '1h')
        return await context.run('ship', () => 'shipped')
      },
      { env },
    )
    destinations.on(`${shop}/workflow`, (request) => route(request, env))
    faults.add({ on: 'queue.delivery', match: { url: `${shop}/done` }, times: 1, fault: fault.lostAck() })
    faults.add({ on: 'store.command', match: { command: 'INCR' }, chance: [1, 2], fault: fault.errorReply('ERR busy') })

    await client.schedules.create({ destination: `${shop}/done`, cron: '*/20 * * * *', scheduleId: 'often' })
    // Without an ID, the SDK draws one from the randomness of the host.
    await workflows.trigger({ url: `${shop}/workflow`, body: { id: 1 }, workflowRunId: 'order-1' })
    for (let id = 1; id <= 10; id++) {
      await client.publishJSON({
        url: `${shop}/orders`,
        body: { id },
        retries: 3,
        retryDelay: 'exp(retried) * sqrt(7) * 1000',
        ...(id % 2 === 0 && { callback: `${shop}/done` }),
      })
    }
    await redis.set('session', { text: 'ä € 𝄞' }, { ex: 3600 })
    await redis.sadd('pool', 'a', 'b', 'c', 'd', 'e')
    await redis.pipeline().srandmember('pool', 3).spop('pool').exec()
    await redis.incr('count').catch(() => {})
    await redis.incr('count').catch(() => {})
    for (let nth = 0; nth < 40; nth++) {
      const position = { longitude: nth * 4.3 - 85.5, latitude: nth * 3.7 - 74.5, member: `p${nth}` }
      await redis.geoadd('places', position)
    }
    await redis.geodist('places', 'p1', 'p30')
    await redis.geosearch(
      'places',
      { type: 'FROMMEMBER', member: 'p9' },
      { type: 'BYRADIUS', radius: 3000, radiusType: 'KM' },
      'ASC',
      { withDist: true, withCoord: true },
    )
    const lua = `
      local found = {}
      for n = 1, 40 do
        local x = n / 7
        found[#found + 1] = string.format('%.17g %.17g %.17g %.17g %.17g %.17g', math.exp(x), math.log(x), math.sin(x), math.asin(n / 41), math.atan2(x, 3), x ^ 1.5)
      end
      found[#found + 1] = tostring(math.random())
      return found
    `
    await redis.eval(lua, [], [])
    await fetch(`${urls.store}/get/missing?_token=wrong`)
    await fetch(`${urls.store}/set/raw`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.store}` },
      body: 'plain',
    })
    await clock.advance('6h')
    await client.schedules.delete('often')
    await clock.drain()
    return JSON.stringify(sandbox.traffic.toTrace())
  } finally {
    await sandbox.dispose()
  }
}
