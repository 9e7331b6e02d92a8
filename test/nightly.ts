// `npm run test:nightly`, after a build: each page with each version of its runner, Bun and Deno among them, the builds
// of frameworks, redis-py, a cluster simulated and in a storm, and the tests of redis-server. What cannot run here is told
// in one sentence; what runs and fails ends it with 1. Runs on Node's type stripping, so its syntax is erasable.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('..', import.meta.url).pathname
const recipes = join(root, 'examples/recipes')
const place = mkdtempSync(join(tmpdir(), 'stuntdouble-nightly-'))
const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', STUNTDOUBLE_WALKS: 'all' }
const failed: string[] = []
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

try {
  for (const runtime of ['bun', 'deno']) obtain(runtime)
  ran('pages of docs', [vitest, 'run', '--project', 'package', 'test/package/walks'])
  for (const name of readdirSync(recipes)) {
    const program = join(recipes, name, 'nightly.ts')
    if (existsSync(program)) ran(`recipe ${name}`, [program])
  }
  ran('redis-py', [join(root, 'test/nightly/redis-py.ts')])
  ran(
    'a thousand seeds of a cluster in trouble',
    [vitest, 'run', '--project', 'unit', 'test/cluster/ownership/simulation', '--testTimeout', '3600000'],
    { SEEDS: '1000' },
  )
  ran(
    'five minutes of storm over a cluster',
    [vitest, 'run', '--project', 'unit', 'test/cluster/storm.alone.nightly.test.ts'],
    {
      STUNTDOUBLE_STORM_SECONDS: '300',
    },
  )
  ran('tests of redis-server', [join(root, 'test/nightly/redis-suite.ts')])
} finally {
  rmSync(place, { recursive: true, force: true })
}
console.log(failed.length === 0 ? '\nEverything that could run has passed.' : `\nFailed: ${failed.join(', ')}.`)
process.exitCode = failed.length === 0 ? 0 : 1

/** A runtime of JavaScript that comes as a package; where it does not come, the pages that need it say so. */
function obtain(name: string): void {
  if (spawnSync(name, ['--version']).status === 0) return
  const folder = join(place, name)
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', name]
  const { status } = spawnSync('npm', args, { stdio: 'ignore', env, timeout: 180_000 })
  const programs = join(folder, 'node_modules/.bin')
  if (status !== 0 || spawnSync(join(programs, name), ['--version']).status !== 0)
    console.log(`${name}: not run, because it is not installed and npm could not install it.`)
  else env.PATH = `${programs}:${env.PATH}`
}

function ran(what: string, args: string[], more: Readonly<Record<string, string>> = {}): void {
  console.log(`\n── ${what}`)
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd: root, env: { ...env, ...more }, stdio: 'inherit' })
  console.log(`${what}: ${status === 0 ? 'ended well' : 'failed'}, ${Math.round((performance.now() - start) / 1000)} s`)
  if (status !== 0) failed.push(what)
}
