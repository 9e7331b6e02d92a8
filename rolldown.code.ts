import { build, type Plugin, type RolldownOptions } from 'rolldown'
import {
  buildParts,
  type DeferredPart,
  deferring,
  escaped,
  type Format,
  minified,
  noMappings,
  writeParts,
} from './rolldown.deferred.ts'
import { workspaceEntries } from './test/support/bundle.ts'
import { entries, moduleEntries, programs, read } from './test/support/entries.ts'

// The code of the build in both formats, each in a few chunks. Runners such as Vitest in workerd transform each module of
// the package again in each run, so each module and each byte costs time there.

const { dependencies, peerDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>

/** Libraries whose code the chunks contain: as packages they were a fifth of what a runner transforms. */
const bundled: readonly string[] = ['@noble/hashes', 'croner', 'rou3', 'valibot']

const packages = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !bundled.includes(name))

/** Entries that need little of the core, and entries that need parts of it. What they need is in chunks of its own. */
const smallEntries: readonly string[] = ['fetch', 'msw/fast', 'stats', 'cli', 'campaign-worker']
const lightEntries: readonly string[] = [
  'nock',
  'client',
  'report',
  'matchers',
  'vitest/extend',
  'vitest4/extend',
  'jest/extend',
  'playwright/extend',
  'vitest/reporter',
  'playwright/reporter',
]

/**
 * Imports that stay imports of published files. A fixture imports its `extend` entry as it is published: in a shared
 * chunk the side effect would be lost, because package.json can name the entry as one that has side effects, but not a
 * chunk, whose name changes with its content.
 */
const publishedFiles = (ending: 'js' | 'cjs'): Plugin => ({
  name: 'published-files',
  resolveId(path, importer) {
    const extend = /matchers\/(vitest|jest|playwright)\.js$/.exec(path)
    if (importer !== undefined && extend !== null)
      return { id: `./${extend[1]}/extend.${ending}`, external: true, moduleSideEffects: true }
    const text = /\/((?:page|editor)-text)\.js$/.exec(path)
    return text === null ? undefined : { id: `./${text[1]}.cjs`, external: true }
  },
})

const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = escaped(chunk.code)
  },
}

const sources: Readonly<Record<string, string>> = { ...entries, ...moduleEntries, ...programs }

const sourcesOf = (format: Format): Record<string, string> =>
  Object.fromEntries(Object.entries(format === 'es' ? sources : entries).map(([name, source]) => [name, `./${source}`]))

/** Finds the modules that these entries load. */
function loadedWith(names: readonly string[]): { readonly plugin: Plugin; readonly has: (id: string) => boolean } {
  const seen = new Set<string>()
  const plugin: Plugin = {
    name: `loaded-with-${names[0]}`,
    buildEnd() {
      const reach = (ids: readonly string[]): void => {
        for (const id of ids) {
          if (seen.has(id)) continue
          seen.add(id)
          reach(this.getModuleInfo(id)?.importedIds ?? [])
        }
      }
      reach(names.map((name) => new URL(sources[name]!, import.meta.url).pathname))
    },
  }
  return { plugin, has: (id) => seen.has(id) }
}

/**
 * What other entries share with `stuntdouble/vitest`, in one chunk each. Each file takes a millisecond of the import in a
 * test file. The chunks need no runner, because another entry needs them too.
 */
const sharedWithVitest: readonly (readonly [chunk: string, entries: readonly string[]])[] = [
  ['adapters', ['fetch', 'msw']],
  ['serving', ['server']],
  ['matching', ['matchers']],
  ['reporting', lightEntries],
  ['fixture', ['jest']],
]

/** Builds the entries in one format. @returns what both formats share */
async function buildFormat(
  format: Format,
  given: readonly DeferredPart[] | undefined,
): Promise<readonly DeferredPart[]> {
  const ending = format === 'es' ? 'js' : 'cjs'
  const core = loadedWith(['index'])
  const light = loadedWith(lightEntries)
  const small = loadedWith(smallEntries)
  const vitest = loadedWith(['vitest'])
  const shares = sharedWithVitest.map(([name, others]) => ({ name, others: loadedWith(others) }))
  const options = {
    input: sourcesOf(format),
    platform: 'neutral',
    external: (id: string) => /^node:/.test(id) || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: { alias: workspaceEntries },
    transform: { target: ['es2023', 'node22'] },
    // Only what extends `expect` has side effects.
    treeshake: {
      moduleSideEffects: (id: string, isExternal: boolean) => (isExternal ? /\/extend\.c?js$/.test(id) : undefined),
    },
    // `import.meta` is only read where there is no `__filename`.
    checks: { emptyImportMeta: false, ineffectiveDynamicImport: false },
    plugins: [publishedFiles(ending)],
  } satisfies RolldownOptions
  const parts = given ?? (await buildParts(options))
  await build({
    ...options,
    plugins: [
      options.plugins,
      deferring(parts, format),
      ...[core, light, small, vitest, ...shares.map(({ others }) => others)].map(({ plugin }) => plugin),
      asciiOnly,
    ],
    makeAbsoluteExternalsRelative: false,
    output: {
      dir: 'dist',
      format,
      exports: 'named',
      entryFileNames: `[name].${ending}`,
      chunkFileNames: ({ isDynamicEntry }) => `${isDynamicEntry ? '' : 'chunk-'}[name]-[hash].${ending}`,
      // In CommonJS, Jest cannot run `import()`.
      dynamicImportInCjs: false,
      minify: minified,
      ...(format === 'es' && { postFooter: noMappings }),
      codeSplitting: {
        groups: [
          { name: 'base', test: (id) => core.has(id) && small.has(id), priority: 3 },
          { name: 'shared', test: (id) => core.has(id) && light.has(id), priority: 2 },
          { name: 'core', test: (id) => core.has(id), priority: 1 },
          ...shares.map(({ name, others }, at) => ({
            name,
            test: (id: string) => others.has(id) && vitest.has(id),
            priority: 0.9 - at / 10,
          })),
        ],
      },
    },
  })
  return parts
}

/** Builds the ES modules, the CommonJS files, and the deferred parts of both. */
export async function buildCode(): Promise<void> {
  const parts = await buildFormat('es', undefined)
  await buildFormat('cjs', parts)
  writeParts(parts)
}
