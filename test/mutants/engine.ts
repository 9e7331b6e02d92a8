import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { createSandbox } from 'stuntdouble'
import type { Mutant } from './table.js'

const root = new URL('../..', import.meta.url).pathname

/** The engine with a mistake in it, for one test. */
export async function mutated(mutant: Mutant, name: string): Promise<typeof createSandbox> {
  const engine = await mutatedModule<{ createSandbox: typeof createSandbox }>('src/index.ts', mutant, name)
  return engine.createSandbox
}

/**
 * Loads an entry of the package with a mistake in it. The published package knows nothing of this: the mistake is put
 * into the text of a file while it is bundled.
 */
export async function mutatedModule<M>(
  entry: string,
  { file, find, replace }: Pick<Mutant, 'file' | 'find' | 'replace'>,
  name: string,
): Promise<M> {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const places = text.split(find).length - 1
  if (places !== 1) throw new Error(`The mutant's text stands in ${file} ${places} times: ${find}`)
  // Beside the dependencies, so that they are found; a name of its own, because modules are never forgotten.
  const outfile = join(root, 'node_modules', '.cache', `stuntdouble-mutant-${process.pid}-${name}.mjs`)
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: [
      {
        name: 'mutant',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, (loaded) =>
            loaded.path === path ? { contents: text.replace(find, () => replace), loader: 'ts' } : undefined,
          )
        },
      },
    ],
  })
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as M
  } finally {
    rmSync(outfile)
  }
}
