// Size of the core in a page: the bundle of its entry with all imports, minified and compressed.
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import type { Figure, Variant } from '../harness.ts'

let size = 0

/** Excludes modules that are loaded on demand, such as the search engine. */
const withoutWhatIsAskedFor: Plugin = {
  name: 'without-what-is-asked-for',
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ path, kind }) => (kind === 'dynamic-import' ? { path, external: true } : undefined)),
}

function bundle(name: string, entry: string): Variant {
  return {
    name,
    async run() {
      const { outputFiles } = await build({
        stdin: { contents: entry, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'browser',
        write: false,
        plugins: [withoutWhatIsAskedFor],
      })
      size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length
    },
  }
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
    within: { stuntdouble: 391_000 },
  }
}

export const figures = [core]
