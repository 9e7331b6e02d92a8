// Cost of a separate sandbox for each test.
import { createSandbox } from 'stuntdouble'
import type { Figure } from '../harness.ts'

function sandbox(): Figure {
  return {
    name: 'create and dispose a sandbox, over a new Map',
    baseline: {
      name: 'new Map',
      run(times) {
        for (let count = 0; count < times; count++) new Map([[count, count]])
      },
    },
    variants: [
      {
        name: 'sandbox',
        run(times) {
          for (let count = 0; count < times; count++) {
            const sandbox = createSandbox()
            // The first use creates the parts of the sandbox.
            sandbox.clock.now()
            sandbox.dispose()
          }
        },
      },
    ],
    // Cheap enough for one sandbox per test.
    within: { sandbox: 1000 },
  }
}

/** A user's request, over one to a sandbox without a journal. */
function journal(): Figure {
  const requests = (keeps: boolean) => ({
    name: keeps ? 'with a journal' : 'without',
    async run(times: number) {
      using world = createSandbox({ journal: keeps })
      const { urls, tokens } = world
      const headers = { authorization: `Bearer ${tokens.store}` }
      const call = { method: 'POST', headers, body: '["SET","key","value"]' }
      for (let count = 0; count < times; count++) await (await world.fetch(urls.store, call)).json()
    },
  })
  return {
    name: 'a request that the journal keeps, over one that it does not',
    baseline: requests(false),
    variants: [requests(true)],
    times: 2_000,
    atMost: { 'with a journal': 1.05 },
  }
}

export const figures = [sandbox, journal]
