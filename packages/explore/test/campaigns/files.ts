/** Campaigns as users write them. */
export const files = {
  /** Fails sometimes. */
  shop: `
import { assertResilient } from 'stuntdouble/fast-check'
import { defineCampaign } from 'stuntdouble/checks'

const orders: string = 'https://shop.test/orders'

export default defineCampaign(() =>
  assertResilient({
    publish: ({ queue }) => queue.publish({ to: orders, body: { id: 42 } }),
    handler: async (request, _, { store }) => {
      const { id } = await request.json()
      store.run('INCR', 'charged:' + id)
      return Response.json({ ok: true })
    },
    holds: ({ store }) => Number(store.get('charged:42')) < 4,
  }),
)
`,
  /** Holds, at little cost. */
  story: `
import { defineCampaign } from 'stuntdouble/checks'
import { playScenario } from 'stuntdouble/scenarios'

const story = {
  name: 'a flaky shop',
  faults: [{ on: 'queue.delivery', chance: [1, 3], fault: { kind: 'status', status: 503 } }],
  destinations: [{ url: 'https://shop.test/orders' }],
  steps: [{ publish: { to: 'https://shop.test/orders', as: 'order', body: '1' } }, { drain: true }],
  expect: [{ invariants: true }],
} as const

export default defineCampaign(({ seed }) => playScenario(story, { seed, strict: false }))
`,
  /** Two clients with a lost update. */
  race: `

import { defineCampaign, exploreInterleavings } from 'stuntdouble/checks'

const buy = async (sandbox) => {
  const get = (...words) =>
    sandbox.fetch(sandbox.urls.store + '/' + words.join('/'), { headers: { authorization: 'Bearer ' + sandbox.tokens.store } })
  const { result } = await (await get('get', 'stock')).json()
  await get('set', 'stock', Number(result) - 1)
  await get('get', 'stock')
}

export default defineCampaign(() =>
  exploreInterleavings({ setup: ({ store }) => store.run('SET', 'stock', 5), clients: { alice: buy, bob: buy } }),
)
`,
  /** A workflow that charges twice if its process dies. */
  crash: `

import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { defineCampaign, assertCrashSafe } from 'stuntdouble/checks'

const checkout = 'https://shop.test/api/checkout'

function shop(sandbox) {
  const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
  const { POST } = serve(
    async (context) => {
      const { id } = context.requestPayload
      await context.run('charge', () => void sandbox.store.run('INCR', 'charged:' + id))
    },
    { qstashClient: new QueueClient(connection) },
  )
  sandbox.destinations.on(checkout, (request) => POST(request))
  return () => new Client(connection).trigger({ url: checkout, body: { id: 42 } })
}

export default defineCampaign(() => assertCrashSafe(shop))
`,
} as const
