import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { playScenario, scenarios } from '../../packages/explore/src/scenarios.js'
import { readScenario } from '../../packages/server/src/tenant-scenario/scenario-file.js'
import { fileOf } from '../support/scenario-files.js'

const directory = new URL('../../packages/server/scenarios/', import.meta.url)

describe('the built-in scenarios', () => {
  test('are ten, each with a file', () => {
    const files = readdirSync(directory).filter((file) => file.endsWith('.yaml'))
    expect(files.sort()).toEqual(
      Object.keys(scenarios)
        .map((name) => `${fileOf(name)}.yaml`)
        .sort(),
    )
    expect(files).toHaveLength(10)
  })

  test.each(Object.entries(scenarios))('%s holds', async (_, scenario) => {
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: \d+ of \d+\.$/)
    expect(play.holds).toBe(true)
    expect(play.checks.length).toBeGreaterThan(1)
  })

  test.each(Object.entries(scenarios))('%s equals its file', (name, scenario) => {
    const file = `${fileOf(name)}.yaml`
    expect(readScenario(readFileSync(new URL(file, directory), 'utf8'), file)).toEqual(scenario)
  })

  test.each(Object.entries(scenarios).filter(([, { faults }]) => faults !== undefined))(
    '%s without its faults does not hold, so its expectations can fail',
    async (_, { faults: _faults, ...calm }) => {
      const play = await playScenario(calm)
      expect(play.holds).toBe(false)
    },
  )
})
