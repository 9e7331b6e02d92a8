import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = new URL('../..', import.meta.url).pathname
export const here = new URL('.', import.meta.url).pathname

/** Folders of test/runtimes that have packages of their own. */
export const folders: readonly string[] = readdirSync(here).filter((name) =>
  existsSync(join(here, name, 'package.json')),
)

/** Packs the build into a file of a folder, once. */
export function packedInto(place: string): string {
  const tarball = join(place, 'stuntdouble.tgz')
  if (existsSync(tarball)) return tarball
  if (!existsSync(join(root, 'dist/index.cjs')))
    throw new Error('There is no build to test: run `npm run build` first.')
  mkdirSync(place, { recursive: true })
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place]
  const packed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  cpSync(join(place, filename), tarball)
  return tarball
}

/**
 * Installs the packages of a runtime and the packed build, as its lock file lists them. A folder that is installed
 * already stays as it is.
 * @param place folder for all runtimes, outside of this repository
 * @returns the folder, or `undefined` if npm could not install the packages
 */
export function installRuntime(folder: string, place: string): string | undefined {
  const own = join(place, folder)
  const done = join(own, 'installed')
  if (existsSync(done)) return own
  mkdirSync(own, { recursive: true })
  cpSync(join(here, folder), own, { recursive: true })
  cpSync(packedInto(place), join(own, 'stuntdouble.tgz'))
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: own,
    stdio: 'ignore',
    timeout: 300_000,
  })
  if (status !== 0) return undefined
  writeFileSync(done, '')
  return own
}

/** Returns the folder of a runtime that the nightly has installed, or `undefined`. */
export function installedRuntime(folder: string): string | undefined {
  const own = join(process.env.STUNTDOUBLE_RUNTIMES ?? '', folder)
  return existsSync(join(own, 'installed')) ? own : undefined
}
