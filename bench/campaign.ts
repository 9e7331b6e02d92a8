// What `npm run bench -- campaigns` explores: a publish, up to four attempts, a claim.

import { defineCampaign } from 'stuntdouble/checks'
import { checkDelivery } from 'stuntdouble/fast-check'

export default defineCampaign(() =>
  checkDelivery({
    deliver: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: '{"id":42}' }),
    handler: () => new Response(),
    holds: () => true,
  }),
)
