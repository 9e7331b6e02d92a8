import { setupServer } from 'msw/node'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { type ConnectingAdapter, globalFetch } from '../adapter.js'
import { type FaultVisibility, increment, noAnswer } from '../request-faults.js'
import { unsupported } from '../transport.js'

/** msw passes a response on when the first bytes of its body have arrived. */
const mswVisibility: FaultVisibility = {
  instead: {
    'half-open': { ...noAnswer, end: 20_000 },
    'truncate at once': noAnswer,
    'slow-body': { ...increment, head: 250, end: 3000 },
  },
  networkErrors: /^/,
  streams: 'break quietly',
}

export const msw: ConnectingAdapter = {
  name: 'stuntdouble/msw',
  cannot: unsupported['stuntdouble/msw'],
  visibility: mswVisibility,
  connector: {
    passesOtherOrigins: true,
    connect: async (target) => {
      const server = setupServer(...mswHandlers(target))
      server.listen({ onUnhandledFrame: 'bypass' })
      return { fetch: globalFetch, close: () => server.close() }
    },
  },
}

export const mswFast: ConnectingAdapter = {
  name: 'stuntdouble/msw/fast',
  cannot: {},
  connector: {
    passesOtherOrigins: true,
    connect: async (target) => {
      const network = fastNetwork(target, { onUnhandledFrame: 'bypass' })
      await network.enable()
      return { fetch: globalFetch, close: () => network.disable() }
    },
  },
}
