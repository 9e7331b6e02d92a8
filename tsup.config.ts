import { existsSync, rmSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'

/** Published entry → source. One key here is one row in `exports` of package.json. */
const entries: Record<string, string> = {
  index: 'src/index.ts',
  fetch: 'src/adapters/fetch.ts',
  msw: 'src/adapters/msw.ts',
  server: 'src/server/server.ts',
  matchers: 'matchers/index.ts',
  'jest/extend': 'matchers/jest.ts',
}

/** Without a CommonJS twin: a program, and what needs vitest, which is a module only. */
const moduleEntries: Record<string, string> = {
  cli: 'src/server/cli.ts',
  vitest: 'fixtures/vitest.ts',
  'vitest/extend': 'matchers/vitest.ts',
}

const common: Options = {
  // In both formats: without it each CommonJS entry gets its own copy of the classes, and instanceof breaks.
  splitting: true,
  dts: true,
  // Both formats are built side by side: what is old goes before either begins.
  clean: false,
  target: ['es2023', 'node22'],
  platform: 'neutral',
  external: [/^node:/],
  removeNodeProtocol: false,
  // tsup turns split chunks into CommonJS with sucrase, which rewrites every `??` and `?.` into a call. With tree
  // shaking on, rollup does it instead and leaves the syntax alone.
  treeshake: true,
}

export default defineConfig(() => {
  rmSync('dist', { recursive: true, force: true })
  return [
    { ...common, format: 'esm', entry: existing({ ...entries, ...moduleEntries }) },
    // Jest cannot load modules from CommonJS: the dependencies that are modules only come along.
    { ...common, format: 'cjs', entry: existing(entries), noExternal: ['@noble/hashes', 'rou3'] },
  ]
})

function existing(all: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([, source]) => existsSync(source)))
}
