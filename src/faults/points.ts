/** Injection points: named places in the services where fault rules are evaluated. */
export const injectionPoints = [
  'store.request',
  'store.command',
  'queue.request',
  'queue.delivery',
  'queue.callback',
  'stats.request',
  'outbound.request',
  'stream.open',
  'stream.event',
  'schedule.fire',
  'workflow.step',
  'workflow.call',
  'workflow.wait',
] as const
/** Name of an injection point, such as `queue.delivery`. */
export type InjectionPoint = (typeof injectionPoints)[number]

export type RequestInjectionPoint =
  | 'store.request'
  | 'queue.request'
  | 'stats.request'
  | 'outbound.request'
  | 'stream.open'
  | 'workflow.wait'

export const deliveryPoints = ['queue.delivery', 'queue.callback', 'workflow.step', 'workflow.call'] as const
/** An injection point of deliveries. */
export type DeliveryInjectionPoint = (typeof deliveryPoints)[number]
