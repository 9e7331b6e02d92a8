import { readFileSync } from 'node:fs'

/** Each published entry and its source. `npm run docs` writes the list into package.json and test/tsconfig.json. */
export const entries: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  fetch: 'src/adapters/fetch.ts',
  msw: 'src/adapters/msw.ts',
  'msw/fast': 'src/adapters/msw-fast.ts',
  nock: 'src/adapters/nock.ts',
  server: 'packages/server/src/server.ts',
  client: 'src/client/connect.ts',
  redis: 'packages/server/src/redis-port/in-process.ts',
  node: 'packages/server/src/node-listener.ts',
  ioredis: 'packages/server/src/redis-port/replace-ioredis.ts',
  'node-redis': 'packages/server/src/redis-port/replace-node-redis.ts',
  'real-redis': 'packages/server/src/real-redis/real-redis-sandbox.ts',
  stats: 'src/stats/index.ts',
  report: 'src/report/index.ts',
  matchers: 'matchers/index.ts',
  checks: 'packages/explore/src/checks.ts',
  'fast-check': 'packages/explore/src/fast-check.ts',
  scenarios: 'packages/explore/src/scenarios.ts',
  jest: 'fixtures/jest.ts',
  'jest/extend': 'matchers/jest.ts',
  'jest/reporter': 'fixtures/reporters/jest.ts',
  'playwright/extend': 'matchers/playwright.ts',
}

/** Without CommonJS: they need Vitest, Playwright's runner or @msw/data, which are modules only. */
export const moduleEntries: Readonly<Record<string, string>> = {
  vitest: 'fixtures/vitest.ts',
  'vitest/extend': 'matchers/vitest.ts',
  'vitest/reporter': 'fixtures/reporters/vitest.ts',
  'vitest4/extend': 'matchers/vitest4.ts',
  playwright: 'fixtures/playwright.ts',
  'playwright/reporter': 'fixtures/reporters/playwright.ts',
  'msw-data': 'fixtures/collections.ts',
}

/** Built, but imported by no user: the command line, and what it runs in threads. */
export const programs: Readonly<Record<string, string>> = {
  cli: 'packages/server/src/programs/cli.ts',
  'campaign-worker': 'packages/explore/src/workers/worker.ts',
}

/** How users import an entry: `stuntdouble/msw`. */
export function specifierOf(entry: string): string {
  return entry === 'index' ? 'stuntdouble' : `stuntdouble/${entry}`
}

const root = new URL('../..', import.meta.url)

const schemas = ['scenario', 'trace']

/** Returns the required `exports` of package.json. */
function exportsOf(): Record<string, unknown> {
  const rows: Record<string, unknown> = {}
  for (const name of Object.keys({ ...entries, ...moduleEntries })) {
    const file = (ending: string) => `./dist/${name}.${ending}`
    const esm = { types: file('d.ts'), default: file('js') }
    const subpath = name === 'index' ? '.' : `./${name}`
    rows[subpath] = name in entries ? { import: esm, require: { types: file('d.cts'), default: file('cjs') } } : esm
  }
  for (const schema of schemas) rows[`./${schema}.schema.json`] = `./dist/${schema}.schema.json`
  return { ...rows, './package.json': './package.json' }
}

/**
 * Returns the required `typesVersions` of package.json: where TypeScript finds the types of an entry with
 * `moduleResolution: node`, which reads no `exports`. Such a project is CommonJS.
 */
function typesVersionsOf(): Record<string, Record<string, readonly string[]>> {
  const rows = Object.keys({ ...entries, ...moduleEntries })
    .filter((name) => name !== 'index')
    .map((name): [string, string[]] => [name, [`./dist/${name}.${name in entries ? 'd.cts' : 'd.ts'}`]])
  for (const schema of schemas) rows.push([`${schema}.schema.json`, [`./dist/${schema}.schema.json`]])
  return { '*': Object.fromEntries(rows) }
}

/** Returns package.json with these `exports` and `typesVersions`. */
function withExports(text: string): string {
  const manifest = { ...JSON.parse(text), exports: exportsOf(), typesVersions: typesVersionsOf() }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** test/tsconfig.json with `paths`: tests and examples import the package by its own name, which means the sources. */
function withPaths(before: string): string {
  const config = JSON.parse(before)
  config.compilerOptions.paths = Object.fromEntries(
    Object.entries({ ...entries, ...moduleEntries }).map(([name, source]) => [specifierOf(name), [`../${source}`]]),
  )
  // The formatter writes a list on one line if it fits.
  const list = /^( *"[^"]+": )\[\n((?: +"[^"]+",?\n)+) +\](,?)$/gm
  const text = JSON.stringify(config, null, 2).replace(list, (lines, head, items: string, comma) => {
    const line = `${head}[${items.trim().split(/\n */).join(' ')}]${comma}`
    return line.length <= 120 ? line : lines
  })
  return `${text}\n`
}

/** Files into which the list is written. */
export const listedIn: readonly (readonly [file: string, written: (text: string) => string])[] = [
  ['package.json', withExports],
  ['test/tsconfig.json', withPaths],
]

/** A file of the repository, by its path. */
export function read(file: string): string {
  return readFileSync(new URL(file, root), 'utf8')
}
