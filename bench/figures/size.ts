// What the core costs a page: the bundle of its entry with everything it imports, minified and compressed.
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import type { Figure, Variant } from '../harness.ts'

let size = 0

function bundle(name: string, entry: string): Variant {
  return {
    name,
    async run() {
      const { outputFiles, metafile } = await build({
        stdin: { contents: entry, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
        bundle: true,
        splitting: true,
        metafile: true,
        outdir: 'nowhere',
        minify: true,
        format: 'esm',
        platform: 'browser',
        write: false,
      })
      const loaded = loadedWith('stdin.js', metafile.outputs)
      size = 0
      for (const { path, contents } of outputFiles) {
        if (loaded.has(basename(path))) size += gzipSync(contents, { level: 9 }).length
      }
    },
  }
}

/** The files that come with an entry; what is loaded only when somebody asks for it stays behind. */
function loadedWith(entry: string, outputs: Metafile['outputs']): ReadonlySet<string> {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]))
  const loaded = new Set<string>()
  const add = (name: string): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const { path, kind } of byName.get(name)!.imports) if (kind === 'import-statement') add(basename(path))
  }
  add(entry)
  return loaded
}

function core(): Figure {
  return {
    name: 'bundle of the whole entry for a browser, minified and compressed, over the core of msw',
    baseline: bundle('msw', "export { http } from 'msw'"),
    variants: [bundle('stuntdouble', "export * from 'stuntdouble'")],
    times: 1,
    rounds: 1,
    unit: 'B',
    reading: () => size,
    within: { stuntdouble: 323_000 },
  }
}

export const figures = [core]
