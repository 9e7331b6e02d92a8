import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { effort } from '../support/effort.js'

// Runs `stuntdouble init` in a project. The tests that it writes pass with the next command.

const newest = inject('consumer')
const oldest = inject('consumers')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type Files = Readonly<Record<string, string>>

/** Creates a project inside a consumer, whose packages it uses. */
function projectWith(files: Files, consumer = newest): string {
  const folder = mkdtempSync(join(consumer, 'init-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const clean = (): NodeJS.ProcessEnv => {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', NODE_ENV: 'test' as const }
  for (const name of Object.keys(env)) if (/^npm_|^VITEST|^NODE_OPTIONS|^FORCE_COLOR/.test(name)) delete env[name]
  return env
}

function init(folder: string, ...args: string[]): { readonly code: number | null; readonly out: string } {
  const program = join(newest, 'node_modules/stuntdouble/dist/cli.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'init', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: clean(),
  })
  return { code: status, out: stdout + stderr }
}

/** Runs the last printed command with the programs of the consumer. */
function next(folder: string, out: string, consumer = newest): string {
  const line = out.trimEnd().split('\n').at(-1)!.trim()
  const script = line.replace(/\bnpx (\S+)/, (_, name: string) => join(consumer, 'node_modules/.bin', name))
  const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env: clean() })
  return `${line}\n${stdout}${stderr}\nexit code ${status}`
}

const manifest = (dependency: string | undefined, more: object = {}): Files => ({
  'package.json': JSON.stringify({ devDependencies: dependency === undefined ? {} : { [dependency]: '*' }, ...more }),
})
const typescript = { 'tsconfig.json': '{}' }

/** Each takes some seconds, so only nightly runs try all of them. */
const projects: readonly [what: string, files: Files, consumer: string, written: readonly string[]][] = [
  [
    'Vitest, TypeScript',
    { ...manifest('vitest', { type: 'module' }), ...typescript },
    newest,
    ['stuntdouble.setup.ts', 'stuntdouble.test.ts', 'vitest.config.ts'],
  ],
  [
    'Vitest 3.2, JavaScript without a type',
    manifest('vitest'),
    oldest['vitest-3'],
    ['stuntdouble.setup.mjs', 'stuntdouble.test.mjs', 'vitest.config.mjs'],
  ],
  [
    'Vitest 4 with a configuration and a folder of tests',
    {
      ...manifest('vitest', { type: 'module' }),
      ...typescript,
      'vite.config.ts': "export default { test: { include: ['tests/**/*.test.ts'] } }",
      'tests/own.test.ts': "import { test } from 'vitest'\ntest('own', () => {})",
    },
    oldest['vitest-4'],
    ['stuntdouble.setup.ts', 'tests/stuntdouble.test.ts'],
  ],
  ['Jest', manifest('jest'), newest, ['jest.config.js', 'stuntdouble.setup.js', 'stuntdouble.test.js']],
  [
    'Jest 29 with a configuration in package.json',
    { ...manifest('jest', { jest: { testEnvironment: 'node' } }), 'test/own.test.js': "test('own', () => {})" },
    oldest['jest-29'],
    ['stuntdouble.setup.js', 'test/stuntdouble.test.js'],
  ],
  [
    'Jest in a package of modules',
    manifest('jest', { type: 'module' }),
    newest,
    ['jest.config.js', 'stuntdouble.setup.js', 'stuntdouble.test.js'],
  ],
  [
    'Jest with modules of its own',
    manifest('jest', {
      type: 'module',
      scripts: { test: 'node --experimental-vm-modules node_modules/jest/bin/jest.js' },
    }),
    newest,
    ['jest.config.js', 'stuntdouble.setup.js', 'stuntdouble.test.js'],
  ],
  [
    'Playwright, TypeScript',
    {
      ...manifest('@playwright/test'),
      ...typescript,
      'playwright.config.ts': "export default { testDir: './e2e' }",
      'e2e/own.spec.ts': '',
    },
    newest,
    ['e2e/stuntdouble.spec.ts'],
  ],
  ['Playwright 1.50', manifest('@playwright/test'), oldest['playwright-1.50'], ['stuntdouble.spec.js']],
  ['node:test', manifest(undefined), newest, ['stuntdouble.setup.mjs', 'stuntdouble.test.mjs']],
  [
    'node:test with a folder of tests',
    { ...manifest(undefined, { type: 'module', scripts: { test: 'node --test' } }), 'test/own.test.js': '' },
    newest,
    ['stuntdouble.setup.js', 'test/stuntdouble.test.js'],
  ],
]

const inEachRun: ReadonlySet<string> = new Set(['Vitest, TypeScript', 'Jest', 'Playwright, TypeScript', 'node:test'])

describe.each(projects.filter(([what]) => inEachRun.has(what) || effort === 'nightly'))(
  '%s',
  (_, files, consumer, written) => {
    const folder = projectWith(files, consumer)
    const before = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const added = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => !before.includes(name))
        .sort()

    test('prints what it would write', () => {
      const { code, out } = init(folder, '--dry-run')
      expect(code).toBe(0)
      expect([...out.matchAll(/^Would write (\S+):$/gm)].map(([, name]) => name).sort()).toEqual(written)
      expect(added()).toEqual([])
    })

    test('writes tests that pass', () => {
      const { code, out } = init(folder)
      expect([code, added()]).toEqual([0, written])
      for (const name of written) {
        const shown = readFileSync(join(folder, name), 'utf8').replace(/^(?=.)/gm, '  ')
        expect(out).toContain(`Wrote ${name}:\n\n${shown}`)
      }
      for (const [name, text] of Object.entries(files)) expect(readFileSync(join(folder, name), 'utf8')).toBe(text)
      const told = next(folder, out, consumer)
      expect(told).toMatch(/exit code 0$/)
      expect(told).toMatch(/1 passed|^ℹ pass 1|# pass 1/m)
    })

    test.runIf(written.some((name) => name.endsWith('.ts')))('writes files without type errors', () => {
      const compiler = join(newest, 'node_modules/typescript/bin/tsc')
      const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module preserve --target es2023 --types node'
      const { stdout } = spawnSync(process.execPath, [compiler, ...options.split(' '), ...written], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(stdout).toBe('')
    })

    test('changes nothing when it runs again', () => {
      const texts = () => written.map((name) => readFileSync(join(folder, name), 'utf8'))
      writeFileSync(join(folder, written[0]!), '// mine')
      const mine = texts()
      const { code, out } = init(folder)
      expect([code, texts()]).toEqual([0, mine])
      expect(out).not.toContain('Wrote')
      expect(out).toMatch(
        new RegExp(`${written[0]!.replaceAll('.', '\\.')} (?:exists already and )?was not changed\\.`),
      )
    })
  },
)

describe('init with an unclear project', () => {
  test.each<[string, Files, readonly string[], number, RegExp]>([
    ['no package.json', {}, [], 2, /there is no package\.json in this folder\. Run npm init -y first/],
    [
      'no runner',
      manifest(undefined),
      ['--dry-run'],
      0,
      /No test runner was found in the dependencies, so the files are for node:test/,
    ],
    [
      'two runners',
      { 'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}' },
      ['--dry-run'],
      0,
      /playwright was found, too\. Add --runner playwright to write its files\./,
    ],
    [
      'the root of a monorepo',
      manifest('vitest', { workspaces: ['packages/*'] }),
      [],
      2,
      /this is the root of a monorepo/,
    ],
    [
      'an unknown runner',
      manifest('vitest'),
      ['--runner', 'mocha'],
      2,
      /--runner must be one of vitest, jest, playwright, node/,
    ],
    ['a package.json that is none', { 'package.json': '{' }, [], 2, /package\.json cannot be read/],
  ])('%s', (_, files, args, wanted, sentence) => {
    const { code, out } = init(projectWith(files), ...args)
    expect(code).toBe(wanted)
    expect(out).toMatch(sentence)
  })

  test('init uses the runner of the root in a package of a monorepo', () => {
    const root = projectWith({
      ...manifest('vitest', { workspaces: ['packages/*'] }),
      'pnpm-lock.yaml': '',
      'packages/shop/package.json': '{ "type": "module" }',
    })
    const { out } = init(join(root, 'packages/shop'), '--dry-run')
    expect(out).toMatch(/pnpm add --save-dev stuntdouble\n {2}pnpm exec vitest run stuntdouble\n$/)
  })

  test.each([
    ['vitest', 'vitest.config.js', "export default { test: { setupFiles: ['./stuntdouble.setup.mjs'] } }"],
    ['jest', 'jest.config.js', "module.exports = { setupFilesAfterEnv: ['<rootDir>/stuntdouble.setup.js'] }"],
  ])('init changes no configuration of %s that has the setup file', (runner, config, text) => {
    const { out } = init(projectWith({ ...manifest(runner), [config]: text }), '--dry-run')
    expect(out).not.toContain('To use the sandbox in all tests')
  })

  test.each([
    ['^5.0.0', 'stuntdouble/vitest/extend'],
    ['~4.1', 'stuntdouble/vitest4/extend'],
    ['>=3.2 <4', 'stuntdouble/vitest4/extend'],
    ['*', 'stuntdouble/vitest/extend'],
  ])('init uses for Vitest %s, which is not installed yet, the types of %s', (range, types) => {
    const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-init-'))
    folders.push(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ devDependencies: { vitest: range } }))
    writeFileSync(join(folder, 'tsconfig.json'), '{}')
    const { out } = init(folder, '--dry-run')
    expect(out).toContain(`import '${types}'\n`)
    expect(out).toContain('vitest is not installed yet.')
  })

  test.each([
    ['ts-jest', "transform: { '\\\\.tsx?$': 'ts-jest' }"],
    ['@swc/jest', "transform: { '\\\\.[jt]sx?$': '@swc/jest' }"],
  ])('init writes a configuration of Jest that compiles TypeScript with %s', (transform, line) => {
    const { out } = init(
      projectWith({ ...manifest('jest', { dependencies: { [transform]: '*' } }), ...typescript }),
      '--dry-run',
    )
    expect(out).toContain(line)
    expect(out).toContain("setupFilesAfterEnv: ['./stuntdouble.setup.ts']")
    // Without @types/jest, TypeScript does not know the global functions.
    expect(out).toContain("import { expect, test } from '@jest/globals'")
    expect(out).not.toContain('was not changed')
  })

  test.each(['vitest', 'jest'])('init for %s blocks unhandled outbound requests', (runner) => {
    expect(init(projectWith(manifest(runner)), '--dry-run').out).toContain("onUnhandledOutbound: 'error', // ")
  })

  test('init warns of a runner that is too old to be tested', () => {
    const folder = projectWith({
      ...manifest('vitest'),
      'node_modules/vitest/package.json': '{ "name": "vitest", "version": "2.1.9" }',
    })
    expect(init(folder, '--dry-run').out).toMatch(/vitest 2\.1\.9 is not tested.*3\.2 and later/)
  })
})

test('npm create stuntdouble runs init', () => {
  const own = new URL('../../packages/create-stuntdouble/', import.meta.url).pathname
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-create-'))
  folders.push(place)
  cpSync(own, join(place, 'node_modules/create-stuntdouble'), { recursive: true })
  symlinkSync(join(newest, 'node_modules/stuntdouble'), join(place, 'node_modules/stuntdouble'))
  const folder = projectWith(manifest('vitest'))
  const program = join(place, 'node_modules/create-stuntdouble/create.js')
  const options = { cwd: folder, encoding: 'utf8', env: clean() } as const
  expect(execFileSync(process.execPath, [program, '--dry-run'], options)).toBe(init(folder, '--dry-run').out)
  expect(spawnSync(process.execPath, [program, '--runner', 'mocha'], options).status).toBe(2)
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { version: string; dependencies: object }
  const { version } = read(join(newest, 'node_modules/stuntdouble/package.json'))
  expect(read(join(own, 'package.json'))).toMatchObject({ version, dependencies: { stuntdouble: `^${version}` } })
})
