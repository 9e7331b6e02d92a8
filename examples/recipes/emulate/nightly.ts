// The cases of app.test.ts outside of the repository, with the packed package and the real emulate. emulate has its own
// lock file, so that `npm ci` of the repository does not install it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installConsumer } from '../../../test/package/consumer.ts'
import { typeErrors } from '../../../test/package/walk.ts'
import { filesOf } from '../../../test/support/recipe-pages.ts'
import { build, needs } from '../programs.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
needs({})

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-emulate-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))
const folder = (name: string): string => {
  const path = join(place, name)
  mkdirSync(path)
  return path
}
const npm = (cwd: string, ...words: string[]) => spawnSync('npm', words, { cwd, encoding: 'utf8', timeout: 180_000 })

const locked = folder('locked')
for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(here, file), join(locked, file))
const { status, stderr } = npm(locked, 'ci', '--no-audit', '--no-fund')
if (/\bE(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NOTCACHED)\b/.test(stderr)) {
  console.log('Skipped. npm cannot reach a registry to install emulate.')
  process.exit(0)
}
assert.equal(status, 0, stderr)

const packed = folder('packed')
assert.equal(npm(root, 'pack', '--ignore-scripts', '--pack-destination', packed).status, 0)
const [tarball = ''] = readdirSync(packed)
const app = folder('app')
installConsumer(join(packed, tarball), app)
symlinkSync(join(locked, 'node_modules/emulate'), join(app, 'node_modules/emulate'))

const files = filesOf('emulate')
for (const file of files) copyFileSync(join(here, file), join(app, file))
writeFileSync(join(app, 'vitest.config.mjs'), "export default { test: { setupFiles: ['./sandbox.ts'] } }\n")
const options = ['--module', 'preserve', '--lib', 'es2023,esnext.disposable,dom,dom.asynciterable', '--types', 'node']
assert.equal(await typeErrors(app, files, [...options, '--allowImportingTsExtensions']), '')
build([join(app, 'node_modules/vitest/vitest.mjs'), 'run'], app, {})

console.log('The recipe runs with the packed package and emulate.')
