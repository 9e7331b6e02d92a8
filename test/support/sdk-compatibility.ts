import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A version that a test runs. */
interface Run {
  /** Where npm installs this version: a key of the lock file. */
  readonly at: string
  /** The lock file, if the version is not installed by `npm ci` of the repository. */
  readonly lock?: string
  /** The test, relative to the repository. */
  readonly test: string
  /** Text by which the test, or a module that it imports, selects this version. */
  readonly by: string
}

const installed = (name: string, test: string, by = `'${name}`): Run => ({ at: `node_modules/${name}`, test, by })
const old = (folder: string, name: string, test: string, by = folder): Run => ({
  at: `test/versions/${folder}/node_modules/${name}`,
  test,
  by,
})

const walks = 'test/package/walks.full.test.ts'

/** Everything that users install, with a test for each version. */
export const compatibility: Readonly<Record<string, Readonly<Record<string, readonly Run[]>>>> = {
  'SDKs and clients': {
    '@upstash/redis': [installed('@upstash/redis', 'test/sdk/acceptance/store.test.ts')],
    '@upstash/qstash': [installed('@upstash/qstash', 'test/sdk/queue/publish.test.ts')],
    '@upstash/workflow': [installed('@upstash/workflow', 'test/workflow/sdk.test.ts')],
    '@upstash/ratelimit': [installed('@upstash/ratelimit', 'test/sdk/ratelimit.test.ts')],
    '@upstash/realtime': [installed('@upstash/realtime', 'test/sdk/realtime.test.ts')],
    '@upstash/lock': [installed('@upstash/lock', 'test/sdk/lock.test.ts')],
    ioredis: [
      installed('ioredis6', 'packages/server/test/redis-port/ioredis6.alone.full.test.ts'),
      installed('ioredis', 'packages/server/test/redis-port/clients.test.ts'),
    ],
    redis: [installed('redis', 'packages/server/test/redis-port/clients.test.ts')],
    bullmq: [installed('bullmq', 'test/sdk/store/bullmq.full.test.ts')],
  },
  'Test runners': {
    vitest: [
      installed('vitest', walks, 'runners/vitest.md'),
      old('vitest-4', 'vitest', 'test/package/vitest.full.test.ts'),
      old('vitest-3', 'vitest', 'test/package/vitest.full.test.ts'),
    ],
    jest: [installed('jest', walks, 'runners/jest.md'), old('jest-29', 'jest', walks)],
    '@playwright/test': [
      installed('@playwright/test', 'test/playwright/sandbox.full.spec.ts', 'stuntdouble/playwright'),
      old('playwright-1.50', '@playwright/test', walks),
    ],
  },
  'Interception and test data': {
    msw: [
      installed('msw', 'test/adapters/msw.test.ts'),
      installed('msw2', 'test/adapters/msw2.alone.test.ts'),
      old('clients', 'msw', 'test/adapters/msw2-oldest.alone.full.test.ts', 'versions/clients'),
    ],
    nock: [
      installed('nock', 'test/adapters/nock.alone.test.ts'),
      installed('nock14', 'test/adapters/nock14.alone.full.test.ts'),
      old('clients', 'nock', 'test/adapters/nock14-oldest.alone.full.test.ts', 'versions/clients'),
    ],
    '@msw/data': [installed('@msw/data', 'test/fixtures/collections.test.ts', 'stuntdouble/msw-data')],
    emulate: [
      {
        at: 'node_modules/emulate',
        lock: 'examples/recipes/emulate/package-lock.json',
        test: 'examples/recipes/emulate/nightly.ts',
        by: "'node_modules/emulate'",
      },
    ],
    'fast-check': [installed('fast-check', 'packages/explore/test/policies.test.ts', 'stuntdouble/fast-check')],
    '@modelcontextprotocol/server': [
      installed('@modelcontextprotocol/server', 'packages/server/test/mcp-cli.full.test.ts', "'mcp'"),
    ],
  },
  Frameworks: {
    express: [installed('express', 'examples/recipes/express/app.test.ts')],
    fastify: [installed('fastify', 'examples/recipes/fastify/app.test.ts')],
    hono: [installed('hono', 'examples/recipes/hono/app.test.ts')],
    next: [installed('next', 'examples/recipes/next/nightly.ts', 'node_modules/next/')],
    '@sveltejs/kit': [installed('@sveltejs/kit', 'examples/recipes/sveltekit/nightly.ts', '@sveltejs/kit')],
  },
}

/** Programs of other languages, which a test finds on its machine: their versions are not fixed. */
export const programs: Readonly<Record<string, Omit<Run, 'at'> & { readonly versions: string }>> = {
  'redis-py': { versions: "Debian's", test: 'test/nightly/redis-py.ts', by: 'python3-redis' },
  'redis-cli': { versions: "Debian's", test: 'packages/server/test/redis-port/redis-cli.test.ts', by: 'redis-cli' },
  'Python, standard library': { versions: 'the installed one', test: walks, by: "'python3'" },
  curl: { versions: 'the installed one', test: walks, by: "'curl'" },
  Bun: { versions: 'see [Where it runs](runtimes.md)', test: walks, by: 'runners/bun.md' },
  Deno: { versions: 'see [Where it runs](runtimes.md)', test: walks, by: 'runners/deno.md' },
}

const root = new URL('../..', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Returns whether a test, or a module of the repository that it imports, contains a text. */
export function uses(file: string, text: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false
  seen.add(file)
  const source = read(file)
  if (source.includes(text)) return true
  return [...source.matchAll(/(?:from |import\()'(\.[^']+)'/g)]
    .map(([, path]) => join(dirname(file), path!.replace(/\.js$/, '.ts')))
    .some((path) => !path.startsWith('src/') && existsSync(join(root, path)) && uses(path, text, seen))
}

function version({ at, lock = 'package-lock.json' }: Run): string {
  const { packages } = JSON.parse(read(lock)) as { packages: Record<string, { version?: string }> }
  const found = packages[at]?.version
  if (found === undefined) throw new Error(`${lock} has no ${at}. Fix the row in test/support/sdk-compatibility.ts.`)
  return found
}

/** The tier that runs a test, by its name. */
function tierOf(test: string): string {
  if (/nightly/.test(test)) return 'nightly'
  return /\.full\./.test(test) ? 'full' : 'quick'
}

function row(name: string, versions: readonly string[], tests: readonly string[]): string {
  const links = [...new Set(tests)].map((test) => `[\`${basename(dirname(test))}/${basename(test)}\`](../${test})`)
  const tiers = [...new Set(tests.map(tierOf))]
  return `| \`${name}\` | ${versions.join(', ')} | ${links.join(', ')} | ${tiers.join(', ')} |`
}

/** Returns the page of tested versions, from package-lock.json and the list above. */
export function sdkCompatibility(): string {
  const head = '| Package | Tested versions | Tests | Tier |\n|---|---|---|---|'
  const tables = Object.entries(compatibility).map(([title, packages]) => {
    const rows = Object.entries(packages).map(([name, runs]) =>
      row(
        name,
        runs.map(version),
        runs.map(({ test }) => test),
      ),
    )
    return `## ${title}\n\n${head}\n${rows.join('\n')}\n`
  })
  const others = Object.entries(programs).map(([name, { versions, test }]) => row(name, [versions], [test]))
  const [, node = ''] = /^ +node: \[(.*)\]$/m.exec(read('.github/workflows/ci.yml')) ?? []
  return `# SDK compatibility

<!-- Generated from package-lock.json and test/support/sdk-compatibility.ts: \`npm run docs\`. Do not edit. -->

Find out which versions of SDKs, clients and tools are tested, and by which test. Other versions often work. The quick and full [tiers](contributing/development.md) run on Node.js ${node.replace(', ', ' and ')}.

${tables.join('\n')}
## Other languages and runtimes

${head}
${others.join('\n')}

The [server](server.md) accepts any client that speaks HTTP or the [Redis protocol](redis-protocol.md). See [Other languages](runners/other-languages.md).
`
}
