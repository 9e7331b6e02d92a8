import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasEngine, startEngine } from '../../../../test/support/live-engine.js'

const root = new URL('../../../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/real-redis.md'), 'utf8')
const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!)

test('docs/real-redis.md contains programs', () => {
  expect(programs).toHaveLength(2)
})

// Each program runs without a test runner, and an unexpected result throws.
test.skipIf(!hasEngine).each(programs.map((code, at) => [at + 1, code] as const))(
  'program %i of docs/real-redis.md runs',
  async (number, code) => {
    await using engine = await startEngine()
    const folder = join(root, '.cache/engine-page')
    const file = join(folder, `program-${process.pid}-${number}.ts`)
    mkdirSync(folder, { recursive: true })
    const expecting = code.includes("from 'vitest'") ? '' : "import { expect } from 'vitest'\n"
    writeFileSync(file, expecting + code.replaceAll('redis://127.0.0.1:6379', engine.url))
    try {
      await import(/* @vite-ignore */ file)
      expect(await engine.keys()).toEqual([])
    } finally {
      rmSync(file)
    }
  },
)
