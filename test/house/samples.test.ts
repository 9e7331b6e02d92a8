import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// A page shows files of examples/guides unchanged: the fence below a comment with the name of a file is that file.

const root = new URL('../..', import.meta.url).pathname
const files = globSync('examples/guides/*.test.ts', { cwd: root }).sort()

/** Returns the samples of a page by the file that they show. */
function samplesOf(page: string): [file: string, text: string][] {
  const marked = /<!-- (examples\/guides\/[\w-]+\.test\.ts) -->\n+```ts\n(.*?)^```$/gms
  return [...page.matchAll(marked)].map(([, file = '', text = '']) => [file, text])
}

const shown = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].flatMap((page) =>
  samplesOf(readFileSync(join(root, page), 'utf8')),
)

test.each(shown)('the page shows %s as it is', (file, text) => {
  expect(text).toBe(readFileSync(join(root, file), 'utf8'))
})

test('every file of examples/guides is shown on a page', () => {
  expect([...new Set(shown.map(([file]) => file))].sort()).toEqual(files)
})
