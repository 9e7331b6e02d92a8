// What a sandbox of its own costs a test.
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
          for (let count = 0; count < times; count++) createSandbox().dispose()
        },
      },
    ],
    // So cheap that each test may have one.
    within: { sandbox: 1000 },
  }
}

/** A request to the store over one to a sandbox that keeps nothing of what comes in. */
function journal(): Figure {
  const requests = (keeps: boolean) => ({
    name: keeps ? 'with a journal' : 'without',
    run(times: number) {
      using world = createSandbox({ journal: keeps })
      const { addresses, tokens } = world
      const headers = [['authorization', `Bearer ${tokens.store}`]] as const
      const call = { method: 'POST', url: addresses.store, headers, body: () => '["SET","key","value"]' as never }
      for (let count = 0; count < times; count++) world.exchange(call)
    },
  })
  return {
    name: 'a request that the journal keeps, over one that it does not',
    baseline: requests(false),
    variants: [requests(true)],
    times: 5_000,
    // The goal is 1.05.
    within: { 'with a journal': 1.15 },
  }
}

export const figures = [sandbox, journal]
