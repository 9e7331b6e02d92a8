import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'

// Imports a dead letter of production, and runs the generated test in the real runners.

const consumer = inject('consumer')

const letter = {
  messageId: 'msg_4711',
  url: 'https://shop.example.org/api/orders',
  header: { 'Content-Type': ['application/json'] },
  body: '{"id":4711}',
  maxRetries: 1,
  createdAt: 1725323658000,
  dlqId: '1725323670000-0',
  responseStatus: 500,
  responseBody: 'no sku',
}

/** The app of the example, in both languages. */
const route = (mended: boolean): string =>
  `async function POST(request) {
  const { id } = await request.json()
  return ${mended} ? new Response('order ' + id) : new Response('no sku', { status: 500 })
}`

const runners = [
  {
    flag: '--test',
    file: 'order.test.ts',
    script: 'vitest/vitest.mjs',
    args: ['run', '--root', '.'],
    route: (mended: boolean) => ({ 'route.js': `export ${route(mended)}\n` }),
    handler: "import { POST as handler } from './route.js'",
  },
  {
    flag: '--jest',
    file: 'order.test.cjs',
    script: 'jest/bin/jest.js',
    args: ['--rootDir', '.', '--testMatch', '**/*.test.cjs', '--no-watchman'],
    route: (mended: boolean) => ({ 'route.cjs': `${route(mended)}\nmodule.exports = { POST }\n` }),
    handler: "const { POST: handler } = require('./route.cjs')",
  },
]

test.each(runners)(
  'import $flag writes a test that asks for the code, fails like production and passes after the fix',
  (runner) => {
    const place = join(consumer, `import${runner.flag}`)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
    const node = (script: string, ...args: string[]) =>
      spawnSync(process.execPath, [join(consumer, 'node_modules', script), ...args], {
        cwd: place,
        encoding: 'utf8',
        input: JSON.stringify(letter),
        env: { ...process.env, NO_COLOR: '1', CI: '1' },
      })
    const out = runner.file.endsWith('.ts') ? [] : ['--out', runner.file]
    const { stdout, status, stderr } = node('stuntdouble/dist/cli.js', 'import', '-', runner.flag, ...out)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('Put your handler into the line') })
    const placeholder = 'const handler = undefined // responds at https://shop.example.org/api/orders'
    const written = out.length === 0 ? stdout : readFileSync(join(place, runner.file), 'utf8')
    expect(written.split('\n')).toContain(placeholder)

    const outcome = (source: string): string => {
      writeFileSync(join(place, runner.file), source)
      const run = node(runner.script, ...runner.args)
      return run.status === 0 ? 'passes' : run.stdout + run.stderr
    }
    expect(outcome(written)).toContain('Put your handler for https://shop.example.org/api/orders into line')
    const filledIn = written.replace(placeholder, runner.handler)
    for (const mended of [false, true]) {
      for (const [name, source] of Object.entries(runner.route(mended))) writeFileSync(join(place, name), source)
      const text = mended
        ? 'passes'
        : 'Now:       the code under test, at attempt 1: 500 "no sku". It still fails as recorded.'
      expect(outcome(filledIn)).toContain(text)
    }
  },
  120_000,
)
