import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Installs Bun and Deno in a folder where this machine has none. Pages that need a missing runtime name it.
 * @returns the folders of their programs
 */
export function obtainRuntimes(place: string): readonly string[] {
  return ['bun', 'deno'].flatMap((name) => {
    if (spawnSync(name, ['--version']).status === 0) return []
    const folder = join(place, name)
    const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', name]
    const { status } = spawnSync('npm', args, { stdio: 'ignore', timeout: 180_000 })
    const programs = join(folder, 'node_modules/.bin')
    if (status === 0 && spawnSync(join(programs, name), ['--version']).status === 0) return [programs]
    console.log(`${name}: not used, because it is not installed and npm could not install it.`)
    return []
  })
}
