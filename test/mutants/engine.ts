import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { createSandbox } from 'stuntdouble'
import type { Mutant } from './table.js'

const root = new URL('../..', import.meta.url).pathname

/**
 * Builds the engine with a mistake in it, for one test. The published package knows nothing of this: the mistake is put
 * into the text of a file while it is bundled.
 */
export async function mutated({ file, find, replace }: Mutant, name: string): Promise<typeof createSandbox> {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const places = text.split(find).length - 1
  if (places !== 1) throw new Error(`The mutant's text stands in ${file} ${places} times: ${find}`)
  // Beside the dependencies, so that they are found; a name of its own, because modules are never forgotten.
  const outfile = join(root, 'node_modules', '.cache', `stuntdouble-mutant-${process.pid}-${name}.mjs`)
  await build({
    entryPoints: [join(root, 'src/index.ts')],
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
    const engine = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as {
      createSandbox: typeof createSandbox
    }
    return engine.createSandbox
  } finally {
    rmSync(outfile)
  }
}
