import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { type BuildOptions, build, transformSync } from 'esbuild'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Exercised } from './deferred/exercise.js'

// Node reads some parts of the package on first use. Wherever the package runs, and however it was loaded, a program that
// uses all of them must see the same, with each class once and with the arrays and objects of its own realm.

const consumer = inject('consumer')
const place = join(consumer, 'deferred')
const source = readFileSync(new URL('deferred/exercise.ts', import.meta.url), 'utf8')
const parts = readdirSync(join(consumer, 'node_modules/stuntdouble/dist/parts'))
  .filter((file) => file.endsWith('.cjs'))
  .map((file) => file.slice(0, -4))

const entryNames = { core: '', matchers: '/matchers', report: '/report', scenarios: '/scenarios' }
const imports = Object.entries(entryNames).map(([name, entry]) => `import * as ${name} from 'stuntdouble${entry}'`)
const requires = Object.entries(entryNames).map(([name, entry]) => `${name}: require('stuntdouble${entry}')`)
const entries = Object.keys(entryNames).join(', ')

interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly status: number | null
}

function run(cwd: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: '1', CI: '1' } })
    const texts = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (text: Buffer) => {
        texts[stream] += text
      })
    }
    child.on('close', (status) => resolve({ ...texts, status }))
  })
}

/** Runs a program whose last line prints JSON. */
async function printed(cwd: string, file: string, program: string, options: readonly string[] = []): Promise<unknown> {
  writeFileSync(join(cwd, file), program)
  const { stdout, stderr, status } = await run(cwd, ['--no-warnings', ...options, file])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
}

/** Makes a folder with the program in both formats. */
function folder(name: string, within: string = place): string {
  const path = join(within, name)
  mkdirSync(path, { recursive: true })
  for (const [format, ending] of [['esm', 'mjs'] as const, ['cjs', 'cjs'] as const])
    writeFileSync(join(path, `exercise.${ending}`), transformSync(source, { loader: 'ts', format }).code)
  if (expected !== undefined) writeFileSync(join(path, 'expected.json'), JSON.stringify(expected.summary))
  return path
}

const asModule = `${imports.join('\n')}
import { exercise } from './exercise.mjs'
console.log(JSON.stringify([await exercise({ ${entries} }), await exercise({ ${entries} })]))`

/**
 * Bounds of what runs at import. Most calls make a row of a table: 180 rows of commands and their arguments, 50 texts of
 * HTTP statuses, and the schemas of policies, faults and scenario steps, whose modules the core contains.
 */
const atImport = { calls: 4500, schemas: 230 }

let expected: Exercised | undefined

beforeAll(async () => {
  const [first] = (await printed(folder('first'), 'run.mjs', asModule)) as [Exercised]
  expect(first.broken).toEqual([])
  expect(Object.keys(first.summary).length).toBeGreaterThan(10)
  expected = first
})

describe('in Node', () => {
  test('as modules, before and after loading', async () => {
    expect(await printed(folder('modules'), 'run.mjs', asModule)).toEqual([expected, expected])
  })

  test('as CommonJS, and with both copies in one process', async () => {
    const program = `${imports.join('\n')}
      import { createRequire } from 'node:module'
      import { exercise } from './exercise.mjs'
      const require = createRequire(import.meta.url)
      const copy = { ${requires.join(', ')} }
      const results = []
      for (const each of [copy, { ${entries} }, copy]) results.push(await exercise(each))
      console.log(JSON.stringify(results))`
    expect(await printed(folder('both'), 'run.mjs', program)).toEqual([expected, expected, expected])
  })

  test('with permission to read only the project, from another working directory', async () => {
    const path = folder('permission')
    const program = `process.chdir('..')\n${asModule.replace(/^import \* as (\w+) from (.*)$/gm, 'const $1 = await import($2)').replace(/^import \{ (exercise) \} from (.*)$/m, 'const { $1 } = await import($2)')}`
    expect(await printed(path, 'run.mjs', program, ['--permission', `--allow-fs-read=${consumer}/*`])).toEqual([
      expected,
      expected,
    ])
  })

  test('in a folder with characters that URLs escape', async () => {
    const path = folder('ä #1 100% ?x')
    const modules = join(path, 'node_modules')
    mkdirSync(modules)
    cpSync(join(consumer, 'node_modules/stuntdouble'), join(modules, 'stuntdouble'), { recursive: true })
    expect(await printed(path, 'run.mjs', asModule)).toEqual([expected, expected])
    const program = `const { exercise } = require('./exercise.cjs')
      exercise({ ${requires.join(', ')} }).then((result) => console.log(JSON.stringify(result)))`
    expect(await printed(path, 'run.cjs', program)).toEqual(expected)
  })

  test.each(['mjs', 'cjs'])('reads no part at import, and each part with its first use, as %s', async (ending) => {
    const load = ending === 'mjs' ? `await import('stuntdouble')` : `require('stuntdouble')`
    const program = `(async () => {
      const { registerHooks } = ${ending === 'mjs' ? `await import('node:module')` : `require('node:module')`}
      let seen = []
      registerHooks({
        load(url, context, next) {
          const name = /\\/dist\\/parts\\/(.*)\\.c?js$/.exec(url)?.[1]
          if (name !== undefined) seen.push(name)
          return next(url, context)
        },
      })
      const { createSandbox } = ${load}
      const sandbox = createSandbox()
      const { store, traffic } = sandbox
      const uses = {
        import: () => {},
        'a plain command': () => store.run('SET', 'k', 'v'),
        'a script': () => store.run('EVAL', 'return 1', 0),
        'a document': () => store.run('JSON.SET', 'd', '$', '{}'),
        'a list of messages': () => sandbox.queue.messages,
        'the text of the log': () => traffic.timeline(),
        'a dump': () => sandbox.dump(),
        'a script again': () => store.run('EVAL', 'return 2', 0),
      }
      const read = {}
      for (const [name, use] of Object.entries(uses)) {
        use()
        read[name] = seen
        seen = []
      }
      console.log(JSON.stringify(read))
    })()`
    expect(await printed(folder(`reads-${ending}`), `run.${ending}`, program)).toEqual({
      import: ending === 'mjs' ? ['node'] : [],
      'a plain command': [],
      'a script': ['scripts'],
      'a document': ['commands'],
      'a list of messages': ['queue'],
      'the text of the log': ['reports'],
      'a dump': ['dumps', 'snapshots'],
      'a script again': [],
    })
  })

  test('builds little at import', async () => {
    // Precise coverage counts the calls of each function.
    const program = `import { Session } from 'node:inspector/promises'
      const session = new Session()
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
      await import('stuntdouble')
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const calls = {}
      for (const { url, functions } of result.filter(({ url }) => url.includes('/stuntdouble/dist/')))
        for (const { functionName, ranges } of functions) calls[functionName] = (calls[functionName] ?? 0) + ranges[0].count
      console.log(JSON.stringify(calls))`
    const calls = (await printed(folder('calls'), 'run.mjs', program)) as Record<string, number>
    const all = Object.values(calls).reduce((sum, count) => sum + count, 0)
    expect(all).toBeGreaterThan(100)
    expect(all).toBeLessThan(atImport.calls)
    // valibot calls this once for each schema.
    expect(calls._standardSchema).toBeLessThan(atImport.schemas)
    // rou3 builds no router. noble creates one SHA-1 and one SHA-256, whose sizes it reads.
    expect([calls.createRouter, calls.addRoute, calls.HashMD]).toEqual([0, 0, 2])
  })

  test.each([
    ['throws', `fs.readFileSync = () => { throw new Error('replaced') }`],
    ['returns a text', `fs.readFileSync = () => '{}'`],
    ['has a getter', `Object.defineProperty(fs, 'readFileSync', { configurable: true, get: () => () => '' })`],
  ])('reads a part although a replaced readFileSync %s', async (_, replace) => {
    for (const [ending, load] of [
      ['mjs', `import fs from 'node:fs'\nimport { createSandbox } from 'stuntdouble'`],
      ['cjs', `const fs = require('node:fs')\nconst { createSandbox } = require('stuntdouble')`],
    ] as const) {
      const program = `${load}
        const sandbox = createSandbox()
        ${replace}
        const replaced = fs.readFileSync
        const reply = sandbox.store.run('EVAL', 'return 1', 0)
        console.log(JSON.stringify([reply, fs.readFileSync === replaced || typeof replaced === 'function']))`
      expect(await printed(folder('replaced'), `run.${ending}`, program)).toEqual([1, true])
    }
  })

  test('says which file is missing', async () => {
    const path = folder('moved')
    const modules = join(path, 'node_modules')
    mkdirSync(modules)
    cpSync(join(consumer, 'node_modules/stuntdouble'), join(modules, 'stuntdouble'), { recursive: true })
    for (const [ending, load] of [
      ['mjs', `import fs from 'node:fs'\nimport { createSandbox } from 'stuntdouble'`],
      ['cjs', `const fs = require('node:fs')\nconst { createSandbox } = require('stuntdouble')`],
    ] as const) {
      const program = `${load}
        fs.renameSync('node_modules/stuntdouble', 'node_modules/moved')
        const attempt = () => {
          try {
            return createSandbox().store.run('EVAL', 'return 1', 0)
          } catch (error) {
            return error.message
          }
        }
        const failed = attempt()
        fs.renameSync('node_modules/moved', 'node_modules/stuntdouble')
        console.log(JSON.stringify([failed, attempt()]))`
      expect(await printed(path, `run.${ending}`, program)).toEqual([
        expect.stringMatching(
          /^stuntdouble cannot read its file dist\/parts\/scripts\.cjs\. .* until it is first used\.$/,
        ),
        1,
      ])
    }
  })
})

describe('in Vitest', () => {
  const pools = ['forks', 'threads', 'vmForks', 'vmThreads']
  const kinds = {
    external: {},
    inlined: { server: { deps: { inline: ['stuntdouble'] } } },
    // Vite transforms what is outside of node_modules.
    linked: {},
  }

  test('in each pool: external, inlined and linked', async () => {
    const path = join(place, 'vitest')
    const projects = Object.entries(kinds).flatMap(([kind, options]) => {
      const root = folder(kind, path)
      const program = `${imports.join('\n')}
        import { readFileSync } from 'node:fs'
        import { expect, test, vi } from 'vitest'
        import { exercise } from './exercise.mjs'
        const expected = readFileSync(new URL('expected.json', import.meta.url), 'utf8')
        const check = async (given) => {
          const { summary, broken } = await exercise(given)
          expect(broken).toEqual([])
          expect(JSON.stringify(summary)).toBe(expected)
        }
        vi.useFakeTimers()
        test('before loading', () => check({ ${entries} }))
        vi.useRealTimers()
        test('after loading', () => check({ ${entries} }))
        test('after a reset of modules', async () => {
          vi.resetModules()
          vi.doMock('node:fs', () => ({ default: {}, readFileSync: () => '{}' }))
          const again = { ${Object.entries(entryNames).map(([name, entry]) => `${name}: await import('stuntdouble${entry}')`)} }
          await check(again)
          await check({ ${entries} })
        })`
      writeFileSync(join(root, 'parts.test.mjs'), program)
      return pools.map((pool) => ({
        test: { name: `${kind}-${pool}`, root, pool, include: ['*.test.mjs'], ...options },
      }))
    })
    const linked = join(path, 'packages/stuntdouble')
    cpSync(join(consumer, 'node_modules/stuntdouble'), linked, { recursive: true })
    mkdirSync(join(path, 'linked/node_modules'))
    symlinkSync(linked, join(path, 'linked/node_modules/stuntdouble'))
    const options = { projects, testTimeout: 60_000 }
    writeFileSync(join(path, 'vitest.config.mjs'), `export default { test: ${JSON.stringify(options)} }`)
    const runner = join(consumer, 'node_modules/vitest/vitest.mjs')
    const { stdout, stderr } = await run(path, [runner, 'run', '--reporter=json', '--outputFile=report.json'])
    expect(stdout + stderr).not.toMatch(/FAIL|Error/)
    expect(JSON.parse(readFileSync(join(path, 'report.json'), 'utf8'))).toMatchObject({
      numPassedTests: 3 * pools.length * Object.keys(kinds).length,
      numFailedTests: 0,
    })
  }, 600_000)
})

describe('in Jest', () => {
  const check = `const check = async (given) => {
      const { summary, broken } = await exercise(given)
      expect(broken).toEqual([])
      expect(JSON.stringify(summary)).toBe(expected)
    }`

  test.each([
    [
      'CommonJS',
      'cjs',
      [],
      `const { exercise } = require('./exercise.cjs')
      const expected = require('node:fs').readFileSync(__dirname + '/expected.json', 'utf8')
      ${check}
      const load = () => ({ ${requires.join(', ')} })
      const entries = load()
      test('before loading', () => check(entries))
      test('after loading', () => check(entries))
      test('after a reset of modules', async () => {
        jest.resetModules()
        for (const name of ['fs', 'node:fs', 'node:module']) jest.doMock(name, () => ({ readFileSync: () => '{}' }))
        jest.useFakeTimers()
        const again = load()
        again.core.createSandbox().store.run('EVAL', 'return 1', 0)
        jest.useRealTimers()
        await check(again)
        await check(entries)
      })
      test('isolated', async () => {
        let isolated
        jest.isolateModules(() => {
          isolated = load()
        })
        await check(isolated)
      })`,
    ],
    [
      'modules',
      'mjs',
      ['--experimental-vm-modules'],
      `${imports.join('\n')}
      import { readFileSync } from 'node:fs'
      import { jest } from '@jest/globals'
      import { exercise } from './exercise.mjs'
      const expected = readFileSync(new URL('expected.json', import.meta.url), 'utf8')
      ${check}
      test('before loading', () => check({ ${entries} }))
      test('after loading', () => check({ ${entries} }))
      test('after a reset of modules', async () => {
        jest.resetModules()
        const core = await import('stuntdouble')
        expect(core.createSandbox().store.run('EVAL', 'return 1', 0)).toBe(1)
      })
      test('with a spy', async () => {
        const fs = await import('node:fs')
        jest.resetModules()
        const spy = jest.spyOn(fs.default, 'readFileSync')
        const core = await import('stuntdouble')
        expect(core.createSandbox().store.run('EVAL', 'return 1', 0)).toBe(1)
        spy.mockRestore()
      })`,
    ],
  ])('as %s', async (_, ending, options, program) => {
    const path = folder(`jest-${ending}`)
    const config = {
      testMatch: [`<rootDir>/*.test.${ending}`],
      moduleFileExtensions: ['mjs', 'js', 'cjs', 'json'],
      transform: {},
      testTimeout: 60_000,
    }
    writeFileSync(join(path, 'jest.config.json'), JSON.stringify(config))
    writeFileSync(join(path, `parts.test.${ending}`), program)
    const runner = join(consumer, 'node_modules/jest/bin/jest.js')
    const { status, stderr } = await run(path, [...options, '--no-warnings', runner, '--no-watchman', '--rootDir', '.'])
    expect({ status, passed: /^Tests: +(\d+) passed, \1 total$/m.test(stderr) }, stderr).toEqual({
      status: 0,
      passed: true,
    })
  })
})

describe('bundled', () => {
  async function bundled(
    name: string,
    options: BuildOptions,
    entry = `${imports.join('\n')}
    import { exercise } from './exercise.mjs'
    globalThis.exercised = exercise({ ${entries} })
    globalThis.exercised.then((result) => globalThis.print?.(JSON.stringify(result)))`,
  ): Promise<string> {
    const path = folder(`bundle-${name}`)
    writeFileSync(join(path, 'app.mjs'), entry)
    const { outputFiles, metafile } = await build({
      absWorkingDir: path,
      entryPoints: ['app.mjs'],
      bundle: true,
      write: false,
      metafile: true,
      logLevel: 'silent',
      ...options,
    })
    const outside = Object.values(metafile!.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    if (options.platform === 'browser') expect(outside).toEqual([])
    return outputFiles![0]!.text
  }

  test('for a browser: without anything of Node', async () => {
    const code = await bundled('browser', { platform: 'browser', format: 'iife' })
    const { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL } = globalThis
    const web = { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL }
    const { atob, btoa, clearTimeout, crypto, MessageChannel, queueMicrotask, setTimeout, structuredClone } = globalThis
    const more = { atob, btoa, clearTimeout, crypto, MessageChannel, queueMicrotask, setTimeout, structuredClone }
    const { ReadableStream, URLSearchParams } = globalThis
    const context = createContext({ ...web, ...more, ReadableStream, URLSearchParams, console })
    new Script(code).runInContext(context)
    const { summary, broken } = (await context.exercised) as Exercised
    expect([...broken]).toEqual([])
    expect(JSON.parse(JSON.stringify(summary))).toEqual(expected!.summary)
  })

  test.each(['esm', 'cjs'] as const)('for Node, as %s', async (format) => {
    const ending = format === 'esm' ? 'mjs' : 'cjs'
    const code = await bundled(`node-${format}`, { platform: 'node', format })
    const alone = folder(`alone-${format}`)
    expect(await printed(alone, `run.${ending}`, `globalThis.print = console.log\n${code}`)).toEqual(expected)
  })

  test('for Node without the condition `module`: fails on first use, with one message', async () => {
    const options: BuildOptions = { platform: 'node', conditions: [] }
    const entry = `import { createSandbox } from 'stuntdouble'
      const { store } = createSandbox()
      store.run('SET', 'k', 'v')
      try {
        store.run('EVAL', 'return 1', 0)
      } catch (error) {
        console.log(JSON.stringify(error.message))
      }`
    for (const format of ['esm', 'cjs'] as const) {
      const ending = format === 'esm' ? 'mjs' : 'cjs'
      const code = await bundled(`message-${format}`, { ...options, format }, entry)
      expect(await printed(folder(`message-alone-${format}`), `run.${ending}`, code)).toMatch(
        /^stuntdouble cannot read its file dist\/parts\/scripts\.cjs\. If the package was bundled, leave it external/,
      )
    }
  })
})

test('what browsers load of the parts imports nothing of Node', () => {
  const own = join(consumer, 'node_modules/stuntdouble')
  const { imports: conditions } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    imports: { '#parts/*': Record<string, string> }
  }
  const { node, ...elsewhere } = conditions['#parts/*']
  expect(node).toBe('./dist/parts/node.js')
  expect(new Set(Object.values(elsewhere))).toEqual(new Set(['./dist/parts/*.js']))
  // The first condition that matches counts, and bundlers for browsers and Workers may have `node` as well.
  expect(Object.keys(conditions['#parts/*']).at(-2)).toBe('node')
  expect(parts.length).toBeGreaterThan(10)
  for (const part of parts) {
    const code = readFileSync(join(own, 'dist/parts', `${part}.js`), 'utf8')
    expect(code).not.toMatch(/["'`]node:|\brequire\s*\(|\bprocess\b(?!['"`])/)
  }
})
