import nock, * as nockModule from 'nock'
import { nockScopes } from 'stuntdouble/nock'
import { type ConnectingAdapter, globalFetch } from '../adapter.js'
import { increment, noAnswer } from '../request-faults.js'
import { unsupported } from '../transport.js'

// Only for files with a process of their own, because importing nock replaces the network of the process.

/** nock 14, which `nock14.alone.full.test.ts` substitutes, lacks some functions. */
const isNock14 = !('getGetRequestBody' in nock)
const isOldestNock14 = 'isOldestNock14' in nockModule

/** The version that is imported as `nock`. */
export const nockAdapter: ConnectingAdapter = {
  name: 'stuntdouble/nock',
  cannot: unsupported['stuntdouble/nock'],
  ...(isNock14 && { echoesOnly: true }),
  // nock takes complete responses only.
  visibility: {
    instead: {
      'half-open': { ...noAnswer, end: 20_000 },
      truncate: noAnswer,
      'truncate at once': noAnswer,
      'slow-body': { ...increment, end: 3000 },
    },
  },
  connector: {
    passesOtherOrigins: true,
    ...(isNock14 && {
      exceptions: [
        ...(['a body on GET is taken', 'errors are no TypeErrors', 'the service does not see aborts'] as const),
        ...(isOldestNock14 ? (['what was aborted before is sent'] as const) : []),
      ],
    }),
    streamError: 'nock does not support event streams. Use replaceFetch() from stuntdouble/fetch',
    connect: async (target) => ({ fetch: globalFetch, close: nockScopes(target) }),
  },
}

export const restoreNock = (): void => nock.restore()
