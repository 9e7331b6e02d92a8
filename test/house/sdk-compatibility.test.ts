import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { compatibility, programs, sdkCompatibility, uses } from '../support/sdk-compatibility.js'

const root = new URL('../..', import.meta.url)

describe('docs/sdk-compatibility.md', () => {
  test('is up to date: `npm run docs` writes it', () => {
    expect(readFileSync(new URL('docs/sdk-compatibility.md', root), 'utf8')).toBe(sdkCompatibility())
  })

  const runs = Object.values(compatibility).flatMap((packages) => Object.values(packages).flat())
  test.each([...runs, ...Object.values(programs)])('names a test that runs the version: $test, $by', ({ test, by }) => {
    expect(uses(test, by)).toBe(true)
  })

  test('lists all peers of package.json', () => {
    const { peerDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    const listed = Object.values(compatibility).flatMap((packages) => Object.keys(packages))
    expect(listed).toEqual(expect.arrayContaining(Object.keys(peerDependencies)))
  })

  test('lists a version of each folder of test/versions', () => {
    const places = runs.map(({ at }) => at).filter((at) => at.startsWith('test/versions/'))
    expect([...new Set(places.map((at) => at.split('/')[2]))].sort()).toEqual(
      readdirSync(new URL('test/versions/', root)).sort(),
    )
  })
})

describe('uses()', () => {
  test('finds a text in a test and in a module that it imports', () => {
    expect(uses('test/sdk/queue/publish.test.ts', "'@upstash/qstash'")).toBe(true)
    expect(uses('test/sdk/queue/publish.test.ts', "'no-such-package'")).toBe(false)
  })
})
