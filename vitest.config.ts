import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { entries, moduleEntries, specifierOf } from './test/support/entries.ts'

/** Tests and examples import the package by its own name; here that name means the sources. */
export const alias = Object.entries({ ...entries, ...moduleEntries }).map(([name, source]) => ({
  find: new RegExp(`^${specifierOf(name)}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}))

const root = ['test/**/', 'packages/*/test/**/', 'examples/**/']
// Old versions of the runners are installed below `test/versions`, and some packages ship their own tests.
const others = ['**/node_modules/**', 'test/package/**', 'test/twin/**', 'examples/recipes/emulate/**']

/**
 * The name of a file says its tier and whether it needs a process of its own: `x.test.ts`, `x.alone.full.test.ts`.
 * Files without `.alone` share processes, so that modules are loaded once.
 */
const tiers = [
  { name: 'quick', suffix: '', exclude: ['**/*.{alone,full,nightly}.test.ts'] },
  { name: 'full', suffix: '.full', exclude: ['**/*.alone.full.test.ts'] },
  { name: 'nightly', suffix: '.nightly', exclude: ['**/*.alone.nightly.test.ts'] },
].flatMap(({ name, suffix, exclude }) => [
  {
    name,
    include: root.map((folder) => `${folder}*${suffix}.test.ts`),
    exclude: [...others, ...exclude],
    isolate: false,
  },
  { name: `${name}-alone`, include: root.map((folder) => `${folder}*.alone${suffix}.test.ts`), exclude: others },
])

/** The two tiers of a folder whose tests need something of their own. */
const tiersOf = (folder: string) => [
  { name: `${folder}-quick`, include: [`test/${folder}/*.test.ts`], exclude: ['**/*.{full,nightly,alone}.test.ts'] },
  { name: `${folder}-full`, include: [`test/${folder}/*.full.test.ts`] },
]

export default defineConfig({
  resolve: { alias },
  test: {
    // One for each processor: by default one is left idle, which is half of a small machine.
    maxWorkers: '100%',
    // A busy machine is no failure; what hangs is still ended.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Ten tests run side by side where the fixtures are tested.
    maxConcurrency: 10,
    // The page of the inspector is a text in a module that is built.
    globalSetup: fileURLToPath(new URL('packages/inspector/build.ts', import.meta.url)),
    // Texts are compared as they are without colours, wherever the tests run.
    env: { NO_COLOR: '1' },
    setupFiles: [fileURLToPath(new URL('test/support/setup.ts', import.meta.url))],
    projects: [
      ...tiers.map((test) => ({ extends: true as const, test })),
      // What is published: packs the build, and tests the tarball. Each test is a program or more.
      ...tiersOf('package').map((test) => ({
        test: { ...test, globalSetup: 'test/package/pack.ts', maxConcurrency: 2, testTimeout: 180_000 },
      })),
      // The same commands against a real redis-server.
      ...tiersOf('twin').map((test) => ({ extends: true as const, test: { ...test, testTimeout: 120_000 } })),
    ],
  },
})
