import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { placed } from '../../docs/.vitepress/site/navigation.js'

const docs = new URL('../../docs', import.meta.url).pathname
/** The site generates these pages: the JavaScript API, and a list of the files for each folder without an index page. */
const isGenerated = (path: string): boolean =>
  path.startsWith('reference/api/') || (path.endsWith('/index.md') && existsSync(join(docs, dirname(path))))

test('the sidebar lists every page of docs/ exactly once', () => {
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress/'))
  expect(pages.length).toBeGreaterThan(100)
  expect(placed().filter((path, nth, all) => all.indexOf(path) !== nth)).toEqual([])
  expect(pages.filter((page) => !placed().includes(page))).toEqual([])
})

test('the sidebar leads only to pages that exist', () => {
  expect(placed().filter((path) => !isGenerated(path) && !existsSync(join(docs, path)))).toEqual([])
})
