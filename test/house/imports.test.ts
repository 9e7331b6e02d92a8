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
  return readdirSync(join(root, directory), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

/** Every import and re-export of a file, and whether all it takes are types. */
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

/** A part of the house: which files are in it, and what they may import beside each other. */
interface Part {
  readonly name: string
  readonly files: RegExp
  /** Parts by name; `types of x` allows type imports only. */
  readonly may: readonly string[]
  readonly packages: readonly string[]
}

const everything = [
  'kernel',
  'secrets',
  'policy',
  'http',
  'store',
  'queue',
  'stats',
  'endpoints',
  'fault values',
  'faults',
  'report',
  'invariants',
  'sandbox',
  'index',
]

// Who may import whom. The first part whose pattern fits a file is the file's part.
const parts: readonly Part[] = [
  { name: 'kernel', files: /^src\/kernel\//, may: [], packages: ['@noble/hashes'] },
  // What a secret is, for all that shows captured data and for the import of production logs.
  { name: 'secrets', files: /^src\/secrets\//, may: ['kernel'], packages: [] },
  { name: 'policy', files: /^src\/policy(-schema)?\.ts$/, may: ['kernel'], packages: ['valibot'] },
  {
    name: 'http',
    files: /^src\/http\//,
    may: ['kernel', 'policy', 'fault values'],
    packages: ['rou3'],
  },
  // What goes wrong, as plain data: rules, the scripts of destinations and the services share these values.
  {
    name: 'fault values',
    files: /^src\/faults\/(?:fault|constructors|latency|catalog|fault-schema|step-schema)\.ts$/,
    may: ['kernel'],
    packages: ['valibot'],
  },
  // The only files that know a domain and the protocol; `answers` is what the store's endpoints share.
  {
    name: 'endpoints',
    files: /^src\/(?:store\/answers|(?:store|queue|stats)\/(?:[\w-]+-)?endpoints(?:\/[\w-]+)?)\.ts$/,
    may: ['kernel', 'policy', 'http', 'store', 'queue', 'stats', 'fault values'],
    packages: ['valibot'],
  },
  {
    name: 'store',
    files: /^src\/store\//,
    may: ['kernel', 'policy', 'fault values'],
    packages: ['valibot'],
  },
  {
    name: 'queue',
    files: /^src\/queue\//,
    may: ['kernel', 'policy', 'fault values'],
    packages: ['croner', 'valibot'],
  },
  { name: 'stats', files: /^src\/stats\//, may: ['kernel', 'policy'], packages: ['valibot'] },
  // Performs scenarios in a sandbox of its own and judges them as the matchers do; nobody below knows it.
  {
    name: 'player',
    files: /^src\/faults\/scenario-(?:play|judge)\.ts$/,
    may: [...everything, 'matchers'],
    packages: [],
  },
  {
    name: 'faults',
    files: /^src\/faults\//,
    // Rules speak of keys, cron expressions and destinations as the store and the queue do.
    may: [
      'kernel',
      'secrets',
      'policy',
      'fault values',
      'store',
      'queue',
      'invariants',
      'types of http',
      'types of sandbox',
    ],
    packages: ['valibot'],
  },
  {
    name: 'report',
    files: /^src\/report\//,
    may: ['kernel', 'secrets', 'policy', 'types of sandbox'],
    packages: ['valibot'],
  },
  { name: 'invariants', files: /^src\/invariants\//, may: ['kernel', 'policy', 'types of sandbox'], packages: [] },
  {
    name: 'sandbox',
    files: /^src\/sandbox(?:-dump|-shift|-credentials)?\.ts$/,
    may: everything,
    packages: ['valibot'],
  },
  // An adapter to fake timers needs no peer, and stands in the main entry.
  { name: 'timers', files: /^src\/adapters\/timers\.ts$/, may: ['types of kernel'], packages: [] },
  { name: 'index', files: /^src\/index\.ts$/, may: [...everything, 'timers'], packages: [] },
  {
    name: 'adapters',
    files: /^src\/adapters\//,
    may: ['kernel', 'http', 'types of sandbox'],
    packages: ['msw', 'nock', '@playwright/test'],
  },
  {
    name: 'server',
    files: /^src\/server\//,
    may: [...everything, 'adapters', 'player'],
    packages: ['citty', 'rou3', 'valibot', '@valibot/to-json-schema', 'yaml', 'node:'],
  },
  {
    name: 'matchers',
    files: /^matchers\//,
    may: [
      'kernel',
      'report',
      'invariants',
      'types of sandbox',
      'types of index',
      'types of store',
      'types of queue',
      'types of stats',
    ],
    packages: ['vitest', 'jest', '@jest/globals', 'expect', '@playwright/test'],
  },
  {
    name: 'the fixture of Playwright, which never runs in a page',
    files: /^fixtures\/playwright\.ts$/,
    may: [...everything, 'adapters', 'matchers', 'fixtures', 'server'],
    packages: ['@playwright/test', 'node:'],
  },
  {
    name: 'fixtures',
    files: /^fixtures\//,
    may: [...everything, 'adapters', 'matchers', 'player', 'server'],
    packages: ['vitest', 'jest', '@jest/globals', '@playwright/test', 'fast-check', '@msw/data', 'valibot'],
  },
  {
    name: 'reporters',
    files: /^reporters\//,
    may: ['kernel', 'report'],
    packages: ['vitest', '@playwright/test', 'node:'],
  },
]

/** Each peer in the file that bears its name, and nowhere else. */
const peerFiles: Readonly<Record<string, RegExp>> = {
  msw: /\/msw(?:-fast)?\.ts$/,
  nock: /\/nock\.ts$/,
  vitest: /\/vitest\.ts$/,
  jest: /\/jest\.ts$/,
  '@jest/globals': /\/jest\.ts$/,
  expect: /\/jest\.ts$/,
  '@playwright/test': /\/playwright\.ts$/,
  'fast-check': /\/(?:(?:[\w-]+-)?arbitraries|fast-check|check-delivery)\.ts$/,
  '@msw/data': /\/collections\.ts$/,
}

function partOf(file: string): Part | undefined {
  return parts.find(({ files }) => files.test(file))
}

/** What is wrong with an import, as a sentence, or `undefined`. */
function breach({ from, to, typeOnly }: Import): string | undefined {
  const part = partOf(from)
  if (part === undefined) return `${from} is in no part of the house: add it to the table in test/house/imports.test.ts`
  const target = /^(?:src|matchers|fixtures|reporters)\//.test(to) ? partOf(to) : undefined
  if (target !== undefined) {
    if (target === part || part.may.includes(target.name)) return undefined
    if (part.may.includes(`types of ${target.name}`)) {
      return typeOnly ? undefined : `${from} imports ${to}: ${part.name} may take only types from ${target.name}`
    }
    return `${from} imports ${to}: ${part.name} may not know ${target.name}`
  }
  const name = to.startsWith('node:')
    ? 'node:'
    : to
        .split('/')
        .slice(0, to.startsWith('@') ? 2 : 1)
        .join('/')
  if (name.startsWith('.') || name === 'test') return `${from} imports ${to}, which is not shipped`
  if (!part.packages.includes(name)) return `${from} imports ${to}: ${part.name} may not use the package ${name}`
  const home = peerFiles[name]
  if (home !== undefined && !home.test(from)) return `${from} imports ${to}: only a file named after ${name} may`
  return undefined
}

const files = ['src', 'matchers', 'fixtures', 'reporters'].flatMap(sources)

describe('who may import whom', () => {
  test('every file of the house keeps to the table', () => {
    expect(files.length).toBeGreaterThan(30)
    expect(
      files
        .flatMap((file) => importsOf(file))
        .map(breach)
        .filter(Boolean),
    ).toEqual([])
  })

  test('each domain is told apart, so no endpoint file may know another service', () => {
    const wrong = files
      .filter((file) => partOf(file)?.name === 'endpoints')
      .flatMap((file) => importsOf(file))
      .filter(({ from, to }) => {
        const service = from.split('/')[1]
        return /^src\/(?:store|queue|stats)\//.test(to) && to.split('/')[1] !== service
      })
    expect(wrong).toEqual([])
  })

  // The guard itself must be able to fail.
  test.each([
    ['src/kernel/a.ts', "import { x } from '../http/b.js'", 'kernel may not know http'],
    ['src/store/a.ts', "import type { x } from '../queue/b.js'", 'store may not know queue'],
    ['src/store/a.ts', "export { x } from '../http/b.js'", 'store may not know http'],
    ['src/queue/a.ts', "const x = import('../sandbox.js')", 'queue may not know sandbox'],
    ['src/store/a.ts', "let x: import('../stats/b.js').Y", 'store may not know stats'],
    ['src/report/a.ts', "import { type X, y } from '../sandbox.js'", 'report may take only types from sandbox'],
    ['src/http/a.ts', "import { readFileSync } from 'node:fs'", 'http may not use the package node:'],
    ['src/store/a.ts', "import x from 'lodash/get'", 'store may not use the package lodash'],
    ['src/adapters/fetch.ts', "import { http } from 'msw/http'", 'only a file named after msw may'],
    ['src/a/b.ts', "import '../kernel/clock.js'", 'in no part of the house'],
    ['matchers/index.ts', "import '../test/support/x.js'", 'which is not shipped'],
  ])('%s: %s', (from, text, expected) => {
    expect(importsOf(from, text).map(breach)).toEqual([expect.stringContaining(expected)])
  })

  test.each([
    ['src/store/rest/endpoints.ts', "import { x } from '../http/b.js'"],
    ['src/queue/a.ts', "import { defaultPolicy } from '../policy.js'"],
    ['src/report/a.ts', "import type { Sandbox } from '../sandbox.js'"],
    ['src/server/a.ts', "import 'node:http'"],
    ['src/adapters/msw.ts', "import { http } from 'msw'"],
  ])('%s: %s is allowed', (from, text) => {
    expect(importsOf(from, text).map(breach)).toEqual([undefined])
  })
})

describe('time, chance and the host', () => {
  const exempt = /^src\/(?:kernel\/(?:host|instant)\.ts|queue\/destinations\.ts|adapters\/|server\/)/
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

  test('are reached nowhere in the engine', () => {
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
  ])('%s would be found', (text) => {
    expect(reaches('src/store/a.ts', text)).toHaveLength(1)
  })
})
