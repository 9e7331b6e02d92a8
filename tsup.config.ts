import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { minifySync } from 'rolldown/utils'
import { defineConfig, type Options } from 'tsup'
import { buildInspector } from './packages/inspector/build.ts'
import { buildModules } from './rolldown.modules.ts'
import { entries } from './test/support/entries.ts'

// The CommonJS files of the build, and what both formats share. rolldown.modules.ts builds the modules.

/**
 * A fixture imports its `extend` entry as it is published. In a shared chunk the side effect would be lost: package.json
 * can name the entry as one that has side effects, but not a chunk, whose name changes with its content.
 */
const extendEntries: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'extend-entries',
  setup(build) {
    build.onResolve({ filter: /matchers\/(?:vitest|jest|playwright)\.js$/ }, ({ path, kind }) => {
      const runner = /(\w+)\.js$/.exec(path)?.[1]
      return kind === 'entry-point' ? undefined : { path: `./${runner}/extend.cjs`, external: true, sideEffects: true }
    })
  },
}

const pageTexts = ['page-text', 'editor-text']

/** The texts of the inspector are large, so both formats share them: modules import CommonJS as well. */
const sharedPageTexts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'shared-page-texts',
  setup(build) {
    build.onResolve({ filter: /\/(?:page|editor)-text\.js$/ }, ({ path }) => ({
      path: `./${basename(path, '.js')}.cjs`,
      external: true,
    }))
  },
}

function writePageTexts(): void {
  for (const name of pageTexts) {
    const code = readFileSync(`packages/inspector/page/${name}.js`, 'utf8')
    writeFileSync(`dist/${name}.cjs`, code.replace(/^export const (\w+) =/gm, 'exports.$1 ='))
  }
}

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

/**
 * No spaces and short names for parameters and local variables, which makes the package a quarter smaller. What stands in
 * a stack keeps its name: functions, classes, methods.
 */
const shortLocals: NonNullable<Options['plugins']>[number] = {
  name: 'short-locals',
  renderChunk(code, { path }) {
    const { code: short, errors } = minifySync(path, code, {
      module: true,
      compress: false,
      mangle: { toplevel: false, keepNames: true },
    })
    if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`)
    return { code: short }
  },
}

export default defineConfig(async () => {
  await buildInspector()
  rmSync('dist', { recursive: true, force: true })
  cpSync('packages/server/scenarios', 'dist/scenarios', { recursive: true })
  cpSync('matchers/vitest4-types.d.ts', 'dist/vitest4/extend.d.ts')
  writePageTexts()
  await buildModules()
  return {
    format: 'cjs',
    entry: { ...entries },
    // Without it each entry gets its own copy of the classes, and instanceof breaks.
    splitting: true,
    clean: false,
    target: ['es2023', 'node22'],
    platform: 'neutral',
    external: [/^node:/],
    removeNodeProtocol: false,
    // tsup turns split chunks into CommonJS with sucrase, which rewrites every `??` and `?.` into a call. With tree
    // shaking on, rollup does it instead and leaves the syntax alone. It also drops imports of chunks that nothing is
    // taken from: only what extends `expect` has side effects.
    treeshake: { moduleSideEffects: (id, isExternal) => !isExternal || /\/extend\.cjs$/.test(id) },
    // Jest cannot load modules from CommonJS: the dependencies that are modules only come along.
    noExternal: ['@noble/hashes', 'rou3'],
    esbuildPlugins: [extendEntries, sharedPageTexts],
    plugins: [requiredOnDemand, shortLocals],
    // A single default export becomes the whole module, but the declarations say `default`. Jest accepts both.
    onSuccess: async () => {
      const path = 'dist/jest/reporter.cjs'
      const marked = "Object.defineProperty(exports, '__esModule', { value: true });\nexports.default ="
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^module\.exports =/m, marked))
    },
  }
})
