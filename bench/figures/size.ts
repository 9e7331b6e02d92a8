// What the core costs a page: the bundle of its entry with everything it imports, minified and compressed.
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Figure, Variant } from '../harness.ts'

let size = 0

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
    within: { stuntdouble: 323_000 },
  }
}

export const figures = [core]
