import { describe, expect, test } from 'vitest'
import { retiredIn } from './check-prose.js'
import { proseOf, proseOfPage } from './prose.js'

const wordsIn = (source: string, file = 'src/a.ts'): string[] => retiredIn(file, source).map(({ word }) => word)

describe('proseOf()', () => {
  test('returns comments, texts with a space and titles of tests', () => {
    const source = [
      '/** Sends a message. */',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the source of a template
      'const text = `one ${2} three` // four',
      "test('rejects a request', () => {})",
      "import 'a/b'",
    ].join('\n')
    expect(proseOf('src/a.ts', source)).toEqual([
      { kind: 'comment', line: 1, text: '/** Sends a message. */' },
      { kind: 'comment', line: 2, text: '// four' },
      { kind: 'text', line: 2, text: 'one … three' },
      { kind: 'title', line: 3, text: 'rejects a request' },
    ])
  })

  test('joins the lines of a comment', () => {
    expect(proseOf('src/a.ts', '/**\n * One\n * two.\n */\nlet a')[0]?.text).toBe('/** One two. */')
  })

  test('reads the text of JSX', () => {
    expect(proseOf('src/a.tsx', 'const a = <p>two words</p>')).toMatchObject([{ text: 'two words' }])
  })

  test('leaves out the texts of a test, which are data', () => {
    expect(proseOf('test/a.test.ts', "expect(text).toBe('two words')")).toEqual([])
  })
})

test('proseOfPage() leaves out blocks of code, also indented ones', () => {
  const page = ['One.', '', '```ts', 'two()', '```', '', '1. Three:', '', '   ```ts', '   four()', '   ```'].join('\n')
  expect(proseOfPage(page)).toEqual([
    { kind: 'text', line: 1, text: 'One.' },
    { kind: 'text', line: 7, text: 'Three:' },
  ])
})

describe('retiredIn()', () => {
  test.each([
    ['a comment', '/** A url that nobody answers. */ let a', 'nobody'],
    ['a text', "const a = 'the fault never struck'", 'struck'],
    ['a title', "test('the story goes on', () => {})", 'story'],
    ['a phrase over two line comments', '// It stands\n// for a message.\nlet a', 'stands for'],
    ['a phrase over two lines of a comment', '/* It stands\n * for a message. */ let a', 'stands for'],
  ])('finds a retired word in %s', (_, source, word) => {
    expect(wordsIn(source)[0]).toBe(word)
  })

  test('ignores code, links and citations', () => {
    expect(wordsIn('/** See `world`, {@link world} and [queue.md world]. @param world none */ let world')).toEqual([])
  })

  test('allows a word in a folder where it is the term of the field', () => {
    const source = '// Draws four lanes.\nlet a'
    expect(wordsIn(source)).toEqual(['lanes'])
    expect(wordsIn(source, 'packages/inspector/src/a.ts')).toEqual([])
  })
})
