import { existsSync } from 'node:fs'
import { defineConfig } from 'tsup'

/** Published entry → source. One key here is one row in `exports` of package.json. */
const entries: Record<string, string> = {
  index: 'src/index.ts',
  fetch: 'src/adapters/fetch.ts',
  msw: 'src/adapters/msw.ts',
  server: 'src/server/server.ts',
  cli: 'src/server/cli.ts',
  matchers: 'matchers/index.ts',
  vitest: 'fixtures/vitest.ts',
  'vitest/extend': 'matchers/vitest.ts',
}

export default defineConfig({
  entry: Object.fromEntries(Object.entries(entries).filter(([, source]) => existsSync(source))),
  format: ['esm', 'cjs'],
  // In both formats: without it each CommonJS entry gets its own copy of the classes, and instanceof breaks.
  splitting: true,
  dts: true,
  clean: true,
  target: ['es2023', 'node22'],
  platform: 'neutral',
  external: [/^node:/],
  removeNodeProtocol: false,
  // tsup turns split chunks into CommonJS with sucrase, which rewrites every `??` and `?.` into a call. With tree
  // shaking on, rollup does it instead and leaves the syntax alone.
  treeshake: true,
  sourcemap: false,
})
