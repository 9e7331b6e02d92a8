import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

/** Folders of `test/versions`: older versions of peers, installed as workspaces. */
export const oldVersions = ['vitest-3', 'vitest-4', 'jest-29', 'playwright-1.50', 'clients'] as const
export type OldVersions = (typeof oldVersions)[number]

/**
 * Installs the tarball into a separate project with all packages of this repository.
 * @param versions what comes from there instead
 */
export function installConsumer(tarball: string, consumer: string, versions?: OldVersions): void {
  const modules = join(consumer, 'node_modules')
  const own = join(modules, 'stuntdouble')
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  const beside = new Map(installed(join(root, 'node_modules')))
  if (versions !== undefined) {
    for (const [name, path] of installed(join(root, 'test/versions', versions, 'node_modules'))) beside.set(name, path)
  }
  beside.delete('stuntdouble')
  for (const [name, path] of beside) symlinkSync(path, join(modules, name))
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true }))
}

/** Returns packages and scopes by name. */
function installed(modules: string): [name: string, path: string][] {
  return readdirSync(modules).map((name) => [name, join(modules, name)])
}
