import { servePagesRouter } from '@upstash/workflow/nextjs'

/** Packs and ships an order. The queue calls this route once for each step. */
export default servePagesRouter<{ id: number }>(async (context) => {
  const { id } = context.requestPayload
  await context.run('pack', () => `packed ${id}`)
  await context.sleep('wait for the carrier', '1d')
  return await context.run('ship', () => `shipped ${id}`)
}).handler
