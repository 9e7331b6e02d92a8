import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is asked of the package's own `package.json`. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** The folder of the package. It is looked for from this file upwards, because this file moves when it is built. */
export function ownFolder(): string {
  // The module is published in both formats, and each knows its own name only.
  const self = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  for (let folder = dirname(self); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestIn(folder).name === 'stuntdouble') return folder
  }
  // A program that this module was bundled into has the package among its own, if anywhere.
  return dirname(createRequire(self).resolve('stuntdouble/package.json'))
}

export function ownManifest(): Manifest {
  return manifestIn(ownFolder())
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
