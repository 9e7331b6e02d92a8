/** Where a fault can strike. */
export const faultPoints = [
  'store.request',
  'store.command',
  'queue.request',
  'queue.delivery',
  'queue.callback',
  'stats.request',
  'stream.open',
  'stream.event',
  'schedule.fire',
] as const
export type FaultPoint = (typeof faultPoints)[number]

export type RequestPoint = 'store.request' | 'queue.request' | 'stats.request' | 'stream.open'
export type DeliveryPoint = 'queue.delivery' | 'queue.callback'
