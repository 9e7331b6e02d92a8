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

export const figures = [sandbox]
