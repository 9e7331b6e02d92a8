// Cost of one run of a property over deliveries: a sandbox, a publish, three attempts, and a check.
import fc from 'fast-check'
import { assertResilient } from 'stuntdouble/fast-check'
import type { Figure } from '../harness.ts'

/** Two deliveries fail, the third succeeds. */
const faults = fc.constant([{ on: 'queue.delivery', times: 2, fault: { kind: 'status', status: 503 } }] as const)

function threeAttempts(): Figure {
  const run = async (times: number): Promise<void> => {
    let attempts = 0
    await assertResilient({
      faults,
      runs: times,
      publish: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: '{"id":42}' }),
      handler: () => new Response(),
      holds: ({ traffic }) => {
        attempts += traffic.ofType('attempt').length
        return true
      },
    })
    if (attempts !== 3 * times) throw new Error(`${attempts} attempts in ${times} runs`)
  }
  return {
    name: 'assertResilient: one run of three attempts, over a property that does nothing',
    baseline: {
      name: 'an empty property',
      run: async (times) => {
        await fc.assert(
          fc.asyncProperty(faults, async () => {}),
          { numRuns: times },
        )
      },
    },
    variants: [{ name: 'assertResilient', run }],
    rounds: 9,
    times: 500,
    // 10,000 runs within 10 seconds.
    within: { assertResilient: 1000 },
  }
}

export const figures = [threeAttempts]
