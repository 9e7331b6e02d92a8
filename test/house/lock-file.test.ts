import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { missingOptional } from '../support/complete-lock-file.ts'

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')

test('the lock file has the packages of every platform, which npm ci requires', () => {
  expect(missingOptional(JSON.parse(text))).toEqual([])
})

test('the lock file names no registry', () => {
  // A workspace is resolved to its folder.
  expect(text).not.toMatch(/"resolved": "[a-z+]+:/)
})

test('the check detects a missing package', () => {
  const lock = {
    packages: {
      'node_modules/a': {
        dev: true,
        optionalDependencies: { '@a/linux-x64-musl': '1.0.0', '@a/darwin-arm64': '1.0.0' },
      },
      'node_modules/@a/darwin-arm64': { version: '1.0.0' },
    },
  }
  const musl = { version: '1.0.0', os: ['linux'], cpu: ['x64'], libc: ['musl'], dev: true, optional: true }
  expect(missingOptional(lock)).toEqual([['node_modules/@a/linux-x64-musl', musl]])
})
