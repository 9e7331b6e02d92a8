// Renews the lock files of the runtimes after a change of their package.json: `node test/runtimes/lock-runtimes.ts`.
// Names of folders select some of them.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folders, here, packedInto, root } from './install-runtime.ts'

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-locks-'))
const wanted = process.argv.slice(2)
for (const folder of wanted.length > 0 ? wanted : folders) {
  const own = join(place, folder)
  mkdirSync(own)
  copyFileSync(join(here, folder, 'package.json'), join(own, 'package.json'))
  copyFileSync(join(root, '.npmrc'), join(own, '.npmrc'))
  copyFileSync(packedInto(place), join(own, 'stuntdouble.tgz'))
  execFileSync('npm', ['install', '--package-lock-only'], { cwd: own, stdio: 'inherit' })
  const lock = JSON.parse(readFileSync(join(own, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Record<string, unknown>>
  }
  // Each build has other bytes.
  delete lock.packages['node_modules/stuntdouble']!.integrity
  writeFileSync(join(here, folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
}
rmSync(place, { recursive: true, force: true })
