import nock from 'nock'
import { createSandbox } from 'stuntdouble'
import { nockScopes } from 'stuntdouble/nock'
import { contractSuite } from './suite.js'
import { globalFetch, options } from './ways.js'

// In a file of its own: nock takes hold of the process as soon as it is imported.
contractSuite({
  name: 'stuntdouble/nock',
  open: async () => {
    const sandbox = createSandbox(options)
    nock.disableNetConnect()
    nockScopes(sandbox)
    return {
      sandbox,
      fetch: globalFetch,
      close: () => {
        sandbox.dispose()
        nock.restore()
      },
    }
  },
})
