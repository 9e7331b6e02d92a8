import { expect, test } from 'vitest'
import { runs } from '../../../../../../test/support/effort.js'
import { simulate } from './simulation.js'

const seeds = runs(20, 20, 1000)

test(`${seeds} seeds with disruptions have no violation and are repeatable`, { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const first = await simulate(seed)
    expect(first.breaches, `seed ${seed}`).toEqual([])
    const second = await simulate(seed)
    expect(second.history === first.history, `seed ${seed} has two histories`).toBe(true)
  }
})
