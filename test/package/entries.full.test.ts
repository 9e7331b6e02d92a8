import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, inject, test } from 'vitest'

const consumer = inject('consumer')
const own = join(consumer, 'node_modules/stuntdouble')
const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
  exports: Record<string, { require?: unknown } | string>
  peerDependencies: Record<string, string>
  version: string
  bin: Record<string, string>
}

/** Entries in both module formats that a program can load outside of a test runner. */
const entries = Object.entries(manifest.exports)
  .filter(
    ([path, target]) => typeof target === 'object' && 'require' in target && !/^\.\/(?:jest|playwright)/.test(path),
  )
  .map(([path]) => path.replace(/^\./, 'stuntdouble'))

/** Runs a program in the consumer's project and returns what it prints as JSON. */
async function run(format: 'module' | 'commonjs', program: string): Promise<unknown> {
  const args = [`--input-type=${format}`, '--no-warnings', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: consumer })
  return JSON.parse(stdout)
}

/** Returns the code of a file of the build and of all its imports. */
function reachedFrom(file: string, seen = new Map<string, string>()): string[] {
  if (!seen.has(file)) {
    const code = readFileSync(join(own, 'dist', file), 'utf8')
    seen.set(file, code)
    for (const [, next] of code.matchAll(/(?:from|import)\s*['"](\.\.?\/[^'"]+)['"]/g))
      reachedFrom(join(dirname(file), next!), seen)
  }
  return [...seen.values()]
}

const print = 'console.log(JSON.stringify(Object.keys(entry).filter((name) => name !== "default").sort()))'

test('no published file names a workspace', () => {
  const files = readdirSync(join(own, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.[cm]?[jt]s$/.test(file),
  )
  const named = files.filter((file) => /['"]@stuntdouble\//.test(readFileSync(join(own, 'dist', file), 'utf8')))
  expect(named).toEqual([])
})

test('no published file imports a chunk only for its side effects', () => {
  const files = readdirSync(join(own, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.c?js$/.test(file),
  )
  const bare = files.flatMap(
    (file) => readFileSync(join(own, 'dist', file), 'utf8').match(/^(?:import|require\() ?['"]\.\.?\/chunk-.*/gm) ?? [],
  )
  expect([files.length > 50, bare]).toEqual([true, []])
})

test('each relative import of a published file leads to a published file', () => {
  const files = readdirSync(join(own, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:c?js|d\.c?ts)$/.test(file),
  )
  const missing = files.flatMap((file) => {
    const code = readFileSync(join(own, 'dist', file), 'utf8')
    const ending = /\.d\.c?ts$/.test(file)
      ? (path: string) => path.replace(/js$/, 'ts').replace(/\.(c?ts)$/, '.d.$1')
      : String
    // Not those of tests that the program writes, which import an app's sources.
    return [...code.matchAll(/\b(?:from|import|require)\s*\(?['"](\.\.?\/(?!src\/)[\w./-]+)['"]/g)]
      .map(([, path]) => ending(join(dirname(file), path!)))
      .filter((path) => !files.includes(path))
      .map((path) => `${file} imports ${path}`)
  })
  expect([files.length > 100, missing]).toEqual([true, []])
})

test('esbuild bundles the package without a warning', async () => {
  const imports = entries.filter((entry) => !/msw|nock|fast-check/.test(entry))
  const { warnings } = await build({
    stdin: {
      contents: imports.map((entry, at) => `export * as entry${at} from '${entry}'`).join('\n'),
      resolveDir: consumer,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    external: ['@playwright/test', 'vitest', 'jest', '@jest/globals', '@modelcontextprotocol/server'],
  })
  expect(warnings.map(({ text }) => text)).toEqual([])
})

describe('each published entry', () => {
  test('is listed', () => {
    expect(entries).toEqual(
      expect.arrayContaining(['stuntdouble', 'stuntdouble/fetch', 'stuntdouble/msw', 'stuntdouble/server']),
    )
  })

  test.each(entries)('%s loads as a module and as CommonJS, with the same names', async (entry) => {
    const esm = await run('module', `import * as entry from '${entry}'; ${print}`)
    const cjs = await run('commonjs', `const entry = require('${entry}'); ${print}`)
    expect(esm).not.toEqual([])
    expect(cjs).toEqual(esm)
  })

  test.each(['module', 'commonjs'] as const)('msw-data, a module only, is loaded by Node as %s', async (format) => {
    const load = format === 'module' ? "await import('stuntdouble/msw-data')" : "require('stuntdouble/msw-data')"
    const program = `(async () => {
      const { createCollections } = ${load}
      const world = await createCollections({ seed: 7 }).build({ messages: 3, deadLetters: 1 })
      console.log(JSON.stringify([world.messages.count(), world.deadLetters.all()[0].message.state]))
    })()`
    expect(await run(format, program)).toEqual([4, 'FAILED'])
  })

  test('needs only its own peers', () => {
    const peers = { 'fast-check': 'fast-check', 'msw-data': '@msw/data' }
    for (const [entry, peer] of Object.entries(peers)) {
      const needs = (file: string): boolean =>
        reachedFrom(file).some((code) => new RegExp(`from ?['"]${peer}['"]`).test(code))
      expect([entry, needs(`${entry}.js`)]).toEqual([entry, true])
      for (const other of ['index', 'checks', 'scenarios', 'stats', 'server', 'matchers'])
        expect([other, needs(`${other}.js`)]).toEqual([other, false])
    }
  })

  test('contains no module of Node.js, except the server', async () => {
    const core = reachedFrom('index.js').join('\n')
    expect(core).not.toMatch(/['"]node:/)
    expect(core).not.toMatch(/from\s*['"](?:msw|nock|vitest|jest|citty|yaml)['"/]/)
    expect(reachedFrom('server.js').join('\n')).toMatch(/['"]node:crypto['"]/)
  })
})

describe('a runner that transforms each module', () => {
  test.each([
    ['stuntdouble', ['index.js'], 5],
    ['with fetch and matchers', ['index.js', 'fetch.js', 'matchers.js'], 11],
    ['stuntdouble/vitest', ['vitest.js'], 20],
  ])('transforms few for %s, and no package', (_, files, most) => {
    const seen = new Map<string, string>()
    for (const file of files) reachedFrom(file, seen)
    expect(seen.size).toBeLessThanOrEqual(most)
    // Imports are the first statements of a published module. Texts of generated tests contain imports as well.
    const imports = [...seen.values()].flatMap((code) => /^(?:import\b[^;]*;)*/.exec(code)![0].split(';'))
    const packages = imports
      .map((line) => /['"]([^.'"][^'"]*)['"]$/.exec(line)?.[1])
      .filter((name) => name !== undefined)
    expect(packages.filter((name) => !/^(?:vitest$|node:|#parts\/)/.test(name))).toEqual([])
  })

  test('makes no source map', () => {
    const modules = readdirSync(join(own, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    )
    const maps = modules.map((file) => {
      const [, map = ''] = /\n\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(
        readFileSync(join(own, 'dist', file), 'utf8'),
      )!
      return JSON.parse(Buffer.from(map, 'base64').toString()).mappings
    })
    expect(new Set(maps)).toEqual(new Set(['']))
  })

  test('loads only parts of the core for small entries', () => {
    const size = (file: string): number => reachedFrom(file).join('').length
    const core = size('index.js')
    for (const [file, part] of [
      ['fetch.js', 0.1],
      ['stats.js', 0.1],
      ['client.js', 0.4],
      ['matchers.js', 0.4],
    ] as const)
      expect([file, size(file) < core * part]).toEqual([file, true])
  })
})

test('the root exports fifteen values; all else is a type or in another entry', async () => {
  const names = await run('module', `import * as entry from 'stuntdouble'; ${print}`)
  expect(names).toHaveLength(15)
  expect(names).toEqual(expect.arrayContaining(['createSandbox', 'fault', 'faultKinds', 'injectionPoints', 'devUsers']))
})

test('the declarations contain no engine and only constructors of errors', () => {
  const files = readdirSync(join(own, 'dist/types'))
  const codes = files.map((file) => readFileSync(join(own, 'dist/types', file), 'utf8')).join('\n')
  expect(codes.match(/\bclass \w*(?:Engine|Scheduler|Registry|Ledger|ControlClient)\b/g)).toBeNull()
  const classes = codes.split(/^(?=(?:declare |export )*(?:abstract )?class )/m).slice(1)
  const constructed = classes.filter((code) => /^ {2}constructor\(/m.test(code.split(/^}/m)[0]!))
  expect(constructed.map((code) => /class (\w+)/.exec(code)![1])).toEqual([])
})

describe('a class has one identity', () => {
  test.each(['module', 'commonjs'] as const)('across the entries as %s', async (format) => {
    const load = (name: string): string =>
      format === 'module' ? `await import('stuntdouble${name}')` : `require('stuntdouble${name}')`
    const program = `(async () => {
      const core = ${load('')}
      const { startServer } = ${load('/server')}
      const server = await startServer({ port: 0 })
      const sandbox = server.tenant('main')
      const own = core.createSandbox()
      const parts = [[sandbox, own], [sandbox.clock, own.clock]]
      console.log(JSON.stringify(parts.map(([one, other]) => one.constructor === other.constructor)))
      await server.close()
    })()`
    expect(await run(format, program)).toEqual([true, true])
  })

  test('throws the same errors across the entries as a module', async () => {
    const program = `
      import { createSandbox, ReplyError } from 'stuntdouble'
      import { startServer } from 'stuntdouble/server'
      const server = await startServer({ port: 0 })
      const found = [createSandbox(), server.tenant('main')].map((sandbox) => {
        try { sandbox.store.run('GET') } catch (error) { return error instanceof ReplyError }
      })
      console.log(JSON.stringify(found))
      await server.close()`
    expect(await run('module', program)).toEqual([true, true])
  })

  test.each(['.cjs', '.js'])('is in one %s file only', (ending) => {
    const files = readdirSync(join(own, 'dist')).filter((file) => file.endsWith(ending))
    const homes = new Map<string, Set<string>>()
    for (const file of files) {
      const code = readFileSync(join(own, 'dist', file), 'utf8')
      // The beginning of a class tells it from others of its name. Shorter names are in the text of the inspector's page.
      for (const [text, variable, name] of code.matchAll(
        /(?:\b(?:var|let|const) (\w{3,})=class\b|\bclass (\w{3,}))[\s\S]{0,150}/g,
      )) {
        const known = homes.get(text) ?? homes.set(text, new Set()).get(text)!
        if ((variable ?? name) !== undefined) known.add(file)
      }
    }
    expect([...homes.keys()].some((text) => /\bClock\b/.test(text.slice(0, 20)))).toBe(true)
    const copied = [...homes].filter(([, places]) => places.size > 1)
    expect(copied).toEqual([])
  })

  test('is declared once for modules and CommonJS', () => {
    const files = readdirSync(join(own, 'dist/types'))
    expect(files.filter((file) => !file.endsWith('.d.cts'))).toEqual([])
    const codes = files.map((file) => readFileSync(join(own, 'dist/types', file), 'utf8'))
    const found = (pattern: RegExp) =>
      codes.flatMap((code) => [...code.matchAll(pattern)].map(([, name]) => name)).sort()
    expect(found(/^(?:declare|export).* class (Sandbox|Clock)\b/gm)).toEqual(['Clock', 'Sandbox'])
    // A peer has different type files for modules and for CommonJS.
    const peers = Object.keys(manifest.peerDependencies)
    const packages = found(/ from ['"]([^.'"][^'"]*)['"]/g)
    expect(packages.filter((name) => peers.some((peer) => name!.startsWith(peer)))).toEqual([])
  })
})

describe('a plain program', () => {
  test('exits after it moved the clock', async () => {
    const program = `
      import { createSandbox } from 'stuntdouble'
      const sandbox = createSandbox()
      const log = []
      sandbox.clock.schedule(sandbox.clock.now() + 1000, 'a', async (task) => { await task.sleep('1s'); log.push('a') })
      await sandbox.clock.drain()
      await sandbox.fetch(sandbox.urls.store + '/ping?_token=' + sandbox.tokens.store)
      await sandbox.clock.advance('1m')
      console.log(JSON.stringify(log))`
    expect(await run('module', program)).toEqual(['a'])
  })

  test('the command line starts', () => {
    const bin = join(own, manifest.bin.stuntdouble!)
    expect(execFileSync(process.execPath, [bin, '--help'], { encoding: 'utf8' })).toContain('serve')
    expect(readFileSync(bin, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })
})

describe('types', () => {
  test.each(['mts', 'cts'])('every entry is typed for .%s', (suffix) => {
    const lines = entries.map(
      (entry, index) =>
        `import * as entry${index} from '${entry}'\nexport const loaded${index}: object = entry${index}`,
    )
    const uses = `import { createSandbox, type Sandbox } from 'stuntdouble'
const sandbox: Sandbox = createSandbox({ seed: 7, dialect: 'upstash', startAt: '2030-01-01T09:00:00Z' })
export const now: number = sandbox.clock.now()
export const moved: Promise<void> = sandbox.clock.advance('1d10h30m')
// @ts-expect-error There is no such dialect.
createSandbox({ dialect: 'acme' })
// @ts-expect-error A unit is missing.
sandbox.clock.advance('5')
`
    const file = `use.${suffix}`
    writeFileSync(join(consumer, file), `${lines.join('\n')}\n${uses}`)
    const args = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
      file,
    ]
    const tsc = join(consumer, 'node_modules/typescript-7/bin/tsc')
    expect(() => execFileSync(process.execPath, [tsc, ...args], { cwd: consumer, encoding: 'utf8' })).not.toThrow()
  })
})

test('the program prints its version', () => {
  const program = join(own, manifest.bin.stuntdouble!)
  expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toBe(`${manifest.version}\n`)
})

test.each(['module', 'commonjs'] as const)('a search and a connection work in a %s', async (format) => {
  const load = (name: string): string =>
    format === 'module' ? `await import('stuntdouble${name}')` : `require('stuntdouble${name}')`
  const program = `const run = async () => {
    const { createSandbox } = ${load('')}
    const { openRedisSocket } = ${load('/redis')}
    const sandbox = createSandbox()
    await sandbox.store.loadSearch('german')
    sandbox.store.run('SEARCH.CREATE', 'i', 'ON', 'STRING', 'PREFIX', 1, 'd:', 'LANGUAGE', 'german', 'SCHEMA', 'a', 'TEXT')
    const { path } = await openRedisSocket(sandbox)
    const { connect } = process.getBuiltinModule('node:net')
    const socket = connect(path)
    socket.write('HELLO 3\\r\\nSEARCH.LISTINDEXES\\r\\nQUIT\\r\\n')
    let text = ''
    for await (const part of socket) text += part
    sandbox.dispose()
    console.log(JSON.stringify(text.slice(text.indexOf('*1'))))
  }
  run()`
  expect(await run(format, program)).toBe('*1\r\n%2\r\n$4\r\nname\r\n$1\r\ni\r\n$4\r\ntype\r\n$6\r\nSTRING\r\n+OK\r\n')
})

test('an imported sandbox and a required connector detect each other', async () => {
  const program = `
    import { createRequire } from 'node:module'
    import { createSandbox } from 'stuntdouble'
    const { ioredisConnector } = createRequire(process.cwd() + '/x.js')('stuntdouble/redis')
    try { ioredisConnector(createSandbox()) } catch (error) { console.log(JSON.stringify(error.message)) }`
  expect(await run('module', program)).toMatch(/'stuntdouble' and 'stuntdouble\/redis' .*same way/)
})
