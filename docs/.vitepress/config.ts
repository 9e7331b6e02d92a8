import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { addressOf } from '../../test/support/address.ts'
import { highlight } from './site/highlight.ts'
import { apiSidebar, sidebar } from './site/navigation.ts'
import { built, pages, root, work } from './site/places.ts'

// `npm run docs:site` puts the pages together (site/assemble.ts) and builds them.

const what = 'Test apps on serverless Redis, queues and workflows: no network, no account, no waiting.'

/** Of the repository's page; empty while the owner has not decided on one. */
const repository = addressOf(readFileSync(join(root, 'package.json'), 'utf8'))

export default defineConfig({
  lang: 'en',
  title: 'stuntdouble',
  description: what,
  base: process.env.SITE_BASE ?? '/',
  srcDir: pages,
  outDir: built,
  cacheDir: `${work}/vitepress`,
  head: [
    ['link', { rel: 'icon', href: `${process.env.SITE_BASE ?? '/'}logo.svg`, type: 'image/svg+xml' }],
    ['meta', { name: 'theme-color', content: '#0f766e' }],
  ],
  markdown: {
    anchor: { slugify },
    highlight,
  },
  // The index of the search and the page of an entry are as large as they are; each is loaded when it is wanted.
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    logo: { src: '/logo.svg', alt: '' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Playground', link: '/playground' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Reference', link: '/reference/api/' },
      { text: 'Case studies', link: '/case-studies' },
      ...(repository === '' ? [] : [{ text: 'Source', link: repository }]),
    ],
    sidebar: { '/reference/api/': apiSidebar(), '/': sidebar() },
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    externalLinkIcon: true,
    footer: {
      message:
        'Independent project, not affiliated with, endorsed or supported by Upstash; its names only say what this works with.',
      copyright: 'MIT license',
    },
  },
})

/** Headings are named as the repository's pages name them in their links. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}
