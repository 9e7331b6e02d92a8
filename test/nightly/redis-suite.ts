// Runs the tests of redis-server's own source against the Redis protocol of the store: `npm run test:nightly -- build
// redis-suite` or `node test/nightly/redis-suite.ts [unit…]`. The source is Debian's, obtained through apt and not
// kept. `redis-suite-skips.ts` lists what is left out and why. Runs on Node's type stripping, so its syntax is
// erasable.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notRun } from '../support/effort.ts'
import { deniedTags, skips, units } from './redis-suite-skips.ts'

const root = new URL('../..', import.meta.url).pathname
const place = mkdtempSync(join(tmpdir(), 'stuntdouble-redis-suite-'))
const suite = join(place, 'suite')
/** Files with the signing keys of the packages, for machines on which apt does not know them. */
const keyrings = ['debian', 'ubuntu'].map((name) => `/usr/share/keyrings/${name}-archive-keyring.gpg`)
const env: NodeJS.ProcessEnv = { ...process.env, TERM: 'dumb' }

try {
  const missing = obtained()
  if (missing !== undefined) {
    console.log(`Tests of redis-server: not run, because ${missing}.`)
    process.exitCode = notRun
  } else process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
} finally {
  rmSync(place, { recursive: true, force: true })
}

/** Returns what could not be obtained; `undefined` when everything is there. */
function obtained(): string | undefined {
  if (spawnSync('apt-get', ['--version']).status !== 0) return 'there is no apt-get here, which brings their source'
  if (spawnSync('tclsh8.6', [], { input: 'exit', env }).status !== 0 && !obtainedTcl()) {
    return 'Tcl 8.6 is not installed and apt-get could not download it'
  }
  const keys = keyrings.filter((file) => existsSync(file))
  const option = keys.length === 0 ? '' : `[signed-by=${keys.join(',')}] `
  const origins = apt('indextargets', ['--format', '$(REPO_URI) $(CODENAME) $(COMPONENT)', 'Created-By: Packages'])
  const lines = new Set(origins.stdout.split('\n').map((line) => (line === '' ? '' : `deb-src ${option}${line}`)))
  writeFileSync(join(place, 'sources.list'), [...lines, ''].join('\n'))
  for (const folder of ['lists/partial', 'cache/archives/partial', 'suite'])
    mkdirSync(join(place, folder), { recursive: true })
  const own = [
    ...['-o', `Dir::Etc::SourceList=${join(place, 'sources.list')}`, '-o', 'Dir::Etc::SourceParts=/dev/null'],
    ...['-o', `Dir::State::Lists=${join(place, 'lists')}`, '-o', `Dir::Cache=${join(place, 'cache')}`],
  ]
  const isThere = apt('update', own).status === 0 && apt('source', [...own, '--download-only', 'redis']).status === 0
  const archive = readdirSync(place).find((name) => /\.orig\.tar\.\w+$/.test(name))
  const unpack = ['xf', archive ?? '', '--strip-components=1', '-C', suite]
  if (!isThere || spawnSync('tar', unpack, { cwd: place }).status !== 0) {
    return 'apt-get could not download the source package of redis'
  }
  console.log(`Tests of redis-server: ${archive}`)
  return undefined
}

/** Takes Tcl from its packages without installing them. */
function obtainedTcl(): boolean {
  const folder = join(place, 'tcl')
  mkdirSync(folder)
  if (apt('download', ['tcl8.6', 'libtcl8.6'], folder).status !== 0) return false
  for (const file of readdirSync(folder)) spawnSync('dpkg', ['-x', file, folder], { cwd: folder })
  const libraries = join(folder, 'usr/lib')
  env.LD_LIBRARY_PATH = readdirSync(libraries, { recursive: true })
    .filter((name) => /libtcl8\.6\.so$/.test(String(name)))
    .map((name) => join(libraries, String(name), '..'))
    .join(':')
  env.TCL_LIBRARY = join(folder, 'usr/share/tcltk/tcl8.6')
  env.PATH = `${join(folder, 'usr/bin')}:${env.PATH}`
  return spawnSync('tclsh8.6', [], { input: 'exit', env }).status === 0
}

function apt(what: string, args: readonly string[], cwd: string = place): { status: number | null; stdout: string } {
  return spawnSync('apt-get', [what, ...args], { cwd, encoding: 'utf8', timeout: 300_000 })
}

/** @returns whether all tests passed, except those that are left out */
async function run(chosen: readonly string[]): Promise<boolean> {
  const { server, port } = await started()
  const skipfile = join(place, 'skips')
  const tests = skips.flatMap((skip) => skip.tests)
  writeFileSync(skipfile, `${tests.join('\n')}\n`)
  const told = chosen.length > 0 ? chosen : units
  const args = [
    ...['--host', '127.0.0.1', '--port', port, '--singledb', '--ignore-encoding', '--ignore-digest', '--durable'],
    ...['--skipfile', skipfile, '--tags', deniedTags.map((tag) => `-${tag}`).join(' '), '--timeout', '300'],
    ...told.flatMap((unit) => ['--single', unit]),
  ]
  const runner = spawn('./runtest', args, { cwd: suite, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  runner.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  let isGone = false
  server.once('exit', () => {
    isGone = true
    runner.kill()
  })
  const [status] = await once(runner, 'close')
  server.stdin?.end()
  const lines = output.split('\n')
  const beginning = (kind: string): string[] => lines.filter((line) => line.startsWith(`[${kind}]`))
  const [passed, failed, skipped] = [beginning('ok'), beginning('err'), beginning('skip')]
  console.log(`${passed.length} passed, ${skipped.length} left out by name, ${failed.length} failed.`)
  if (status !== 0) console.log(lines.filter((line) => !/^\[(?:ok|skip|ignore|testing)\]/.test(line)).join('\n'))
  if (isGone) console.log('The server ended while its tests ran.')
  // Only a complete run shows which names are unused.
  const names = skipped.map((line) => line.slice('[skip]: '.length).trim())
  const unused = chosen.length > 0 ? [] : tests.filter((test) => !names.some((name) => isOf(test, name)))
  if (unused.length > 0) console.log(`Left out, but not there: ${unused.join('; ')}`)
  return status === 0 && !isGone && passed.length > 0 && unused.length === 0
}

function isOf(test: string, name: string): boolean {
  return test.startsWith('/') ? new RegExp(test.slice(1)).test(name) : test === name
}

async function started(): Promise<{ readonly server: ChildProcess; readonly port: string }> {
  const flags = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning']
  const program = [...flags, '--import', './test/support/typescript-sources.mjs', 'test/nightly/redis-suite-server.ts']
  const server = spawn(process.execPath, program, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(server.stdout, 'data')
  return { server, port: String(port).trim() }
}
