import { setupServer } from 'msw/node'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { mswHandlers } from '../../src/adapters/msw.js'
import { fastNetwork } from '../../src/adapters/msw-fast.js'
import { adapterContract } from '../support/adapter-contract.js'

adapterContract('sandbox.fetch', {
  passesForeign: false,
  open: async (world) => {
    let closed = false
    return {
      fetch: (input, init) => (closed ? Promise.reject(new TypeError('closed')) : world.fetch(input, init)),
      close: () => {
        closed = true
      },
    }
  },
})

adapterContract('stuntdouble/fetch', {
  passesForeign: true,
  open: async (world) => {
    const restore = replaceFetch(world)
    return { fetch: async (input, init) => globalThis.fetch(input, init), close: restore }
  },
})

adapterContract('stuntdouble/msw with msw/node', {
  passesForeign: true,
  open: async (world) => {
    const server = setupServer(...mswHandlers(world))
    server.listen({ onUnhandledFrame: 'bypass' })
    return { fetch: async (input, init) => globalThis.fetch(input, init), close: () => server.close() }
  },
})

adapterContract('stuntdouble/msw/fast', {
  passesForeign: true,
  open: async (world) => {
    const network = fastNetwork(world, { onUnhandledFrame: 'bypass' })
    await network.enable()
    return { fetch: async (input, init) => globalThis.fetch(input, init), close: () => network.disable() }
  },
})
