// Memory of a small string key, over the same in a Map.
import type { Figure } from '../harness.ts'
import { loneStore, words } from '../store.ts'

const count = 200_000

/** Separate strings, as requests bring them: two keys never share a string. */
const key = (index: number): string => `user:${index}:session`
const value = (index: number): string => `value-${index}`

const kept: unknown[] = []
let used = 0

/** Returns the used memory after a garbage collection. */
function inUse(): number {
  // Twice, because the second collection frees what the first one finalizes.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function weigh(make: () => unknown): void {
  kept.length = 0
  const before = inUse()
  kept.push(make())
  used = inUse() - before
}

function perKey(): Figure {
  return {
    name: 'memory of a small string key over an entry of a Map<string, string>',
    baseline: {
      name: 'Map',
      run: (times) =>
        weigh(() => {
          const map = new Map<string, string>()
          for (let index = 0; index < times; index++) map.set(key(index), value(index))
          return map
        }),
    },
    variants: [
      {
        name: 'store',
        run: (times) =>
          weigh(() => {
            const store = loneStore()
            for (let index = 0; index < times; index++) store.execute(words('SET', key(index), value(index)))
            return store
          }),
      },
    ],
    times: count,
    rounds: 5,
    unit: 'B',
    reading: () => used,
    atMost: { store: 1.8 },
    dispose() {
      kept.length = 0
    },
  }
}

export const figures = [perKey]
