import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { addressOf } from '../../test/support/address.ts'
import { markdown } from './site/markdown.ts'
import { apiSidebar, sidebar } from './site/navigation.ts'
import { built, pages, root, work } from './site/places.ts'

// `npm run docs:site` collects the pages (site/assemble.ts) and builds them.

const description = 'Test apps on serverless Redis, queues and workflows: no network, no account, no waiting.'

/** URL of the repository; empty until the owner has chosen one. */
const repository = addressOf(readFileSync(join(root, 'package.json'), 'utf8'))

export default defineConfig({
  lang: 'en',
  title: 'stuntdouble',
  description,
  base: process.env.SITE_BASE ?? '/',
  srcDir: pages,
  outDir: built,
  cacheDir: `${work}/vitepress`,
  head: [
    ['link', { rel: 'icon', href: `${process.env.SITE_BASE ?? '/'}logo.svg`, type: 'image/svg+xml' }],
    ['meta', { name: 'theme-color', content: '#0f766e' }],
  ],
  markdown,
  // One file contains the titles and the sidebar for all pages; otherwise each page repeats them.
  metaChunk: true,
  // The search index is larger than Vite's limit. A page loads it only when the reader opens the search.
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
