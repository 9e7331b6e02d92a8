import nock from 'nock'
import { createSandbox } from 'stuntdouble'
import { nockScopes } from 'stuntdouble/nock'
import { afterAll } from 'vitest'
import { faultContract, increment, noAnswer } from '../support/fault-contract.js'

// In a file of its own: nock sits below everything else from the moment at which it is imported.

afterAll(() => nock.restore())

faultContract(
  'stuntdouble/nock',
  async (ends) => {
    const sandbox = createSandbox({ warn: () => {} })
    ends.push(nockScopes(sandbox))
    return { sandbox, fetch: (input, init) => globalThis.fetch(input, init) }
  },
  {
    // It takes whole answers.
    instead: {
      'half-open': { ...noAnswer, end: 20_000 },
      truncate: noAnswer,
      'truncate at once': noAnswer,
      'slow-body': { ...increment, end: 3000 },
    },
    streams: 'none',
  },
)
