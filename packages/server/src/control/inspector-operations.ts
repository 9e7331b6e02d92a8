import type { PageFacts } from '@stuntdouble/inspector/source'
import { HttpError } from '../../../../src/protocol/call.js'
import { visitAt } from '../inspector/visit.js'
import { type ControlOperation, order } from './operation.js'
import { nothing } from './schemas.js'

export const inspectorOrders: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/inspector',
    summary:
      'Returns the data that the inspector shows in addition to entries: name, time, clock mode, seed and URLs, and whether a test waits. For a waiting test, also the failed assertion.',
    run: (sandbox, _, { tenant, call }): PageFacts => {
      const { seed, headerPrefix, addresses } = sandbox.traffic.context
      const visit = visitAt(call.url)
      const own = visit?.tenant === tenant ? visit : undefined
      return {
        name: own?.title ?? tenant,
        now: sandbox.clock.now(),
        mode: sandbox.clock.mode,
        ...(seed !== undefined && { seed }),
        ...(headerPrefix !== undefined && { headerPrefix }),
        ...(addresses !== undefined && { addresses }),
        ...(own?.failure !== undefined && { failure: own.failure }),
        canGoOn: visit !== undefined,
      }
    },
  },
  order({
    method: 'POST',
    path: '/continue',
    summary: 'Continues the test that waits in `inspect()`; 404 if no test waits.',
    body: nothing,
    run: (_, __, { call }) => {
      const visit = visitAt(call.url)
      if (visit === undefined) {
        throw new HttpError(
          404,
          'No test waits on this server. Call inspect(sandbox) of stuntdouble/server in a test, or set STUNTDOUBLE_INSPECT=1.',
        )
      }
      visit.goOn()
    },
  }),
]
