import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The fields of this package's `package.json` that commands use. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * Returns the root folder of the package `stuntdouble`. The search begins in the folder of this file and continues
 * upward, because the build moves the file.
 */
export function ownFolder(): string {
  // This module is published as CommonJS and as ESM. CommonJS has only `__filename`, and ESM has only
  // `import.meta.url`.
  const self = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  for (let folder = dirname(self); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && manifestIn(folder).name === 'stuntdouble') return folder
  }
  // If another program bundles this module, no folder above this file belongs to `stuntdouble`. Then resolve
  // `stuntdouble` as a dependency of that program.
  return dirname(createRequire(self).resolve('stuntdouble/package.json'))
}

export function ownManifest(): Manifest {
  return manifestIn(ownFolder())
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
