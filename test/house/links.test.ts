import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    // Links that exist only on the site are checked when it is built.
    .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress/'))
    .map((name) => `docs/${name}`),
]

/** Returns a page without its code blocks. */
function prose(page: string): string {
  return readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '')
}

interface Link {
  readonly from: string
  /** Returns a path of the repository. */
  readonly to: string
  readonly heading: string | undefined
}

function linksOf(page: string, text = prose(page)): Link[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, heading] = target.split('#')
      return { from: page, to: path === '' ? page : normalize(join(dirname(page), path!)), heading }
    })
}

/** Returns the anchors of headings. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isBroken({ to, heading }: Link): boolean {
  if (!existsSync(join(root, to))) return true
  return heading !== undefined && to.endsWith('.md') && !headingsOf(prose(to)).includes(heading)
}

const told = ({ from, to, heading }: Link): string => `${from} → ${to}${heading === undefined ? '' : `#${heading}`}`

test('every link of a page has a target', () => {
  const links = pages.flatMap((page) => linksOf(page))
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter(isBroken).map(told)).toEqual([])
})

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const { to } of linksOf(page)) {
      if (pages.includes(to)) reached.add(to)
      // A list of file names counts as links.
      else if (existsSync(join(root, to)) && statSync(join(root, to)).isDirectory())
        for (const below of pages) if (dirname(below) === to) reached.add(below)
    }
  }
  expect(pages.filter((page) => !reached.has(page))).toEqual([])
})

test('no page has double braces outside of a block, which the site would run', () => {
  expect(pages.filter((page) => prose(page).includes('{{'))).toEqual([])
})

// Tests of the check itself.
test.each([
  ['[x](nowhere.md)', true],
  ['[x](limits.md)', false],
  ['[x](runners/jest.md#fake-timers)', false],
  ['[x](runners/jest.md#real-timers)', true],
  ['[x](decisions)', false],
])('the check detects %s: %s', (text, expected) => {
  expect(linksOf('docs/time.md', text).map(isBroken)).toEqual([expected])
})
