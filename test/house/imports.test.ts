import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

interface Import {
  readonly from: string
  /** A path of the repository without its suffix's `.js`, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

function sources(directory: string): string[] {
  return (
    readdirSync(join(root, directory), { withFileTypes: true, recursive: true })
      // Files that are not compiled are copied by the build, so their paths are those of the build.
      .filter((entry) => entry.isFile() && /(?<!\.d)\.tsx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  )
}

/** Returns every import and re-export of a file, and whether it takes only types. */
function importsOf(from: string, text = readFileSync(join(root, from), 'utf8')): Import[] {
  const file = ts.createSourceFile(from, text, ts.ScriptTarget.Latest, true)
  const found: Import[] = []
  const add = (specifier: ts.Expression | undefined, typeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return
    const { text: path } = specifier
    const to = path.startsWith('.') ? join(dirname(from), path).replace(/\.js$/, '.ts') : path
    found.push({ from, to, typeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, takesTypesOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly || allTypes(node.exportClause))
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal as ts.Expression, true)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function takesTypesOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  return clause.name === undefined && allTypes(clause.namedBindings)
}

function allTypes(names: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (names === undefined || !('elements' in names)) return false
  return names.elements.length > 0 && names.elements.every((element) => 'isTypeOnly' in element && element.isTypeOnly)
}

/** A folder and what it may import in addition to its own files. */
interface Room {
  /** Path of the folder. A file belongs to the innermost folder that is listed. */
  readonly room: string
  /** Folders that it may import. `queue/*` means the folder and all folders in it. */
  readonly may?: readonly string[]
  /** Folders from which it may import only types. */
  readonly types?: readonly string[]
  readonly packages?: readonly string[]
}

const ground = ['kernel', 'secrets', 'policy', 'faults', 'protocol']
const services = ['store/*', 'queue/*', 'workflow/*', 'stats/*']
const store = [
  ...['store/command', 'store/values', 'store/keyspace', 'store/access', 'store/dump', 'store/commands'],
  ...['store/blocking', 'store', 'store/search'],
]
const engine = [...ground, 'rules', ...services, 'calls', 'report/*', 'invariants', 'sandbox']

// Allowed imports, lowest layer first. A folder must not import from a folder that is further down in this list, except
// for the types in `upwards`. Folders without a leading slash are in src/.
const rooms: readonly Room[] = [
  { room: 'kernel', packages: ['@noble/hashes', 'croner', 'eventsource-parser'] },
  // Detection of secrets, for reports and for the import of production logs.
  { room: 'secrets', may: ['kernel'] },
  { room: 'policy', may: ['kernel'], packages: ['valibot'] },
  // Faults and their effects, through small interfaces that higher folders implement: rules, the scripts of
  // destinations and the services share them. They are below the protocol, whose gateway evaluates rules.
  { room: 'faults', may: ['kernel'], packages: ['valibot'] },
  { room: 'protocol', may: ['kernel', 'policy', 'faults'], packages: ['rou3'] },
  { room: 'rules', may: ['kernel', 'faults'], packages: ['valibot'] },

  // The Lua interpreter, which does not depend on the store.
  { room: 'lua/runtime', may: ['kernel'] },
  { room: 'lua/syntax', may: ['lua/runtime'] },
  { room: 'lua/compiler', may: ['kernel', 'lua/syntax', 'lua/runtime'] },
  { room: 'lua/libraries', may: ['kernel', 'lua/compiler', 'lua/syntax', 'lua/runtime'] },
  { room: 'lua', may: ['lua/libraries', 'lua/compiler', 'lua/syntax', 'lua/runtime'] },

  { room: 'store/command', may: ['kernel'] },
  { room: 'store/values', may: ['kernel', 'store/command'] },
  { room: 'store/keyspace', may: ['kernel', 'secrets', 'policy', 'store/command', 'store/values'] },
  { room: 'store/access', may: ['kernel', 'store/command'] },
  // Everything except the loader is loaded on first use.
  {
    room: 'store/search',
    may: ['kernel', 'policy', 'store/command', 'store/values', 'store/keyspace'],
    packages: ['@orama/stemmers'],
  },
  { room: 'store/dump', may: ['kernel', 'store/command', 'store/values', 'store/keyspace'], packages: ['valibot'] },
  {
    room: 'store/scripting',
    may: ['kernel', 'policy', 'store/command', 'store/access'],
    packages: ['@stuntdouble/lua'],
  },
  {
    room: 'store/commands',
    may: [
      ...['kernel', 'store/command', 'store/values', 'store/keyspace', 'store/access', 'store/dump'],
      ...['store/scripting', 'store/search'],
    ],
  },
  // Blocked clients.
  {
    room: 'store/blocking',
    may: ['kernel', 'store/command', 'store/values'],
    types: ['store/access', 'store/keyspace'],
  },
  {
    room: 'store',
    may: [
      ...['kernel', 'policy', 'store/command', 'store/values', 'store/keyspace', 'store/access', 'store/dump'],
      ...['store/scripting', 'store/commands', 'store/blocking', 'store/search'],
    ],
  },
  // Earlier states of the store, by running its commands again.
  { room: 'store/history', may: ['kernel', 'store/access', 'store/command', 'store/commands', 'store/dump', 'store'] },
  // Only the folders named rest depend on both a service and the protocol.
  { room: 'store/rest', may: [...ground, ...store], packages: ['valibot'] },
  // Connections to the store over RESP, with the same limits and faults as REST.
  { room: 'store/resp', may: ['kernel', 'faults', ...store, 'store/rest'] },

  { room: 'queue/settings', may: ['kernel', 'policy'] },
  { room: 'queue/message', may: ['kernel', 'queue/settings'], types: ['faults'] },
  { room: 'queue/publish', may: ['kernel', 'policy', 'queue/settings', 'queue/message'] },
  {
    room: 'queue/destinations',
    // Messages must not contain the password of a URL.
    may: ['kernel', 'secrets', 'policy', 'faults', 'queue/settings', 'queue/message', 'queue/publish'],
  },
  { room: 'queue/signing', may: ['kernel', 'queue/message'], types: ['queue/destinations'] },
  {
    room: 'queue/delivery',
    may: [
      ...['kernel', 'secrets', 'policy', 'faults', 'queue/settings', 'queue/message', 'queue/publish'],
      ...['queue/destinations', 'queue/signing'],
    ],
  },
  {
    room: 'queue/schedules',
    may: ['kernel', 'policy', 'faults', 'queue/settings', 'queue/message', 'queue/publish'],
  },
  {
    room: 'queue/dump',
    may: ['kernel', 'policy', 'queue/settings', 'queue/message', 'queue/publish'],
    types: ['queue/delivery', 'queue/schedules'],
    packages: ['valibot'],
  },
  {
    room: 'queue/explain',
    may: ['kernel', 'secrets', 'queue/settings', 'queue/message', 'queue/delivery'],
    types: ['faults', 'queue/schedules'],
  },
  {
    room: 'queue',
    may: [
      ...['kernel', 'secrets', 'policy', 'faults', 'queue/settings', 'queue/message', 'queue/publish'],
      ...['queue/destinations', 'queue/signing', 'queue/delivery', 'queue/schedules', 'queue/dump', 'queue/explain'],
    ],
  },
  { room: 'queue/rest', may: [...ground, 'queue/*'], packages: ['valibot'] },

  // Workflow runs consist of messages, so workflows depend on the queue.
  { room: 'workflow', may: ['kernel', 'secrets', 'policy', 'queue/*'], packages: ['valibot'] },
  { room: 'workflow/rest', may: [...ground, 'queue/*', 'workflow'], packages: ['valibot'] },

  // Outbound requests. Handlers, steps and responses are those of destinations.
  { room: 'calls', may: [...ground, 'queue/destinations'] },

  { room: 'stats', may: ['kernel', 'policy'], packages: ['valibot'] },
  { room: 'stats/rest', may: [...ground, 'stats'] },

  // Reports and generated tests: one folder, because one entry exports both.
  {
    room: 'report/*',
    may: ['kernel', 'secrets', 'store/history'],
    packages: ['valibot', '@stuntdouble/inspector'],
  },
  { room: 'invariants', may: ['kernel'], types: ['policy'] },
  { room: 'sandbox', may: engine, packages: ['valibot'] },
  {
    room: '/matchers/*',
    may: ['kernel', 'report', 'invariants'],
    types: ['sandbox', 'calls', ...services],
    packages: ['vitest', 'jest', '@jest/globals', 'expect', '@playwright/test'],
  },
  // Scenarios use the matchers for their expectations.
  { room: 'scenarios', may: [...engine, '/matchers/*'], packages: ['valibot'] },
  { room: 'scenarios/import', may: [...engine, 'scenarios'], packages: ['valibot'] },
  { room: 'adapters', may: ['kernel', 'protocol'], types: ['sandbox'], packages: ['msw', 'nock', '@playwright/test'] },
  // The main entry. It contains the adapter to fake timers, which needs no peer.
  { room: '', may: [...engine, 'scenarios', 'adapters'] },
  // A snapshot for matchers is a sandbox, so the client loads the sandbox for a snapshot.
  {
    room: 'client',
    may: ['kernel', 'secrets', 'report', 'sandbox', 'store/*'],
    types: [...ground, 'rules', ...services, 'calls', 'invariants', 'scenarios'],
  },

  // Separate workspaces, which import each other by their exports.
  { room: 'command-line', packages: ['citty', 'node:'] },
  // The built page of the inspector, and a function that embeds a trace.
  { room: 'inspector/page' },
  // The page depends on the control API, on traces, and on the escaping of reports.
  {
    room: 'inspector/*',
    may: ['kernel', 'report/*', 'store/history', 'inspector/page'],
    types: ['store/dump'],
    packages: ['preact', '@preact/signals', 'codemirror', '@codemirror/lang-json', '@codemirror/lang-javascript'],
  },
  // A tool for developers, which no published entry contains.
  { room: 'drift/protocol', may: engine, packages: ['node:', 'yaml', 'typescript'] },
  {
    room: 'drift/*',
    may: [...engine, 'scenarios', 'adapters'],
    packages: ['node:', 'valibot', 'yaml', '@stuntdouble/command-line'],
  },
  {
    room: 'server/*',
    may: [...engine, 'report/copy', 'scenarios', 'scenarios/import', 'adapters', 'client'],
    packages: [
      ...['citty', 'rou3', 'valibot', '@valibot/to-json-schema', 'yaml', 'node:'],
      ...['@modelcontextprotocol/server'],
      ...['command-line', 'drift', 'explore', 'inspector', 'lua'].map((name) => `@stuntdouble/${name}`),
    ],
  },
  // The fixture of Jest leaves files for its reporter.
  {
    room: '/fixtures/reporters',
    may: ['kernel', 'report'],
    packages: ['vitest', '@playwright/test', 'node:', '@stuntdouble/inspector', '@stuntdouble/server'],
  },
  {
    room: '/fixtures',
    may: [...engine, '/matchers/*', '/fixtures/reporters', 'scenarios', 'adapters', 'client'],
    packages: [
      ...['vitest', 'jest', '@jest/globals', '@playwright/test', '@msw/data', 'valibot', 'node:'],
      '@stuntdouble/server',
    ],
  },
  // A run history may come from a connected sandbox.
  {
    room: 'explore/*',
    may: [...engine, 'scenarios', '/matchers/*', '/fixtures', 'adapters'],
    types: ['client'],
    packages: ['fast-check', 'tinypool', 'valibot', 'node:', '@stuntdouble/command-line'],
  },
]

/** Types that folders import from higher folders, and why. */
const upwards: Readonly<Record<string, string>> = {
  'store/command -> store': 'a command runs in a store',
  'store/command -> store/keyspace': 'and in its database',
  'store/command -> store/access': 'for a user',
  'store/command -> store/scripting': 'it may run scripts',
  'store/command -> store/blocking': 'it may wait',
  'store/command -> store/commands': 'it may ask which commands there are',
  'store -> store/rest': 'what stands behind a store has its doors, too',
  'queue/dump -> queue': 'a dump is of a queue',
  'queue/explain -> queue': 'and so is a forecast',
}

/** Each peer is imported only in the file with its name. */
const peerFiles: Readonly<Record<string, RegExp>> = {
  msw: /\/msw(?:-fast)?\.ts$/,
  nock: /\/nock\.ts$/,
  vitest: /\/vitest4?\.ts$/,
  jest: /\/jest\.ts$/,
  '@jest/globals': /\/jest\.ts$/,
  expect: /\/jest\.ts$/,
  '@playwright/test': /\/playwright\.ts$/,
  'fast-check': /\/(?:(?:[\w-]+-)?arbitraries|fast-check|check-delivery(?:-options)?)\.ts$/,
  '@msw/data': /\/collections\.ts$/,
  '@modelcontextprotocol/server': /\/mcp\/mcp-protocol\.ts$/,
}

/** `src/queue/rest/log-endpoints.ts` → `queue/rest`; `packages/lua/src/syntax/lexer.ts` → `lua/syntax`; other folders than src begin with a slash. */
function folderOf(file: string): string {
  const folder = dirname(file)
  const workspace = /^packages\/([\w-]+)\/(?:src\/?)?(.*)$/.exec(folder)
  if (workspace !== null) return [workspace[1], workspace[2]].filter(Boolean).join('/')
  return folder === 'src' ? '' : folder.startsWith('src/') ? folder.slice(4) : `/${folder}`
}

function holds(room: string, folder: string): boolean {
  return room.endsWith('/*') ? `${folder}/`.startsWith(room.slice(0, -1)) : room === folder
}

function roomOf(file: string): Room | undefined {
  const folder = folderOf(file)
  return rooms.find(({ room }) => holds(room, folder))
}

/** Returns what is wrong with an import, or `undefined`. */
function breach({ from, to, typeOnly }: Import): string | undefined {
  const own = roomOf(from)
  if (own === undefined) return `${from} is in no room of the house: add it to the table in test/house/imports.test.ts`
  if (!/^(?:src|matchers|fixtures|packages)\//.test(to)) return wrongPackage(own, from, to)
  const [workspace, theirs] = [from, to].map((file) => /^packages\/[\w-]+/.exec(file)?.[0])
  if (theirs !== undefined && theirs !== workspace) return `${from} imports ${to}: a workspace is imported by its name`
  const target = roomOf(to)
  if (target === undefined) return `${from} imports ${to}, which is in no room of the house`
  if (target === own) return undefined
  const folder = folderOf(to)
  if (own.may?.some((room) => holds(room, folder))) return undefined
  const isType = own.types?.some((room) => holds(room, folder)) || `${own.room} -> ${target.room}` in upwards
  if (!isType) return `${from} imports ${to}: ${own.room} may not know ${target.room}`
  return typeOnly ? undefined : `${from} imports ${to}: ${own.room} may take only types from ${target.room}`
}

function wrongPackage({ room, packages = [] }: Room, from: string, to: string): string | undefined {
  const name = to.startsWith('node:')
    ? 'node:'
    : to
        .split('/')
        .slice(0, to.startsWith('@') ? 2 : 1)
        .join('/')
  if (name.startsWith('.') || name === 'test') return `${from} imports ${to}, which is not shipped`
  if (!packages.includes(name)) return `${from} imports ${to}: ${room} may not use the package ${name}`
  const home = peerFiles[name]
  if (home !== undefined && !home.test(from)) return `${from} imports ${to}: only a file named after ${name} may`
  return undefined
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly workspaces?: readonly string[]
  readonly devDependencies?: Readonly<Record<string, string>>
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
const packages = readdirSync(join(root, 'packages')).map((folder) => manifestOf(`packages/${folder}`))
const workspaces = packages.flatMap(({ name, private: isPrivate }) =>
  isPrivate ? name.replace('@stuntdouble/', '') : [],
)

/** Returns private packages that are missing in the root's package.json. */
function unlinked(names: readonly string[], { workspaces: linked = [], devDependencies = {} }: Manifest): string[] {
  return names.filter((name) => !linked.includes(`packages/${name}`) || !(`@stuntdouble/${name}` in devDependencies))
}

const files = [
  'src',
  'matchers',
  'fixtures',
  ...workspaces.map((name) => `packages/${name}/src`),
  'packages/inspector/page',
].flatMap(sources)
const imports = files.flatMap((file) => importsOf(file))

/**
 * Groups of files that reach each other by their imports, those of types included: the strongly connected components,
 * after Tarjan.
 */
function circles(all: readonly Pick<Import, 'from' | 'to'>[]): string[][] {
  const targets = new Map<string, string[]>()
  for (const { from, to } of all) targets.set(from, [...(targets.get(from) ?? []), to])
  const found: string[][] = []
  const path: string[] = []
  const places = new Map<string, number>()
  /** @returns the lowest index on the path that the file reaches */
  const visit = (file: string): number => {
    const known = places.get(file)
    if (known !== undefined) return known
    const place = path.push(file)
    places.set(file, place)
    const lowest = Math.min(place, ...(targets.get(file) ?? []).map(visit))
    if (lowest < place) {
      places.set(file, lowest)
      return lowest
    }
    const group = path.splice(place - 1)
    for (const done of group) places.set(done, Number.POSITIVE_INFINITY)
    if (group.length > 1) found.push(group.sort())
    return Number.POSITIVE_INFINITY
  }
  for (const file of targets.keys()) visit(file)
  return found.sort()
}

describe('imports between folders', () => {
  test('every file follows the table', () => {
    expect(files.length).toBeGreaterThan(30)
    expect(imports.map(breach).filter(Boolean)).toEqual([])
  })

  test('no folder imports more than types from a higher folder', () => {
    const order = rooms.map(({ room }) => room)
    const places = (name: string): number[] =>
      order.flatMap((room, at) => (holds(name, room) || holds(room, name) || room === name ? [at] : []))
    for (const [at, { room, may = [], types = [] }] of rooms.entries()) {
      for (const name of [...may, ...types]) {
        expect(places(name), `${room} names ${name}, which is no room`).not.toEqual([])
        // A group of folders may contain the folder itself.
        for (const place of places(name)) expect(place, `${room} stands below ${name}`).toBeLessThanOrEqual(at)
      }
    }
    for (const pair of Object.keys(upwards)) {
      const [low, high] = pair.split(' -> ').map((name) => order.indexOf(name))
      expect(low, pair).toBeGreaterThanOrEqual(0)
      expect(high, pair).toBeGreaterThan(low!)
    }
  })

  test('no layer of src imports from a higher layer', () => {
    const floor = (name: string): string => name.split('/')[0]!
    const between = Object.keys(upwards)
      .filter((pair) => !pair.startsWith('/'))
      .filter((pair) => floor(pair.split(' -> ')[0]!) !== floor(pair.split(' -> ')[1]!))
    expect(between).toEqual([])
  })

  test('every exception is used', () => {
    const used = new Set(imports.map(({ from, to }) => `${roomOf(from)?.room} -> ${roomOf(to)?.room}`))
    expect(Object.keys(upwards).filter((pair) => !used.has(pair))).toEqual([])
  })

  test('no files import each other in a cycle', () => {
    expect(circles(imports)).toEqual([])
  })

  test('every private package is a workspace and a development dependency of the root', () => {
    expect(workspaces.length).toBeGreaterThan(5)
    expect(unlinked(workspaces, manifestOf('.'))).toEqual([])
    const manifest = { name: '', workspaces: ['packages/a', 'packages/b'], devDependencies: { '@stuntdouble/a': '1' } }
    expect(unlinked(['a', 'b', 'c'], manifest)).toEqual(['b', 'c'])
  })

  test('the check detects a cycle', () => {
    const edges = ['a b', 'b c', 'c b', 'c d', 'e f', 'f g', 'g e', 'g a'].map((edge) => {
      const [from, to] = edge.split(' ')
      return { from: from!, to: to! }
    })
    expect(circles(edges)).toEqual([
      ['b', 'c'],
      ['e', 'f', 'g'],
    ])
  })

  // Tests of the check itself.
  test.each([
    ['src/kernel/a.ts', "import { x } from '../protocol/b.js'", 'kernel may not know protocol'],
    ['src/store/a.ts', "import type { x } from '../queue/b.js'", 'store may not know queue'],
    ['src/store/rest/a.ts', "import type { x } from '../../queue/b.js'", 'store/rest may not know queue'],
    ['src/store/a.ts', "export { x } from '../protocol/b.js'", 'store may not know protocol'],
    ['src/queue/a.ts', "const x = import('../sandbox/sandbox.js')", 'queue may not know sandbox'],
    ['src/store/a.ts', "let x: import('../stats/b.js').Y", 'store may not know stats'],
    [
      'src/queue/message/a.ts',
      "import type { x } from '../delivery/b.js'",
      'queue/message may not know queue/delivery',
    ],
    ['src/adapters/a.ts', "import { type X, y } from '../sandbox/b.js'", 'adapters may take only types from sandbox'],
    ['src/store/command/a.ts', "import { y } from '../store.js'", 'store/command may take only types from store'],
    ['src/protocol/a.ts', "import { readFileSync } from 'node:fs'", 'protocol may not use the package node:'],
    ['src/store/a.ts', "import x from 'lodash/get'", 'store may not use the package lodash'],
    ['src/adapters/fetch.ts', "import { http } from 'msw/http'", 'only a file named after msw may'],
    ['src/a/b.ts', "import '../kernel/clock.js'", 'in no room of the house'],
    ['src/queue/new/a.ts', "import '../queue.js'", 'in no room of the house'],
    ['matchers/index.ts', "import '../test/support/x.js'", 'which is not shipped'],
    ['packages/server/src/a.ts', "import '../../lua/src/b.js'", 'is imported by its name'],
    ['src/store/scripting/a.ts', "import '../../../packages/lua/src/b.js'", 'is imported by its name'],
    ['src/store/a.ts', "import '@stuntdouble/lua'", 'store may not use the package @stuntdouble/lua'],
  ])('%s: %s', (from, text, expected) => {
    expect(importsOf(from, text).map(breach)).toEqual([expect.stringContaining(expected)])
  })

  test.each([
    ['src/store/rest/store-endpoints.ts', "import { x } from '../../protocol/b.js'"],
    ['src/queue/a.ts', "import { defaultPolicy } from '../policy/policy.js'"],
    ['src/adapters/a.ts', "import type { Sandbox } from '../sandbox/sandbox.js'"],
    ['packages/server/src/a.ts', "import 'node:http'"],
    ['packages/server/src/programs/a.ts', "import '../server.js'"],
    ['src/adapters/msw.ts', "import { http } from 'msw'"],
  ])('%s: %s is allowed', (from, text) => {
    expect(importsOf(from, text).map(breach)).toEqual([undefined])
  })
})

describe('time, randomness and the host', () => {
  const exempt = /^src\/(?:kernel\/(?:host|instant)\.ts|queue\/destinations\/destinations\.ts|adapters\/|client\/)/
  const banned = new Set([
    'Date',
    'performance',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'queueMicrotask',
    'crypto',
    'fetch',
    'Buffer',
    'process',
    'require',
    'eval',
    'Function',
  ])
  const hosts = new Set(['globalThis', 'window', 'self', 'global'])

  /** The linter sees a bare `Date`, but neither `Math.random` nor `globalThis.Date`. */
  function reaches(from: string, text: string): string[] {
    const file = ts.createSourceFile(from, text, ts.ScriptTarget.Latest, true)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      const owner =
        ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) ? node.expression.getText() : ''
      const name = ts.isPropertyAccessExpression(node)
        ? node.name.text
        : ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)
          ? node.argumentExpression.text
          : ''
      if ((owner === 'Math' && name === 'random') || (hosts.has(owner) && banned.has(name)))
        found.push(`${from}: ${owner}.${name}`)
      if (ts.isNewExpression(node) && ['Date', 'Function'].includes(node.expression.getText()))
        found.push(`${from}: new ${node.expression.getText()}`)
      if (ts.isCallExpression(node) && ['eval', 'require', 'fetch', 'Date'].includes(node.expression.getText()))
        found.push(`${from}: ${node.expression.getText()}()`)
      ts.forEachChild(node, visit)
    }
    visit(file)
    return found
  }

  test('are not used in the engine', () => {
    const engine = files.filter((file) => file.startsWith('src/') && !exempt.test(file))
    expect(engine.flatMap((file) => reaches(file, readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test.each([
    'Math.random()',
    "Math['random']()",
    'globalThis.setTimeout(f)',
    'new Date()',
    'fetch("x")',
    'self.crypto',
  ])('are detected in %s', (text) => {
    expect(reaches('src/store/a.ts', text)).toHaveLength(1)
  })
})

describe('functions whose results differ between engines', () => {
  /** Members of `Math` whose results ECMAScript defines exactly. */
  const exact = new Set([
    ...['abs', 'ceil', 'floor', 'round', 'trunc', 'sign', 'min', 'max', 'sqrt', 'fround', 'clz32', 'imul'],
    ...['PI', 'E', 'LN2', 'LN10', 'LOG2E', 'LOG10E', 'SQRT2', 'SQRT1_2'],
    // The host's randomness has a check of its own.
    'random',
  ])

  /** Powers of 2 and of integers of any size are exact in every engine, which the test below checks for 2. */
  const isExactBase = (base: ts.Expression): boolean => ts.isBigIntLiteral(base) || base.getText() === '2'

  function inexact(from: string, text: string): string[] {
    const file = ts.createSourceFile(from, text, ts.ScriptTarget.Latest, true)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) && node.text === 'Math') {
        const user = node.parent
        const name = ts.isPropertyAccessExpression(user) && user.expression === node ? user.name.text : undefined
        if (name === undefined || !exact.has(name)) found.push(`${from}: ${user.getText()}`)
      }
      if (
        ts.isBinaryExpression(node) &&
        [ts.SyntaxKind.AsteriskAsteriskToken, ts.SyntaxKind.AsteriskAsteriskEqualsToken].includes(
          node.operatorToken.kind,
        ) &&
        !isExactBase(node.left)
      )
        found.push(`${from}: ${node.getText()}`)
      ts.forEachChild(node, visit)
    }
    visit(file)
    return found
  }

  test('are not used: src/kernel/portable-math.ts has the same results everywhere', { timeout: 60_000 }, () => {
    expect(files.length).toBeGreaterThan(500)
    expect(files.flatMap((file) => inexact(file, readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test.each([
    'Math.exp(1)',
    "Math['log'](2)",
    'const { sin } = Math',
    'const m = Math',
    'globalThis.Math.cos(1)',
    'x ** y',
    '10 ** 3',
    'x **= 2',
  ])('are detected in %s', (text) => {
    expect(inexact('src/a.ts', text)).toHaveLength(1)
  })

  test.each(['Math.sqrt(2)', '2 ** x', '2n ** 64n', 'map(Math.abs)', 'Math.PI'])('%s is allowed', (text) => {
    expect(inexact('src/a.ts', text)).toEqual([])
  })
})
