import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { copyFormats } from '../../src/report/copy/copy-forms.js'
import { hostile, randomHostile } from '../report/copy/hostile-texts.js'
import { run } from '../report/copy/loopback.js'
import { captured, capturedWorlds, hostileWorld } from '../report/copy/worlds.js'

// Copies captured traffic as tests for Jest and Playwright, and runs them in a project with the packed package.

const runners = {
  jest: {
    suffix: 'test.cjs',
    config: ['jest.config.cjs', "module.exports = { testMatch: ['<rootDir>/*.test.cjs'], transform: {} }"],
    command: ['jest'],
  },
  playwright: {
    suffix: 'spec.mjs',
    config: ['playwright.config.mjs', "export default { testMatch: '*.spec.mjs', workers: 1, reporter: 'line' }"],
    command: ['playwright', 'test'],
  },
} as const

test.each(['jest', 'playwright'] as const)(
  '%s: passes for the same traffic and fails for other traffic',
  async (name) => {
    const { suffix, config, command } = runners[name]
    const consumer = inject('consumer')
    const folder = mkdtempSync(join(consumer, `copied-${name}-`))
    try {
      const form = copyFormats.find((one) => one.name === name)!
      const worlds = [...capturedWorlds, hostileWorld([...hostile, ...randomHostile(12)])]
      const texts: string[] = []
      for (const world of worlds) {
        const trace = await captured(world)
        texts.push(form.render({ entries: trace.entries, range: [0, Number.MAX_SAFE_INTEGER] }, trace as never))
      }
      writeFileSync(join(folder, config[0]), config[1])
      for (const [at, text] of texts.entries()) writeFileSync(join(folder, `c${at}.${suffix}`), text)
      const play = () =>
        run(join(consumer, 'node_modules/.bin', command[0]), command.slice(1), {
          cwd: folder,
          env: { HOME: process.env.HOME! },
        })
      const green = await play()
      expect(green.code, green.stdout + green.stderr).toBe(0)
      expect(readdirSync(folder)).not.toContain('canary')

      writeFileSync(join(folder, `c0.${suffix}`), texts[0]!.replace('503,', '404,'))
      const red = await play()
      expect(red.code).toBe(1)
      expect(red.stdout + red.stderr).toContain('toHaveDelivered')
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
  300_000,
)
