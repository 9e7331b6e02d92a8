import { type Item, ItemSet } from './items.js'
import { readScript } from './read-scripts.js'
import { readTypes } from './read-types.js'

/** What was found in one package or in a folder of documents. */
export interface Extract {
  /** Name of the package, or `documents`. */
  readonly name: string
  readonly version: string
  readonly items: readonly Item[]
}

/**
 * Reads the declarations and the built JavaScript of a package.
 * @param files contents by path, as `readArchive()` returns them
 * @param containers names of commands that have subcommands
 * @throws Error if the package has no name and version
 */
export function readPackage(files: ReadonlyMap<string, Uint8Array>, containers: ReadonlySet<string>): Extract {
  const { name, version } = manifestOf(files)
  const found = new ItemSet()
  const paths = [...files.keys()].sort()
  // The same code is packed once for each module format.
  const suffix = paths.some((path) => path.endsWith('.mjs')) ? '.mjs' : '.js'
  for (const path of paths) {
    if (!path.endsWith(suffix) && !path.endsWith('.d.ts')) continue
    const text = new TextDecoder().decode(files.get(path)!)
    const shown = `${name.replace(/^@\w+\//, '')}/${path}`
    if (path.endsWith('.d.ts')) found.addAll(readTypes(shown, text))
    else found.addAll(readScript(shown, text, containers))
  }
  return { name, version, items: found.list() }
}

function manifestOf(files: ReadonlyMap<string, Uint8Array>): { name: string; version: string } {
  const manifest = files.get('package.json')
  if (manifest === undefined) throw new Error('the package has no package.json')
  const { name, version } = JSON.parse(new TextDecoder().decode(manifest)) as Record<string, unknown>
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new Error('its package.json has no name or version')
  return { name, version: version.replace(/^v/, '') }
}
