import { serve } from '@upstash/workflow/nextjs'

/** An order is shipped a month after it was paid. */
export const { POST } = serve<{ id: number }>(async (context) => {
  const { charge } = await context.run('charge', () => ({ charge: `ch_${context.requestPayload.id}` }))
  await context.sleep('cooling off', '30d')
  await Promise.all([context.run('ship', () => `shipped for ${charge}`), context.run('mail', () => 'mailed')])
})
