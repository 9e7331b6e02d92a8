// Benefit of the guidance of assertResilient: runs until it reaches 95 % of what random plans reach in 10,000 runs,
// over the runs that random plans need for that. One seed per round; `STUNTDOUBLE_SEEDS=5` uses fewer seeds.
import { assertResilient, type Coverage } from 'stuntdouble/fast-check'
import { line, saga } from '../coverage-apps.ts'
import type { Figure } from '../harness.ts'

const most = 10_000
const share = 0.95

type App = typeof saga

async function explored(app: App, seed: number, guidance: 'none' | 'coverage', runs: number): Promise<Coverage> {
  return (await assertResilient({ ...app, seed, guidance, runs, includeExhausted: true })).coverage
}

/** Returns the run in which this many cells had been reached. */
function runOf({ cells }: Coverage, count: number): number {
  return cells.map(({ run }) => run).sort((a, b) => a - b)[count - 1] ?? Number.POSITIVE_INFINITY
}

function guided(name: string, app: App): Figure {
  const byChance = new Map<number, Promise<{ readonly runs: number; readonly cells: number }>>()
  const chance = (seed: number) => {
    const known = byChance.get(seed)
    if (known !== undefined) return known
    const found = explored(app, seed, 'none', most).then((coverage) => {
      const cells = Math.ceil(share * coverage.reached)
      return { runs: runOf(coverage, cells), cells }
    })
    byChance.set(seed, found)
    return found
  }
  const seeds = { chance: 0, guided: 0 }
  let latest = 0
  return {
    name: `guidance: ${name}, runs until 95 % of what chance reaches in ${most.toLocaleString('en-US')}`,
    baseline: {
      name: 'chance',
      run: async () => {
        latest = (await chance(++seeds.chance)).runs
      },
    },
    variants: [
      {
        name: 'guided',
        run: async () => {
          const seed = ++seeds.guided
          const { cells } = await chance(seed)
          // In steps, because most seeds need few runs.
          for (let runs = 1000; runs <= most; runs *= 2) {
            latest = runOf(await explored(app, seed, 'coverage', runs), cells)
            if (Number.isFinite(latest)) break
          }
        },
      },
    ],
    rounds: Number(process.env.STUNTDOUBLE_SEEDS ?? 20),
    times: 1,
    unit: 'runs',
    reading: () => latest,
    atMost: { guided: 0.2 },
  }
}

function orderSaga(): Figure {
  return guided('an order saga', saga)
}

function meterLine(): Figure {
  return guided('readings in a line', line)
}

export const long = [orderSaga, meterLine]
