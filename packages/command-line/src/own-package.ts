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
 * Returns the root folder of the package `stuntdouble`. It searches from the folder of this file upwards, because the
 * build moves the file.
 */
export function ownFolder(): string {
  // This module is published as CommonJS and as ESM. CommonJS has only `__filename`, and ESM has only
  // `import.meta.url`.
  const self = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  for (let folder = dirname(self); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestIn(folder).name === 'stuntdouble') return folder
  }
  // No folder above belongs to the package if a program bundles this module. Then resolve the package as a dependency
  // of that program.
  return dirname(createRequire(self).resolve('stuntdouble/package.json'))
}

export function ownManifest(): Manifest {
  return manifestIn(ownFolder())
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
