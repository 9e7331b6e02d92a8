import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { folder } from './build-and-serve.ts'
import { expect, test } from './reader.ts'

// The built files of all pages, without a browser.

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
const pages = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))

test('pages load nothing from an external host', () => {
  expect(pages.size).toBeGreaterThan(100)
  const asked = [...pages].flatMap(([name, html]) => {
    const loaded = [
      ...html.matchAll(/<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|data)="([^"]*)"/g),
    ]
    const linked = [...html.matchAll(/<link\b[^>]*?\bhref="([^"]*)"/g)]
    return [...loaded, ...linked]
      .map(([, url]) => url!)
      .filter((url) => !/^\/(?!\/)/.test(url))
      .map((url) => `${name}: ${url}`)
  })
  expect(asked).toEqual([])
  const styles = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.css'))
  expect(styles.length).toBeGreaterThan(0)
  for (const style of styles) {
    expect(readFileSync(join(folder, 'assets', style), 'utf8')).not.toMatch(/@import|url\(["']?(?:https?:)?\/\//)
  }
})

test('links within the site lead to a page and to its heading', () => {
  const ids = new Map(
    [...pages].map(([name, html]) => [name, new Set([...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id))]),
  )
  let checked = 0
  const dead = [...pages].flatMap(([name, html]) =>
    [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)]
      .map(([, url]) => url!.replaceAll('&amp;', '&'))
      .filter((url) => !/^[a-z]+:/.test(url) && !url.startsWith('/reference/api/'))
      .filter((url) => {
        checked++
        const [path = '', heading] = url.split('#')
        const target = path === '' ? name : posix.join(path.startsWith('/') ? '' : posix.dirname(name), path)
        const page = [target, `${target}.html`, posix.join(target, 'index.html')]
          .map((one) => one.replace(/^\//, ''))
          .find((one) => pages.has(one))
        if (page === undefined) return !existsSync(join(folder, target))
        return heading !== undefined && heading !== '' && !ids.get(page)!.has(decodeURIComponent(heading))
      })
      .map((url) => `${name}: ${url}`),
  )
  expect(checked).toBeGreaterThan(5000)
  expect([...new Set(dead)]).toEqual([])
})

test('pictures have a file', () => {
  const sources = [...pages].flatMap(([name, html]) =>
    [...html.matchAll(/<img\b([^>]*)>/g)].map(([, attributes]) => ({
      name,
      source: /\bsrc="\/([^"]*)"/.exec(attributes!)?.[1],
    })),
  )
  expect(sources.filter(({ source }) => source?.startsWith('assets/')).length).toBeGreaterThan(0)
  expect(sources.filter(({ source }) => source === undefined || !existsSync(join(folder, source)))).toEqual([])
})

test('llms.txt lists pages that exist as Markdown', () => {
  const list = readFileSync(join(folder, 'llms.txt'), 'utf8')
  const links = [...list.matchAll(/^- \[(.+)\]\((.+?)\): (.*)$/gm)]
  expect(links.length).toBeGreaterThan(40)
  for (const [line, , path, what] of links) {
    expect(readFileSync(join(folder, path!), 'utf8'), line).toMatch(/^# /m)
    expect(what, line).toMatch(/^[A-Z`].*[.!?]$/)
  }
  expect(list).toMatch(/^# stuntdouble\n\n> .+\n/)
  expect(readFileSync(join(folder, 'llms-full.txt'), 'utf8').length).toBeGreaterThan(100_000)
})
