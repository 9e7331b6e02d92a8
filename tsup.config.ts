import { cpSync, rmSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { buildInspector } from './packages/inspector/build.ts'
import { entries, moduleEntries, programs } from './test/support/entries.ts'

const common: Options = {
  // In both formats: without it each CommonJS entry gets its own copy of the classes, and instanceof breaks.
  splitting: true,
  // Both formats are built side by side: what is old goes before either begins.
  clean: false,
  target: ['es2023', 'node22'],
  platform: 'neutral',
  external: [/^node:/],
  removeNodeProtocol: false,
  // Names stay as they are, for stacks. It makes the package an eighth smaller.
  minifyWhitespace: true,
  // tsup turns split chunks into CommonJS with sucrase, which rewrites every `??` and `?.` into a call. With tree
  // shaking on, rollup does it instead and leaves the syntax alone. It also drops imports of chunks that nothing is taken
  // from: only what extends `expect` has side effects.
  treeshake: { moduleSideEffects: (id, isExternal) => !isExternal || /\/extend\.c?js$/.test(id) },
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
      entry: { ...entries, ...moduleEntries, ...programs },
      esbuildPlugins: [extendEntries('js')],
    },
    // Jest cannot load modules from CommonJS: the dependencies that are modules only come along.
    {
      ...common,
      format: 'cjs',
      entry: { ...entries },
      noExternal: ['@noble/hashes', 'rou3'],
      esbuildPlugins: [extendEntries('cjs')],
      plugins: [requiredOnDemand],
    },
  ]
})
