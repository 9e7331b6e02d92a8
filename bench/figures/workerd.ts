// Cost of a test file in workerd, over an empty file. Each run is a separate Vitest without its cache, in a temporary
// project with the packed package and the pool of workerd from the registry.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Figure, Variant } from '../harness.ts'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname
let spent = 0

const config = (rules: string): string => `import { cloudflareTest } from '@cloudflare/vitest-plugin'
export default { plugins: [cloudflareTest({ miniflare: { compatibilityDate: '2026-11-01', ${rules} } })] }
`

const files: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true, "type": "module" }',
  'transformed.config.js': config(''),
  'native.config.js': config("modulesRules: [{ type: 'ESModule', include: ['**/stuntdouble/dist/**/*.js'] }]"),
  'empty.test.js': `import { test } from 'vitest'
test('nothing', () => {})
`,
  'double.test.js': `import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { sandboxMatchers } from 'stuntdouble/matchers'
import { expect, test } from 'vitest'
test('a command', () => {
  expect.extend(sandboxMatchers)
  const sandbox = createSandbox()
  replaceFetch(sandbox)
  sandbox.store.run('SET', 'a', '1')
  sandbox.dispose()
})
`,
}

/** Returns the duration that Vitest reports, which excludes the start of its process. */
function testFile(project: string, name: string, file: string, configuration: string): Variant {
  return {
    name,
    async run() {
      rmSync(join(project, 'node_modules/.vitest-cache'), { recursive: true, force: true })
      const args = [
        'node_modules/vitest/vitest.mjs',
        'run',
        `${file}.test.js`,
        '--config',
        `${configuration}.config.js`,
      ]
      const { stdout } = await run(process.execPath, args, { cwd: project, env: { ...process.env, NO_COLOR: '1' } })
      const [, amount, unit] = /Duration\s+([\d.]+)(m?s)/.exec(stdout)!
      spent = Number(amount) * (unit === 's' ? 1e6 : 1e3)
    },
  }
}

function workerd(): Figure | undefined {
  const project = mkdtempSync(join(tmpdir(), 'stuntdouble-workerd-'))
  const dispose = () => rmSync(project, { recursive: true, force: true })
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
    mkdirSync(join(project, 'packed'))
    const quiet = { cwd: root, stdio: 'ignore' } as const
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', join(project, 'packed')], quiet)
    const tarball = join(project, 'packed', readdirSync(join(project, 'packed'))[0]!)
    const packages = ['@cloudflare/vitest-plugin@1.5', 'vitest@5', tarball]
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { ...quiet, cwd: project })
  } catch {
    dispose()
    console.log('Left out: a file in workerd, because its packages cannot be installed without the registry.')
    return undefined
  }
  return {
    name: 'a test file in workerd, without a cache',
    baseline: testFile(project, 'an empty file', 'empty', 'transformed'),
    variants: [
      testFile(project, 'a file with the double', 'double', 'transformed'),
      testFile(project, 'the same with a rule for its modules', 'double', 'native'),
    ],
    atMost: { 'a file with the double': 1.5, 'the same with a rule for its modules': 1.5 },
    rounds: 5,
    times: 1,
    reading: () => spent,
    dispose,
  }
}

// Only with --long, because the installation takes minutes.
export const long = [workerd]
