const { spawnSync } = require('node:child_process')
const { readFileSync, rmSync, mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

// A second Jest runs tests that must fail, because they cannot be in this suite.

const root = join(__dirname, '../..')
const outcomes = new Map()

beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), 'stuntdouble-jest-'))
  const report = join(directory, 'report.json')
  const config = {
    rootDir: __dirname,
    testMatch: ['<rootDir>/cases/*.case.cjs'],
    transform: {},
    testEnvironment: 'node',
  }
  const argv = [
    join(root, 'node_modules/jest/bin/jest.js'),
    '--json',
    '--outputFile',
    report,
    '--config',
    JSON.stringify(config),
  ]
  spawnSync(process.execPath, argv, { cwd: root })
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  rmSync(directory, { recursive: true })
  for (const { assertionResults } of testResults) {
    for (const { title, failureMessages } of assertionResults) outcomes.set(title, failureMessages.join('\n'))
  }
}, 120_000)

test.each([
  ['does not catch the error', 'qstash.upstash.io'],
  ['catches the error', 'qstash.upstash.io'],
  ['uses node:https', 'eu1-cat.upstash.io'],
])('fails a test without a sandbox that %s', (title, host) => {
  expect(outcomes.get(title)).toContain(
    `A request to ${host}, a real host of the service, was blocked. Call useSandbox() in a setup file`,
  )
})

test('passes the other tests', () => {
  const passed = ['sends no such request', 'lets the request pass']
  expect(passed.map((title) => outcomes.get(title))).toEqual(['', ''])
  expect(outcomes.size).toBe(5)
})
