import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { basename } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

/** Exported types that share a name, and why this is allowed. */
const knownTypes: Readonly<Record<string, string>> = {}

/** Base names of several files, and why this is allowed. */
const knownFiles: Readonly<Record<string, string>> = {
  index: 'what a folder or a package exports',
  jest: 'an entry is named after its runner: the fixture, the matchers, the reporter',
  playwright: 'the same, and the adapter of its routes',
  vitest: 'the same',
}

/** Names without meaning. */
const vague = /^(?:Told|Asked|Given|Kept|World|Said|Seen|Known|Heard|Loose)$/

const declaration =
  /^(?<exported>export )?(?:default )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (?<name>\w+)/gm

const files: string[] = []
const types: { readonly file: string; readonly name: string; readonly isExported: boolean }[] = []

beforeAll(async () => {
  for await (const file of glob('{src,matchers,fixtures,packages/*/{src,page}}/**/*.{ts,tsx}')) {
    if (file.endsWith('.d.ts')) continue
    files.push(file)
    for (const { groups } of readFileSync(file, 'utf8').matchAll(declaration))
      types.push({ file, name: groups!.name!, isExported: groups!.exported !== undefined })
  }
})

/** Returns names that several files share, with these files. */
function shared(named: Iterable<readonly [name: string, file: string]>): Record<string, string[]> {
  const byName = new Map<string, Set<string>>()
  for (const [name, file] of named) byName.set(name, (byName.get(name) ?? new Set()).add(file))
  return Object.fromEntries([...byName].filter(([, at]) => at.size > 1).map(([name, at]) => [name, [...at].sort()]))
}

const without = (found: Record<string, string[]>, known: Readonly<Record<string, string>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(found).filter(([name]) => !(name in known)))

test('no two files export a type of the same name', () => {
  const found = shared(types.filter(({ isExported }) => isExported).map(({ name, file }) => [name, file] as const))
  expect(without(found, knownTypes)).toEqual({})
  expect(Object.keys(knownTypes).filter((name) => !(name in found))).toEqual([])
})

test('no two files have the same base name', () => {
  const found = shared(files.map((file) => [basename(file).replace(/\.tsx?$/, ''), file] as const))
  expect(without(found, knownFiles)).toEqual({})
  expect(Object.keys(knownFiles).filter((name) => !(name in found))).toEqual([])
})

test('a type has a meaningful name', () => {
  const found = types.filter(({ name }) => vague.test(name)).map(({ file, name }) => `${file}: ${name}`)
  expect(found).toEqual([])
})
