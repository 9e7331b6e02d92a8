import nock, * as nockModule from 'nock'
import { nockScopes } from 'stuntdouble/nock'
import { afterAll } from 'vitest'
import { globalFetch } from './adapter.js'
import { increment, noAnswer } from './request-faults.js'
import { contractSuite } from './suite.js'
import { carriage } from './transport.js'

// In a file of its own: nock takes hold of the process as soon as it is imported.

/** Of nock 14, which `nock14.alone.full.test.ts` puts in its place, not every function is there. */
const isNock14 = !('getGetRequestBody' in nock)
const isFirst = 'isFirst' in nockModule

afterAll(() => nock.restore())

contractSuite({
  name: 'stuntdouble/nock',
  cannot: carriage['stuntdouble/nock'],
  ...(isNock14 && { echoesOnly: true }),
  // It takes whole answers.
  sight: {
    instead: {
      'half-open': { ...noAnswer, end: 20_000 },
      truncate: noAnswer,
      'truncate at once': noAnswer,
      'slow-body': { ...increment, end: 3000 },
    },
  },
  leading: {
    passesForeign: true,
    ...(isNock14 && {
      exceptions: [
        ...(['a body on GET is taken', 'errors are no TypeErrors', 'the service does not see aborts'] as const),
        ...(isFirst ? (['what was aborted before is sent'] as const) : []),
      ],
    }),
    refusesStreams: 'nock cannot carry an event stream. Use replaceFetch() from stuntdouble/fetch',
    lead: async (served) => ({ fetch: globalFetch, close: nockScopes(served) }),
  },
})
