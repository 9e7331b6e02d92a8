// The campaign of `npm run bench -- campaigns`: a publish, up to four attempts, and a property.

import { defineCampaign } from 'stuntdouble/checks'
import { assertResilient } from 'stuntdouble/fast-check'

export default defineCampaign(() =>
  assertResilient({
    publish: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: '{"id":42}' }),
    handler: () => new Response(),
    holds: () => true,
  }),
)
