import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apply, type Guide, readGuide, type Sample } from '../support/guide.js'

// Follows the guide for contributors in a copy of the tree.

const root = new URL('../..', import.meta.url).pathname
const pages = join(root, 'docs/contributing')
const guide: Guide = readGuide(readFileSync(join(pages, 'add-one-thing.md'), 'utf8'))
const copied = ['src', 'matchers', 'fixtures', 'packages', 'test']
const single = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'packages/inspector/build.ts', 'package-lock.json']

let copy = ''
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'stuntdouble-guide-'))
  for (const name of [...copied, ...single]) cpSync(join(root, name), join(copy, name), { recursive: true })
  for (const sample of guide.samples) apply(sample, copy)
  install()
})

/** Links the dependencies and the workspaces of the copy, like `npm install`. */
function install(): void {
  const dependencies = readdirSync(join(root, 'node_modules')).filter((name) => name !== '@stuntdouble')
  mkdirSync(join(copy, 'node_modules/@stuntdouble'), { recursive: true })
  for (const name of dependencies) symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  const { workspaces } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as { workspaces: string[] }
  for (const folder of workspaces.filter((name) => name.startsWith('packages/')))
    symlinkSync(join(copy, folder), join(copy, 'node_modules/@stuntdouble', folder.slice('packages/'.length)))
}

afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Files that several tests read. */
const parsed = new Map<string, ts.SourceFile>()

/** Returns the compiler errors for files of the copy, one line each. @param changed other texts for some files */
function complaints(files: readonly string[], changed: Readonly<Record<string, string>> = {}): string[] {
  const { config } = ts.readConfigFile(join(copy, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, copy)
  const host = ts.createCompilerHost(options)
  const parse = host.getSourceFile
  host.getSourceFile = (name, target, ...more) => {
    const text = Object.entries(changed).find(([file]) => name === join(copy, file))?.[1]
    if (text !== undefined) return ts.createSourceFile(name, text, target)
    const known = parsed.get(name) ?? parse(name, target, ...more)
    if (known !== undefined) parsed.set(name, known)
    return known
  }
  const program = ts.createProgram(
    files.map((file) => join(copy, file)),
    options,
    host,
  )
  return files.flatMap((file) => {
    const source = program.getSourceFile(join(copy, file))
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found.map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}

function filesOf(adds: string): string[] {
  return [...new Set(guide.samples.filter((sample) => sample.adds === adds).map(({ file }) => file))].sort()
}

describe('adding one thing touches', () => {
  test.each([
    ['A command', ['src/store/commands/hash.ts', 'test/store/hash.steps.ts']],
    ['An endpoint', ['src/stats/rest/stats-endpoints.ts', 'test/stats/user.test.ts']],
    ['A fault', ['src/faults/fault.ts', 'src/faults/response-faults.ts', 'test/contract/faults.ts']],
    [
      'A policy',
      ['src/policy/policy.ts', 'src/policy/schema.ts', 'src/queue/publisher.ts', 'test/queue/max-labels.test.ts'],
    ],
    ['A method of the public API', ['src/queue/direct-queue.ts', 'test/sandbox/recorded-calls.test.ts']],
    [
      'A control operation',
      ['packages/server/src/control/clock-operations.ts', 'packages/server/test/clock-until.test.ts'],
    ],
    [
      'An entry type',
      [
        ...[
          'matchers/step-matchers.ts',
          'src/kernel/traffic-log.ts',
          'src/report/describe.ts',
          'src/report/entry-field-names.ts',
          'src/report/trace-schema.ts',
        ],
        'test/report/remark.test.ts',
      ],
    ],
    [
      'A workspace',
      [
        ...[
          'package.json',
          'packages/dice/package.json',
          'packages/dice/src/index.ts',
          'packages/dice/test/dice.test.ts',
        ],
        'test/house/imports.test.ts',
      ],
    ],
    ['A matcher', ['matchers/index.ts', 'matchers/timers.ts', 'test/matchers/verdicts.ts', 'test/matchers/wrong.ts']],
  ])('%s: its row and its test', (adds, files) => {
    expect(filesOf(adds)).toEqual(files)
  })

  test('nothing else, and its types are right', () => {
    const touched = [...new Set(guide.samples.map(({ file }) => file))]
    const sources = touched.filter((file) => file.endsWith('.ts') && !/(?:^|\/)test\//.test(file))
    expect(complaints([...sources, 'src/faults/catalog.ts'])).toEqual([])
  })

  test('passes the tests that the guide names', () => {
    const { files, names } = namedTests()
    const run = spawnSync(
      join(root, 'node_modules/.bin/vitest'),
      ['run', '--reporter', 'json', '--outputFile', 'report.json', ...files, '-t', names],
      { cwd: copy, encoding: 'utf8' },
    )
    expect(existsSync(join(copy, 'report.json')), run.stdout + run.stderr).toBe(true)
    const report = JSON.parse(readFileSync(join(copy, 'report.json'), 'utf8')) as Report
    const all = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    const ran = all.filter(({ status }) => status === 'passed' || status === 'failed')
    expect(ran.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)).toEqual([])
    for (const word of [
      ...['HSIZE', '/v2/user', 'captive-portal', 'timers of any number', 'verdicts of the table', 'policy.maxLabels'],
      ...[
        '/clock/until',
        'a remark is',
        'the same dice',
        'pauseQueues() is one input',
        'follows the table',
        'is a workspace',
      ],
    ]) {
      expect(
        ran.some(({ fullName }) => fullName.includes(word)),
        word,
      ).toBe(true)
    }
  })
})

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

/** Combines the `npx vitest run` lines of the guide into one run. */
function namedTests(): { readonly files: readonly string[]; readonly names: string } {
  const files: string[] = []
  const names: string[] = []
  for (const { line } of guide.commands) {
    const words: readonly string[] = line.match(/"[^"]*"|\S+/g) ?? []
    expect(words.slice(0, 3).join(' ')).toBe('npx vitest run')
    const at = words.indexOf('-t')
    const own = words.slice(3, at === -1 ? undefined : at)
    for (const file of own) expect([file, existsSync(join(copy, file))]).toEqual([file, true])
    files.push(...own)
    if (at === -1) names.push(...own.flatMap(titlesIn))
    else names.push(words[at + 1]!.replaceAll('"', ''))
  }
  return { files, names: names.join('|') }
}

/** Returns the titles of a file's tests as patterns. */
function titlesIn(file: string): string[] {
  const text = readFileSync(join(copy, file), 'utf8')
  return [...text.matchAll(/^test\('(.+?)',/gm)].map(([, title]) => title!.replace(/[^\w\s]/g, '.'))
}

test.each([
  ['the default of a policy', 'src/policy/policy.ts', 'maxLabels: undefined,', /maxLabels/],
  ['the schema of a policy', 'src/policy/schema.ts', 'maxLabels: limit,', /maxLabels/],
  ['what a method does', 'src/queue/direct-queue.ts', "pauseQueues: 'changes'", /pauseQueues/],
  ['an entry type in the list of types', 'src/kernel/traffic-log.ts', 'remark: true,', /remark/],
  ['the fields of an entry type', 'matchers/step-matchers.ts', "remark: ['text'],", /remark/],
])('%s: does not compile without its row', (_, file, code, expected) => {
  const whole = readFileSync(join(copy, file), 'utf8')
  expect(whole.split(code)).toHaveLength(2)
  expect(complaints([file], { [file]: whole.replace(code, '') }).join('\n')).toMatch(expected)
})

describe('does not compile a fault without an effect at one of its points', () => {
  const row = (): Sample =>
    guide.samples.find(({ code }) => code.includes('summary: ') && code.includes('atRequestsAndOutbound'))!

  test.each<[string, (code: string) => string, RegExp]>([
    ['a step that deliveries do not meet', (code) => code.replace(/^.*atDeliveries.*\n/m, ''), /queue\.delivery/],
    [
      'the action of another point',
      (code) => code.replace('atRequestsAndOutbound<', 'atDeliveries<'),
      /captive-portal|not assign/,
    ],
    ['a point without an action', (code) => code.replace('at: {', "at: {\n'stream.event': undefined,"), /undefined/],
    ['no sentence', (code) => code.replace(/^.*sentence:.*\n/m, ''), /sentence/],
    ['no row', () => '', /captive-portal/],
  ])('%s', (_, spoil, expected) => {
    const { file, code } = row()
    const whole = readFileSync(join(copy, file), 'utf8')
    expect(whole).toContain(code.trimEnd())
    const spoiled = whole.replace(code.trimEnd(), () => spoil(code))
    const found = complaints([file], { [file]: spoiled })
    expect(found.join('\n')).toMatch(expected)
  })
})

test('detects a sample without a location or with an ambiguous one', () => {
  expect(() => readGuide('## A\n\n```ts\nconst a = 1\n```\n')).toThrow('names its place')
  const twice: Sample = {
    adds: 'A',
    file: 'src/faults/response-faults.ts',
    place: { where: 'after', line: 'import' },
    code: '',
  }
  expect(() => apply(twice, copy)).toThrow('lines that begin with import')
})

test('every command of the development page exists', () => {
  const page = readFileSync(join(pages, 'development.md'), 'utf8')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const steps = readFileSync(join(root, 'test/run.ts'), 'utf8')
  const lines = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text]) => text!.trim().split('\n'))
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines.map((given) => given.replace(/\s*#.*/, ''))) {
    const [, script, rest] = /^npm (?:run )?(test|start|[\w:]+)(?: -- (.*))?$/.exec(line) ?? []
    if (line.startsWith('npx vitest run ')) expect(existsSync(join(root, line.split(' ')[3]!)), line).toBe(true)
    else if (script !== 'ci') expect(Object.keys(scripts), line).toContain(script)
    if (script?.startsWith('test'))
      for (const step of rest?.split(' ').filter((word) => !word.startsWith('--')) ?? [])
        expect(steps).toContain(`'${step}'`)
  }
})
