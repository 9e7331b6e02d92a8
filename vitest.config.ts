import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string): string => new URL(path, import.meta.url).pathname

/** Tests and examples import the package by its own name; here that name means the sources. */
export const alias = [
  { find: /^stuntdouble$/, replacement: source('src/index.ts') },
  { find: /^stuntdouble\/fetch$/, replacement: source('src/adapters/fetch.ts') },
  { find: /^stuntdouble\/msw$/, replacement: source('src/adapters/msw.ts') },
  { find: /^stuntdouble\/msw\/fast$/, replacement: source('src/adapters/msw-fast.ts') },
  { find: /^stuntdouble\/nock$/, replacement: source('src/adapters/nock.ts') },
  { find: /^stuntdouble\/server$/, replacement: source('src/server/server.ts') },
  { find: /^stuntdouble\/client$/, replacement: source('src/client/connect.ts') },
  { find: /^stuntdouble\/redis$/, replacement: source('src/server/redis-port/in-process.ts') },
  { find: /^stuntdouble\/engine$/, replacement: source('src/server/engine/engine-sandbox.ts') },
  { find: /^stuntdouble\/report$/, replacement: source('src/report/index.ts') },
  { find: /^stuntdouble\/matchers$/, replacement: source('matchers/index.ts') },
  { find: /^stuntdouble\/vitest$/, replacement: source('fixtures/vitest.ts') },
  { find: /^stuntdouble\/vitest\/extend$/, replacement: source('matchers/vitest.ts') },
  { find: /^stuntdouble\/vitest4\/extend$/, replacement: source('matchers/vitest4.ts') },
  { find: /^stuntdouble\/scenarios$/, replacement: source('properties/scenarios.ts') },
  { find: /^stuntdouble\/jest$/, replacement: source('fixtures/jest.ts') },
  { find: /^stuntdouble\/fast-check$/, replacement: source('properties/fast-check.ts') },
  { find: /^stuntdouble\/collections$/, replacement: source('fixtures/collections.ts') },
  { find: /^stuntdouble\/jest\/extend$/, replacement: source('matchers/jest.ts') },
  { find: /^stuntdouble\/playwright$/, replacement: source('fixtures/playwright.ts') },
  { find: /^stuntdouble\/playwright\/extend$/, replacement: source('matchers/playwright.ts') },
]

const unit = ['test/**/*.test.ts', 'examples/**/*.test.ts']
// The old versions of the runners are installed below `test/versions`, and some packages ship their own tests.
const notUnit = ['**/node_modules/**', 'test/package/**', 'test/twin/**', 'test/jest/**']

/** What takes more than two seconds for itself (mutants, fuzzing, bodies of 10 MB, programs), and what one process cannot share. */
const slow = [
  ...[
    'test/mutants/**/*.test.ts',
    'test/endurance/**/*.test.ts',
    'test/contract/**/*.test.ts',
    'test/model/**/*.test.ts',
    'test/browser/**/*.test.ts',
  ],
  ...['test/**/*{hostile,fuzz,mutants,random,programs,page,cli,rogue,slips,promises,determinism}*.test.ts'],
  ...['test/report/{large,html,trace-difference}.test.ts', 'test/secrets/planted.test.ts', 'test/house/guide.test.ts'],
  ...[
    'test/queue/{bad-handlers,every-message-ends,scale}.test.ts',
    'test/properties/{check-delivery,faults-and-turns,policies,verification,verified-places}.test.ts',
    'test/workflow/{crash-points*,dump,explore,failure-texts,forgetting,histories*,nested,replay*,scale,verbs-and-forks}.test.ts',
  ],
  // Processes of their own, and a storm over them.
  'test/cluster/{cluster,redis-engine,storm}.test.ts',
  ...['test/server/{tail,limits,mcp,state-faults,wide}.test.ts', 'test/sandbox/{damaged-dumps,real-clock}.test.ts'],
  ...['test/store/{work,surface-requests}.test.ts', 'test/store/json/{json-path,limits}.test.ts'],
  ...[
    'test/sdk/queue/real-clock.test.ts',
    'test/store/scripting/bounds.test.ts',
    'examples/usage-dashboard/**/*.test.ts',
  ],
  // These replace the host's clock, its requests or its environment.
  ...[
    'test/**/{nock,msw2}*.test.ts',
    'test/**/{*real-clock*,regions}.test.ts',
    'test/server/handles.test.ts',
    'test/matchers/colours.test.ts',
    'test/fixtures/**/*.test.ts',
    'examples/recipes/**/*.test.ts',
  ],
  ...['test/campaigns/**/*.test.ts', 'test/house/{browser-bundle,walks}.test.ts'],
  'test/cluster/ownership/simulation/*.test.ts',
  ...[
    'test/kernel/clock-moves.test.ts',
    'test/adapters/split-moves.test.ts',
    'test/sdk/store/{served,pubsub-transports}.test.ts',
  ],
]

export default defineConfig({
  resolve: { alias },
  test: {
    // One for each processor: by default one is left idle, which is half of a small machine.
    maxWorkers: '100%',
    // A busy machine is no failure; what hangs is still ended.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Ten tests run side by side where the fixtures are tested.
    maxConcurrency: 10,
    // The page of the inspector is a text in a module that is built.
    globalSetup: fileURLToPath(new URL('build-inspector.ts', import.meta.url)),
    // Texts are compared as they are without colours, wherever the tests run.
    env: { NO_COLOR: '1' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: unit,
          exclude: notUnit,
        },
      },
      // The same, for `npm test`: most files share a process, so that modules are loaded once; the others have one each.
      {
        extends: true,
        test: { name: 'shared', include: unit, exclude: [...notUnit, ...slow], isolate: false },
      },
      {
        extends: true,
        test: { name: 'alone', include: slow, exclude: notUnit },
      },
      {
        // An answer within a minute, for between two edits.
        extends: true,
        test: {
          name: 'fast',
          include: unit,
          exclude: [...notUnit, ...slow],
          setupFiles: ['test/support/few-runs.ts'],
          isolate: false,
        },
      },
      {
        // What is published: needs a build, tests the packed tarball.
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          globalSetup: 'test/package/pack.ts',
          // Each of them is a program or more.
          maxConcurrency: 2,
          testTimeout: 60_000,
        },
      },
      {
        // The same commands against a real redis-server.
        extends: true,
        test: { name: 'twin', include: ['test/twin/**/*.test.ts'], testTimeout: 60_000 },
      },
    ],
  },
})
