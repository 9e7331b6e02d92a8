import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { createMarkdownRenderer, type DefaultTheme } from 'vitepress'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeApi } from '../../docs/.vitepress/site/api.js'
import { areasOf, divide } from '../../docs/.vitepress/site/areas.js'
import { markdown } from '../../docs/.vitepress/site/markdown.js'
import { entries } from '../support/entries.js'

const out = mkdtempSync(join(tmpdir(), 'stuntdouble-api-'))
/** HTML of each page, by its path without `.md`. */
const pages = new Map<string, string>()

beforeAll(async () => {
  await writeApi(out)
  const renderer = await createMarkdownRenderer(out, markdown)
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  for (const name of files) {
    const path = name.replaceAll('\\', '/')
    const html = renderer.render(readFileSync(join(out, name), 'utf8'), { relativePath: path })
    pages.set(path.replace(/\.md$/, ''), html)
  }
})

afterAll(() => rmSync(out, { recursive: true }))

test('TypeDoc writes a page for each entry and area without a warning', () => {
  expect([...pages.keys()]).toEqual(expect.arrayContaining(['index', 'root/queue', 'stuntdouble/client']))
})

test('every page of the JavaScript API is small enough to load quickly', () => {
  // The layout of the site adds about 25 kB.
  const large = [...pages].filter(([, html]) => html.length > 130_000).map(([path, html]) => `${path}: ${html.length}`)
  expect(large).toEqual([])
})

test('links between the pages of the JavaScript API lead to a page and to its heading', () => {
  const ids = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id))]),
  )
  const links = [...pages].flatMap(([from, html]) =>
    [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)]
      .map(([, url]) => url!)
      .filter((url) => !/^[a-z]+:/.test(url))
      .map((url) => ({ from, url })),
  )
  expect(links.length).toBeGreaterThan(3000)
  const dead = links.filter(({ from, url }) => {
    const [path = '', heading] = url.split('#')
    const page =
      path === '' ? from : posix.join(posix.dirname(from), path.replace(/\.html$/, '').replace(/\/$/, '/index'))
    return !pages.has(page) || (heading !== undefined && !ids.get(page)!.has(decodeURIComponent(heading)))
  })
  expect([...new Set(dead.map(({ from, url }) => `${from}: ${url}`))]).toEqual([])
})

test('the sidebar of the JavaScript API lists every page once', () => {
  const items = JSON.parse(readFileSync(join(out, 'sidebar.json'), 'utf8')) as DefaultTheme.SidebarItem[]
  const links = items.flatMap((item) => [item, ...(item.items ?? [])]).flatMap(({ link }) => link ?? [])
  const paths = links.map((link) => link.replace('/reference/api/', '').replace(/\/$/, '/index'))
  expect(paths.sort()).toEqual([...pages.keys()].filter((path) => path !== 'index').sort())
})

test.each(Object.keys(areasOf))('each export of the entry %s has an area', (entry) => {
  const source = entries[entry]!
  const statements = divide(entry, source).flatMap((area) => area.statements)
  const text = readFileSync(new URL(`../../${source}`, import.meta.url), 'utf8')
  expect(statements).toHaveLength([...text.matchAll(/^export /gm)].length)
})
