import { serve } from '@upstash/workflow/nextjs'

/** Ships an order a month after its payment. */
export const { POST } = serve<{ id: number }>(async (context) => {
  const { charge } = await context.run('charge', () => ({ charge: `ch_${context.requestPayload.id}` }))
  await context.sleep('cooling off', '30d')
  await Promise.all([context.run('ship', () => `shipped for ${charge}`), context.run('mail', () => 'mailed')])
})
