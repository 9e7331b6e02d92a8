import { expect, test } from 'vitest'
import { checkPeer, installedVersion, isOlder, tooOld } from '../../src/kernel/peers.js'

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
  ['15.0.0-beta.1', [14, 0], false],
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
