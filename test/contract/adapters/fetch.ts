import { replaceFetch } from 'stuntdouble/fetch'
import { type ConnectingAdapter, globalFetch } from '../adapter.js'
import { unsupported } from '../transport.js'

export const sandboxFetch: ConnectingAdapter = {
  name: 'sandbox.fetch',
  cannot: unsupported['sandbox.fetch'],
  connector: {
    passesOtherOrigins: false,
    connect: async (target) => {
      let closed = false
      return {
        fetch: (input, init) =>
          closed ? Promise.reject(new TypeError('closed')) : target.fetch(input as string, init),
        close: () => {
          closed = true
        },
      }
    },
  },
}

export const replacedFetch: ConnectingAdapter = {
  name: 'stuntdouble/fetch',
  cannot: unsupported['stuntdouble/fetch'],
  connector: {
    passesOtherOrigins: true,
    connect: async (target) => ({ fetch: globalFetch, close: replaceFetch(target) }),
  },
}
