import { type Order, order } from '../order.js'
import { pendingOf, timeOf } from './clock.js'
import { nothing } from './schemas.js'

export const worldOrders: readonly Order[] = [
  {
    method: 'GET',
    path: '',
    summary: 'Addresses, environment, tokens, time and pending timers of the tenant.',
    run: (sandbox) => ({
      ...timeOf(sandbox),
      addresses: sandbox.addresses,
      env: sandbox.env,
      tokens: sandbox.tokens,
      pending: pendingOf(sandbox),
    }),
  },
  order({
    method: 'POST',
    path: '/reset',
    summary: 'Makes the world as new: same seed, same start, nothing stored, nothing pending.',
    body: nothing,
    run: (sandbox) => {
      sandbox.reset()
      return timeOf(sandbox)
    },
  }),
]
