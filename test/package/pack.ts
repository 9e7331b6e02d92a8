import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The packed tarball. */
    tarball: string
    /** A project of its own that has the packed package installed, next to everything this repository has. */
    consumer: string
  }
}

const root = new URL('../..', import.meta.url).pathname

/** Packs the build once and installs the tarball into a project of its own. */
export default function setup({ provide }: TestProject): () => void {
  if (!existsSync(join(root, 'dist/index.d.cts'))) {
    throw new Error('There is no build to test: run `npm run build` first, or `npm run test:package`, which does.')
  }
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-package-'))
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', place], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  const tarball = join(place, filename)
  const consumer = join(place, 'consumer')
  install(tarball, consumer)
  provide('tarball', tarball)
  provide('consumer', consumer)
  return () => rmSync(place, { recursive: true, force: true })
}

function install(tarball: string, consumer: string): void {
  const modules = join(consumer, 'node_modules')
  const own = join(modules, 'stuntdouble')
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== 'stuntdouble') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true }))
}
