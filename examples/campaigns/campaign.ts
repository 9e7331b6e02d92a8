import type { Sandbox } from 'stuntdouble'
import { defineCampaign } from 'stuntdouble/checks'
import { assertResilient } from 'stuntdouble/fast-check'

const orders = 'https://shop.test/orders'

/** Charges an order once for any number of deliveries, because it remembers the message ID. */
async function charge(request: Request, _: unknown, { store }: Sandbox): Promise<Response> {
  const { id } = (await request.json()) as { id: number }
  const seen = `seen:${request.headers.get('service-message-id')}`
  if (store.run('SET', seen, 1, 'NX') !== null) store.run('INCR', `charged:${id}`)
  return Response.json({ ok: true })
}

export default defineCampaign(() =>
  assertResilient({
    publish: ({ queue }) => queue.publish({ to: orders, body: { id: 42 } }),
    handler: charge,
    holds: ({ store }) => store.get('charged:42') === '1',
    stateOf: ({ store }) => (store.get('charged:42') === null ? 'new' : 'charged'),
  }),
)
