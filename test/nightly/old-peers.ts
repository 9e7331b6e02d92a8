// Installs the packed package with npm together with peers that are older than the supported ones. npm must install it, each
// entry must say what to do, and everything that does not need the peer must work.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packedInto } from '../runtimes/install-runtime.ts'

interface Case {
  /** What npm installs with the package. */
  readonly packages: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** Words of a command, which starts with a program of an installed package, and what it prints. */
  readonly run: readonly string[]
  readonly prints: RegExp
}

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-old-peers-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))
const tarball = packedInto(place)

/** Imports the entry of a peer in both formats. `stuntdouble/fetch` must load with the peer. */
function entry(name: string, version: string, message: string): Case {
  const program = (load: string): string => `(async () => {
  const { replaceFetch } = ${load}('stuntdouble/fetch')
  if (typeof replaceFetch !== 'function') throw new Error('stuntdouble/fetch did not load.')
  try { ${load}('stuntdouble/${name}'); console.log('No error.') } catch (error) { console.log(error.message) }
})()
`
  const escaped = message.replace(/[.()]/g, '\\$&')
  return {
    packages: [`${name}@${version}`],
    files: { 'entry.mjs': program('await import'), 'entry.cjs': program('require'), 'both.cjs': both },
    run: ['node', 'both.cjs'],
    prints: new RegExp(`^${escaped}\n${escaped}\n$`),
  }
}

const both = "require('./entry.cjs')\nimport('./entry.mjs')\n"

const order = `
test('an order is delivered', async () => {
  sandbox.destinations.script('https://shop.test/orders', [200])
  sandbox.queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } })
  await sandbox.clock.drain()
  expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', status: 200 })
})
`

const cases: readonly Case[] = [
  entry(
    'nock',
    '13.5.6',
    'stuntdouble/nock needs nock 14 or newer (installed: 13.5.6). Update nock, or use stuntdouble/fetch.',
  ),
  entry(
    'msw',
    '1.3.5',
    'stuntdouble/msw needs msw 2 or newer (installed: 1.3.5). Update msw, or use stuntdouble/fetch.',
  ),
  entry(
    'fast-check',
    '2.25.0',
    'stuntdouble/fast-check needs fast-check 3 or newer (installed: 2.25.0). Update fast-check, or use stuntdouble/checks, which does not need it.',
  ),
  {
    packages: ['@playwright/test@1.49.1'],
    files: {
      'order.spec.js': `const { expect, test } = require('stuntdouble/playwright')\n${order.replace('async ()', 'async ({ sandbox })')}`,
    },
    run: ['playwright', 'test'],
    prints: /1 passed/,
  },
  {
    packages: ['jest@28.1.3'],
    files: {
      'order.test.js': `const sandbox = require('stuntdouble/jest').useSandbox()\n${order}`,
    },
    run: ['jest', '--ci'],
    prints: /Tests: +1 passed/,
  },
  {
    packages: ['vitest@2.1.9'],
    files: {
      'order.test.mjs': `import { expect, test } from 'vitest'
import { test as own, useSandbox } from 'stuntdouble/vitest'

const sandbox = useSandbox()
${order}
test('override() says what to do', () => {
  expect(() => own.override('sandboxOptions', {})).toThrow(
    'test.override() needs vitest 3.2 or newer (installed: 2.1.9). Update vitest, or pass the options to useSandbox().',
  )
})
`,
    },
    run: ['vitest', 'run'],
    prints: /Tests +2 passed/,
  },
  {
    // The usual compiler options of ts-jest.
    packages: ['typescript@5.9.3', '@types/node@22'],
    files: {
      'app.ts': `import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { startServer } from 'stuntdouble/server'

const sandbox: Sandbox = createSandbox()
replaceFetch(sandbox)
export const started: typeof startServer = startServer
`,
    },
    run: [
      'tsc',
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--lib',
      'es2023,esnext.disposable,dom,dom.asynciterable',
      '--module',
      'commonjs',
      '--moduleResolution',
      'node',
      '--esModuleInterop',
      '--skipLibCheck',
      'false',
      '--skipDefaultLibCheck',
      'app.ts',
    ],
    prints: /^$/,
  },
]

for (const { packages, files = {}, run, prints } of cases) {
  const name = packages[0]!
  const folder = join(place, name.replace('/', '-'))
  for (const [path, text] of Object.entries({ 'package.json': '{ "private": true }', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const options = ['--save-dev', '--no-audit', '--no-fund', '--prefer-offline']
  const installed = started('npm', ['install', ...options, tarball, ...packages], folder)
  if (/\bE(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NOTCACHED)\b/.test(installed.stderr)) {
    console.log(`Skipped. npm cannot reach a registry to install ${name}.`)
    process.exit(0)
  }
  assert.equal(installed.status, 0, `${name}: npm install failed.\n${installed.stderr}`)
  const [command = '', ...words] = run
  const program = command === 'node' ? process.execPath : join(folder, 'node_modules/.bin', command)
  const { status, stdout, stderr } = started(program, words, folder)
  // Jest prints its summary to stderr.
  const output = command === 'jest' ? stderr : stdout
  assert.equal(status, 0, `${name}: ${run.join(' ')} failed.\n${stdout}\n${stderr}`)
  assert.match(output, prints, name)
  console.log(`${name}: as expected.`)
}

function started(program: string, words: readonly string[], cwd: string) {
  const env = { ...process.env, NO_COLOR: '1', CI: '1' }
  return spawnSync(program, words, { cwd, env, encoding: 'utf8', timeout: 300_000 })
}
