import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const protocol = join(root, 'docs/protocol')

const sources = ['src', 'matchers', 'fixtures', 'packages', 'docs', 'test', 'bench', 'examples'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|md)$/.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`),
)

/** Returns the names by which a page can be cited: numbers and letters of its sections, and their titles in lower case. */
interface Page {
  readonly numbers: ReadonlySet<string>
  readonly names: readonly string[]
}

function pageOf(text: string): Page {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!)
  const numbered = headings.map((heading) => /^(\d+(?:\.\d+)*(?=\.? )|[A-Z](?=\. ))/.exec(heading)?.[1])
  return {
    numbers: new Set(numbered.filter((number) => number !== undefined)),
    names: headings.map((heading) => heading.toLowerCase()),
  }
}

const pages = new Map(
  readdirSync(protocol)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, pageOf(readFileSync(join(protocol, name), 'utf8'))]),
)

interface Citation {
  readonly page: string
  /** Matches a range of sections: `1.5 to 1.11`. */
  readonly sections: readonly string[]
  /** Matches a citation by the title of a section. */
  readonly rest: string
}

/**
 * The citations of a text: `[queue.md 5.2]`, `store.md 7.2, 10`, `queue.md 1.5 to 1.11 and 11`, `service.md B`,
 * `service.md Flow control key entry`, and a page alone. Links and paths are none.
 */
function citationsOf(text: string): Citation[] {
  const joined = text.replace(/\n[ \t]*(?:\/\/|\*(?!\/))?[ \t]*/g, ' ')
  const found = joined.matchAll(
    /(?<![\w/.-]|\]\()\b(queue|store|statistics|service|workflow|search|array|vector)\.md(?![#\w)'`]) ?(?:((?:\d+(?:\.\d+)*|[A-Z]\b)(?:(?:, and |, | and | to )(?:\d+(?:\.\d+)*|[A-Z]\b))*)|(?=(.{0,60})))/g,
  )
  return [...found].map(([, name, list, rest]) => ({
    page: `${name}.md`,
    sections: (list ?? '').split(/, and |, | and /).flatMap(spanned),
    rest: rest ?? '',
  }))
}

/** The sections of `1.5 to 1.11`, of which both ends have the same parent. */
function spanned(section: string): string[] {
  const [first, last] = section.split(' to ')
  if (last === undefined) return section === '' ? [] : [section]
  const [from, to] = [first!, last].map((end) => end.split('.'))
  const parent = from!.slice(0, -1)
  if (to!.slice(0, -1).join('.') !== parent.join('.')) return [section]
  const [low, high] = [Number(from!.at(-1)), Number(to!.at(-1))]
  return Array.from({ length: Math.max(high - low, 0) + 1 }, (_, at) => [...parent, low + at].join('.'))
}

/** Returns why a citation is invalid; `undefined` when it is valid. */
function lostAt({ page, sections, rest }: Citation): string | undefined {
  const cited = pages.get(page)
  if (cited === undefined) return `${page} is no page of docs/protocol`
  const missing = sections.filter((section) => !cited.numbers.has(section))
  if (missing.length > 0) return `${page} has no section ${missing.join(', ')}`
  // Only service.md has sections without a number. In prose ("service.md wins"), the next word is not a title.
  const isNamed = page === 'service.md' && /^[A-Z]/.test(rest)
  if (isNamed && !cited.names.some((name) => startsWithName(rest.toLowerCase(), name))) {
    return `service.md has no section "${rest.split(/[\],;.:]/)[0]}"`
  }
  return undefined
}

const startsWithName = (text: string, name: string): boolean =>
  text.startsWith(name) && !/^\w/.test(text.slice(name.length))

const lostIn = (text: string): string[] => citationsOf(text).flatMap((citation) => lostAt(citation) ?? [])

const texts = sources
  .filter((name) => name !== 'test/house/citations.test.ts')
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))

test('every citation names an existing page and section', () => {
  expect(texts.flatMap(({ text }) => citationsOf(text)).length).toBeGreaterThan(300)
  expect(texts.flatMap(({ name, text }) => lostIn(text).map((lost) => `${name}: ${lost}`))).toEqual([])
})

test('no citation names a missing folder', () => {
  const elsewhere = /\bspec\/(?:queue|store|statistics|service|workflow|search)\.md/
  expect(texts.filter(({ text }) => elsewhere.test(text)).map(({ name }) => name)).toEqual([])
})

test('every citation names its page', () => {
  const alone = /(?:\/\/|\/?\*|\b(?:test|it|describe)\().*(?<![\w\])])\[\d{1,2}\.\d{1,2}(?:, [\w ]+)?\]/
  const lines = texts.flatMap(({ name, text }) => text.split('\n').map((line) => ({ name, line })))
  expect(lines.filter(({ name, line }) => name.endsWith('.ts') && alone.test(line))).toEqual([])
})

test('a page refers only to its own sections', () => {
  const lost = [...pages].flatMap(([name, { numbers }]) =>
    [...readFileSync(join(protocol, name), 'utf8').matchAll(/(?<!\w )\bsection (\d+(?:\.\d+)*)/gi)]
      .map(([, number]) => number!)
      .filter((number) => !numbers.has(number))
      .map((number) => `${name}: section ${number}`),
  )
  expect(lost).toEqual([])
})

// Tests of the check itself.
test.each([
  ['/** Seconds. [queue.md 5.2] */', []],
  ['/** Seconds. [queue.md 5.9] */', ['queue.md has no section 5.9']],
  ['[queue.md 5.2, 16, choice]', []],
  ['[queue.md 5.2, 17]', ['queue.md has no section 17']],
  ['[store.md 5.2: 1 MB a line]', []],
  ['[store.md 5.4: 1 MB a line]', ['store.md has no section 5.4']],
  ['queue.md 1.5 to 1.11 and 11.', []],
  ['queue.md 1.12 to 1.14 and 11.', ['queue.md has no section 1.14']],
  ['store.md 1 to 4, 6, 7.4, 10, 12.', []],
  ['store.md 1 to 14', ['store.md has no section 13, 14']],
  ['Rows: [queue.md 4.2, 5.3,\n * 5.40]', ['queue.md has no section 5.40']],
  ['[statistics.md 1, queue.md 22]', ['queue.md has no section 22']],
  ['[service.md B; queue.md 2.1, 2.3]', []],
  ['[service.md D]', ['service.md has no section D']],
  ['[service.md Flow control key entry]', []],
  ['[queue.md 1.7; service.md Schedule]', []],
  ['[queue.md 1.7; service.md Schedules]', ['service.md has no section "Schedules"']],
  ['[service.md Time tables]', ['service.md has no section "Time tables"']],
  ['[service.md Schedule] [queue.md 0.9]', ['queue.md has no section 0.9']],
  ['[workflow.md 3.3] (search.md 99)', ['search.md has no section 99']],
  ['see [x](queue.md#99-x), [Statistics](docs/statistics.md), `docs/reference/queue.md`', []],
])('the check rejects %s at %j', (text, expected) => {
  expect(lostIn(text)).toEqual(expected)
})
