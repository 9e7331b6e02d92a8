import { cpSync, existsSync, rmSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { buildInspector } from './packages/inspector/build.ts'
import { workspaceEntries } from './test/support/bundle.ts'

/** Published entry → source. One key here is one row in `exports` of package.json. */
export const entries: Record<string, string> = {
  index: 'src/index.ts',
  fetch: 'src/adapters/fetch.ts',
  msw: 'src/adapters/msw.ts',
  'msw/fast': 'src/adapters/msw-fast.ts',
  nock: 'src/adapters/nock.ts',
  server: 'packages/server/src/server.ts',
  client: 'src/client/connect.ts',
  redis: 'packages/server/src/redis-port/in-process.ts',
  engine: 'packages/server/src/engine/engine-sandbox.ts',
  report: 'src/report/index.ts',
  matchers: 'matchers/index.ts',
  'fast-check': 'packages/explore/src/fast-check.ts',
  jest: 'fixtures/jest.ts',
  scenarios: 'packages/explore/src/scenarios.ts',
  'jest/extend': 'matchers/jest.ts',
  'playwright/extend': 'matchers/playwright.ts',
}

/** Without a CommonJS twin: a program, and what needs vitest or @msw/data, which are modules only. */
export const moduleEntries: Record<string, string> = {
  cli: 'packages/server/src/programs/cli.ts',
  vitest: 'fixtures/vitest.ts',
  playwright: 'fixtures/playwright.ts',
  'vitest/extend': 'matchers/vitest.ts',
  'vitest/reporter': 'fixtures/reporters/vitest.ts',
  'playwright/reporter': 'fixtures/reporters/playwright.ts',
  collections: 'fixtures/collections.ts',
}

/** With declarations that are written by hand. */
const declaredEntries: Record<string, string> = {
  'vitest4/extend': 'matchers/vitest4.ts',
}

/** Loaded by the program in threads of its own, and by nobody else. */
const threadEntries: Record<string, string> = {
  'campaign-worker': 'packages/explore/src/workers/worker.ts',
}

/** The types of our workspaces come along, as their code does: only installed packages are named. */
const types = {
  compilerOptions: {
    paths: Object.fromEntries(Object.entries(workspaceEntries).map(([name, file]) => [name, [file]])),
  },
}

const common: Options = {
  // In both formats: without it each CommonJS entry gets its own copy of the classes, and instanceof breaks.
  splitting: true,
  dts: types,
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

/**
 * A fixture imports its `extend` entry as it is published. In a shared chunk the side effect would be lost: package.json
 * can name the entry as one that has side effects, but not a chunk, whose name changes with its content.
 */
const extendEntries = (suffix: string): NonNullable<Options['esbuildPlugins']>[number] => ({
  name: 'extend-entries',
  setup(build) {
    build.onResolve({ filter: /matchers\/(?:vitest|jest|playwright)\.js$/ }, ({ path, kind }) => {
      const runner = /(\w+)\.js$/.exec(path)?.[1]
      return kind === 'entry-point'
        ? undefined
        : { path: `./${runner}/extend.${suffix}`, external: true, sideEffects: true }
    })
  },
})

/** Jest runs CommonJS where `import()` does not work: what is loaded on demand is required on demand. */
const requiredOnDemand: NonNullable<Options['plugins']>[number] = {
  name: 'required-on-demand',
  renderChunk: (code) => ({
    code: code.replace(
      /\bimport\((["'](?:\.\/[\w-]+\.cjs|@orama\/stemmers\/\w+)["'])\)/g,
      'Promise.resolve().then(() => require($1))',
    ),
  }),
}

export default defineConfig(async () => {
  await buildInspector()
  rmSync('dist', { recursive: true, force: true })
  cpSync('packages/server/scenarios', 'dist/scenarios', { recursive: true })
  cpSync('matchers/vitest4-types.d.ts', 'dist/vitest4/extend.d.ts')
  return [
    {
      ...common,
      format: 'esm',
      entry: existing({ ...entries, ...moduleEntries, ...declaredEntries, ...threadEntries }),
      // Workspaces are ours: their types come along.
      dts: { ...types, entry: existing({ ...entries, ...moduleEntries }) },
      esbuildPlugins: [extendEntries('js')],
    },
    // Jest cannot load modules from CommonJS: the dependencies that are modules only come along.
    {
      ...common,
      format: 'cjs',
      entry: existing(entries),
      noExternal: ['@noble/hashes', 'rou3'],
      esbuildPlugins: [extendEntries('cjs')],
      plugins: [requiredOnDemand],
    },
  ]
})

function existing(all: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([, source]) => existsSync(source)))
}
