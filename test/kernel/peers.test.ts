import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { checkPeer, installedVersion, isOlder, problemWith, tooOld } from '../../src/kernel/peers.js'

const nock = { peer: 'nock', instead: 'use stuntdouble/fetch' } as const

test.each([
  ['13.5.6', '13.5.6'],
  ['14.0.0-beta.19', 'an older version'],
  // The working directory can have another version than the one that was imported.
  ['15.0.2', 'an older version'],
  [undefined, 'an older version'],
])('names the installed version %s in one message', (version, installed) => {
  expect(tooOld('stuntdouble/nock', nock, version)).toBe(
    `stuntdouble/nock needs nock 14 or newer (installed: ${installed}). Update nock, or use stuntdouble/fetch.`,
  )
})

test('names the version that a part needs, with a minor version if it matters', () => {
  expect(tooOld('stuntdouble/msw/fast', { peer: 'msw', oldest: [3, 0], instead: 'wait' }, '2.15.0')).toContain(
    'needs msw 3 or newer (installed: 2.15.0)',
  )
  expect(tooOld('test.override()', { peer: 'vitest', instead: 'wait' }, '3.1.4')).toContain('vitest 3.2 or newer')
})

test('throws only if the peer lacks something', () => {
  expect(checkPeer('stuntdouble/nock', true, nock)).toBeUndefined()
  expect(() => checkPeer('stuntdouble/nock', false, nock)).toThrow('stuntdouble/nock needs nock 14 or newer')
})

test.each([
  ['13.9.9', [14, 0], true],
  ['14.0.0', [14, 0], false],
  ['14.0.0-beta.1', [14, 0], false],
  ['13.0.0-beta.1', [14, 0], true],
  ['v13.0.0', [14, 0], false],
  // Built from sources.
  ['0.0.0-development', [14, 0], false],
  ['', [14, 0], false],
  ['1.49.1', [1, 50], true],
  ['1.50.0', [1, 50], false],
  ['1.65.1', [1, 50], false],
  ['2.0.0', [1, 50], false],
] as const)('%s is older than %j: %s', (version, oldest, expected) => {
  expect(isOlder(version, oldest)).toBe(expected)
})

test('reads the version of an installed package', () => {
  expect(installedVersion('nock')).toMatch(/^15\./)
  expect(installedVersion('nock', import.meta.url)).toMatch(/^15\./)
  expect(installedVersion('no-such-package')).toBeUndefined()
})

afterEach(() => {
  vi.unstubAllGlobals()
})

// The URL of a module in a browser or on a CDN, of a bundle, and of a REPL.
test.each(['https://cdn.test/nock.js', 'blob:https://shop.test/1', 'webpack://app/nock.js', 'nock.js', ''])(
  'knows no version for a file at %j',
  (from) => {
    expect(installedVersion('nock', from)).toBeUndefined()
  },
)

test('knows no version without files, modules or permissions', () => {
  vi.stubGlobal('process', undefined)
  expect(installedVersion('nock')).toBeUndefined()
  vi.stubGlobal('process', { cwd: () => '/' })
  expect(installedVersion('nock')).toBeUndefined()
  const refuse = (): never => {
    throw new Error('Requires read access')
  }
  vi.stubGlobal('process', { cwd: refuse, getBuiltinModule: refuse })
  expect(installedVersion('nock')).toBeUndefined()
  expect(installedVersion('nock', '/app/index.js')).toBeUndefined()
})

test.each([
  ['{', undefined],
  ['null', undefined],
  ['{}', undefined],
  ['{ "version": 13 }', undefined],
  ['{ "version": "13.5.6" }', '13.5.6'],
])('reads the version of a package.json with %j', (text, version) => {
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-peers-'))
  try {
    mkdirSync(join(folder, 'node_modules/nock'), { recursive: true })
    writeFileSync(join(folder, 'node_modules/nock/package.json'), text)
    expect(installedVersion('nock', join(folder, 'index.js'))).toBe(version)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.each([
  ['nock', '13.5.6', true],
  ['msw', '1.3.5', true],
  ['fast-check', '2.25.0', true],
  ['vitest', '2.1.9', false],
  ['jest', '28.1.3', false],
  ['@playwright/test', '1.49.1', false],
  ['vitest', '3.2.0', undefined],
  ['toString', '1.0.0', undefined],
])('%s %s: fails is %j', (name, version, fails) => {
  expect(problemWith(name, version)?.fails).toBe(fails)
})
