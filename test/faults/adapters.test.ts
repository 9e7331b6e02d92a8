import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setupServer } from 'msw/node'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { expect, test } from 'vitest'
import { catalog } from '../../src/faults/catalog.js'
import { listener } from '../../src/server/listener.js'
import { cases, faultContract, increment, noAnswer } from '../support/fault-contract.js'

const globalFetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init)

faultContract('sandbox.fetch', async () => {
  const sandbox = createSandbox({ warn: () => {} })
  return { sandbox, fetch: sandbox.fetch as typeof globalThis.fetch }
})

faultContract('stuntdouble/fetch', async (ends) => {
  const sandbox = createSandbox({ warn: () => {} })
  ends.push(replaceFetch(sandbox))
  return { sandbox, fetch: globalFetch }
})

faultContract(
  'stuntdouble/msw',
  async (ends) => {
    const sandbox = createSandbox({ warn: () => {} })
    const server = setupServer(...mswHandlers(sandbox))
    server.listen({ onUnhandledFrame: 'error' })
    ends.push(() => server.close())
    return { sandbox, fetch: globalFetch }
  },
  {
    // It hands an answer on once it has the first bytes of its body.
    instead: {
      'half-open': { ...noAnswer, end: 20_000 },
      'truncate at once': noAnswer,
      'slow-body': { ...increment, head: 250, end: 3000 },
    },
    networkErrors: /^/,
    streams: 'break quietly',
  },
)

faultContract(
  'node:http',
  async (ends) => {
    let sandbox: Sandbox | undefined
    let base = ''
    const bugs: unknown[] = []
    const server = createServer(
      listener(
        () => base,
        (call) => sandbox!.exchange(call),
        (error) => bugs.push(error),
      ),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    ends.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      expect(bugs).toEqual([])
    })
    sandbox = createSandbox({ base, warn: () => {} })
    return { sandbox, fetch: globalThis.fetch }
  },
  // A server has been found and has accepted: all it can do is cut.
  { networkErrors: /^(ECONNRESET|UND_ERR_SOCKET)$/ },
)

test('every fault of a request is tried through every way', () => {
  const tried = new Set<string>([...cases.map(([, { kind }]) => kind), 'rate-limited', 'cut-stream', 'stall-stream'])
  const requests = Object.values(catalog).filter(({ points }) =>
    (['store.request', 'queue.request', 'stats.request', 'stream.open'] as const).some((point) =>
      points.includes(point),
    ),
  )
  expect(requests.map(({ kind }) => kind).filter((kind) => kind !== 'pass' && !tried.has(kind))).toEqual([])
})
