import { describe, expect, test } from 'vitest'
import { apply, choose, mutantsOf } from './mutate.ts'

/** Returns every changed text of a file, in the order of the syntax tree. */
const changed = (text: string): string[] => mutantsOf('src/a.ts', text).map((mutant) => apply(text, mutant))

describe('mutantsOf()', () => {
  test.each<[text: string, mutants: string[]]>([
    ['const a = b < c', ['const a = b <= c', 'const a = b >= c']],
    ['const a = b >= c', ['const a = b > c', 'const a = b < c']],
    ['const a = b === c', ['const a = b !== c']],
    ['const a = b && c', ['const a = b || c']],
    ['const a = b + c', ['const a = b - c']],
    ['const a = b / c', ['const a = b * c']],
    ['const a = b ?? c', ['const a = b']],
    ['const a = b?.c', ['const a = b.c']],
    ['const a = b?.[c]', ['const a = b[c]']],
    ['const a = b?.(c)', ['const a = b(c)']],
    ['if (a) b = c', ['if (!(a)) b = c']],
    ['const a = b ? c : d', ['const a = !(b) ? c : d']],
    ['while (true) {}', ['while (false) {}']],
    ['if (a === b) c = d', ['if (a !== b) c = d']],
    ['const a = 1_000', ['const a = 1001']],
    ['const a = 9n', ['const a = 10n']],
    ["const a = 'b'", ["const a = ''"]],
    ['if (a()) b()\nelse c = d', ['if (!(a())) b()\nelse c = d', 'if (a()) ;\nelse c = d']],
    ['await a()', [';']],
    ['const a = () => {\n  return b\n}', ['const a = () => {\n  return undefined\n}']],
    ['const a = [b]', ['const a = []']],
  ])('changes %j', (text, mutants) => {
    expect(changed(text)).toEqual(mutants)
  })

  test.each([
    "import a from 'b'",
    "export * from 'b'",
    "const a = await import('b')",
    "'use strict'",
    "type A = 'b' | [1, true]",
    "interface A { readonly b: 'c' }",
    "const a = b as 'c'",
    "declare const a: 'b'",
    "const a = { 'b': c, 1: d, summary: 'e', examples: ['f'] }",
    "throw new TypeError('a' + b)",
    'throw new TypeError(a + b)',
    `const a = \`\${b}\` + c`,
    'const a = ""',
    'const a = 1.5',
    'const a = []',
    '[a, b] = c',
    'class A extends B { constructor() { super(); return a } }',
    'const a = () => { return undefined }',
    'const a = String.raw`b`',
  ])('leaves %j alone', (text) => {
    expect(changed(text)).toEqual([])
  })

  test('reports the line, the operator and the two texts', () => {
    expect(mutantsOf('src/a.ts', 'const a = b\n\nconst c = a < 1\n')).toMatchObject([
      { file: 'src/a.ts', line: 3, operator: 'comparison', before: '<', after: '<=' },
      { file: 'src/a.ts', line: 3, operator: 'comparison', before: '<', after: '>=' },
      { file: 'src/a.ts', line: 3, operator: 'integer', before: '1', after: '2' },
    ])
  })
})

describe('choose()', () => {
  const items = Array.from({ length: 100 }, (_, index) => index)

  test('returns the same items for the same seed, and others for another seed', () => {
    expect(choose(items, 10, 'a')).toEqual(choose(items, 10, 'a'))
    expect(choose(items, 10, 'a')).not.toEqual(choose(items, 10, 'b'))
  })

  test('begins a longer choice with the items of a shorter one', () => {
    expect(choose(items, 20, 'a').slice(0, 10)).toEqual(choose(items, 10, 'a'))
  })

  test('returns each item at most once', () => {
    expect(choose(items, 1000, 'a').toSorted((a, b) => a - b)).toEqual(items)
  })
})
