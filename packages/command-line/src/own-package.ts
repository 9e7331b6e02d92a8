import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Fields of the `package.json` of this package that programs read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * Returns the folder of the package. The search starts at this file and goes upwards, because the build moves the file.
 */
export function ownFolder(): string {
  // The module is published in both formats, and each one provides only its own name.
  const self = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  for (let folder = dirname(self); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestIn(folder).name === 'stuntdouble') return folder
  }
  // A program that bundles this module has the package among its own dependencies, if at all.
  return dirname(createRequire(self).resolve('stuntdouble/package.json'))
}

export function ownManifest(): Manifest {
  return manifestIn(ownFolder())
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
