import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { installConsumer, type OldVersions, oldVersions } from './consumer.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The packed tarball. */
    tarball: string
    /** A separate project with the packed package and all packages of this repository. */
    consumer: string
    /** The same project with older versions of peers. */
    consumers: Readonly<Record<OldVersions, string>>
  }
}

const root = new URL('../..', import.meta.url).pathname

/** Packs the build once and installs the tarball into a separate project. */
export default function setup({ provide }: TestProject): () => void {
  if (!existsSync(join(root, 'dist/index.cjs'))) {
    throw new Error('There is no build to test: run `npm run build` first.')
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
  installConsumer(tarball, consumer)
  provide('tarball', tarball)
  provide('consumer', consumer)
  const consumers = Object.fromEntries(oldVersions.map((versions) => [versions, join(place, versions)]))
  for (const versions of oldVersions) installConsumer(tarball, consumers[versions]!, versions)
  provide('consumers', consumers as Record<OldVersions, string>)
  return () => rmSync(place, { recursive: true, force: true })
}
