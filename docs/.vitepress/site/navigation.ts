import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { pages, root } from './places.ts'

/** A page by its path below docs/, or with a title of its own where the heading is too long. */
type Place = string | readonly [path: string, title: string]

/** A list of all pages of a folder that are not named elsewhere. */
const rest = (folder: string): readonly Place[] =>
  readdirSync(join(root, 'docs', folder))
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort()
    .map((name) => `${folder}/${name}`)

/** What the sidebar shows, from above. */
export const sections: Readonly<Record<string, readonly Place[]>> = {
  'Start here': [
    ['how-it-works.md', 'How it works'],
    ['runners/vitest.md', 'Vitest'],
    ['runners/jest.md', 'Jest'],
    ['runners/playwright.md', 'Playwright'],
    ['runners/node-test.md', 'node:test'],
    ['runners/bun.md', 'Bun'],
    ['runners/deno.md', 'Deno'],
    ['runners/other-languages.md', 'Another language'],
  ],
  Guides: [
    ['sandbox.md', 'The sandbox'],
    'guides/destinations.md',
    'time.md',
    'faults.md',
    'guides/signatures.md',
    'guides/idempotency.md',
    'guides/rate-limits.md',
    'guides/schedules.md',
    'guides/flow-control.md',
    'guides/fan-out.md',
    'workflows.md',
    ['replay.md', 'Runs under way'],
    'outbound.md',
    'matchers.md',
    'traffic.md',
    'inspector.md',
    'scenarios.md',
    ['checks.md', 'Property-based checks'],
    ['campaigns.md', 'Campaigns'],
    ['invariants.md', 'Invariants'],
    'statistics.md',
    'search.md',
    'redis-protocol.md',
    ['event-streams.md', 'Event streams'],
    'server.md',
    'real-redis.md',
    ['drift.md', 'Drift'],
    'cluster.md',
    'mcp.md',
  ],
  'Ways to a sandbox': ['adapters/index.md', ...rest('adapters')],
  Recipes: [['recipes/index.md', 'All recipes'], ...rest('recipes')],
  'Case studies': [['case-studies.md', 'What others have met']],
  Reference: [
    ['reference/api/index.md', 'JavaScript API'],
    ['reference/commands.md', 'Commands'],
    ['reference/queue.md', 'Endpoints of the queue'],
    ['reference/faults.md', 'Every fault and its effect'],
    ['reference/matchers.md', 'Every matcher and its failure'],
    ['reference/control.md', 'Control API'],
    ['reference/policies.md', 'Policies'],
    ['reference/differences.md', 'Named differences'],
    ['cli.md', 'Command line'],
    ['limits.md', 'What is not built'],
  ],
  'The protocol': ['protocol/index.md', ...rest('protocol')],
  About: [['comparison.md', 'Compared with others'], ...rest('contributing'), 'decisions/index.md'],
}

/** The heading of a page; a generated one is called here. */
export function titleOf(path: string): string {
  const file = join(root, 'docs', path)
  const heading = existsSync(file) ? /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  return heading ?? (path === 'decisions/index.md' ? 'Decisions' : path)
}

const link = (path: string): string => `/${path.replace(/(?:index)?\.md$/, (end) => (end === '.md' ? '' : ''))}`

export function sidebar(): DefaultTheme.SidebarItem[] {
  return Object.entries(sections).map(([text, places], nth) => ({
    text,
    collapsed: nth > 2,
    items: places.map((place) =>
      typeof place === 'string'
        ? { text: titleOf(place), link: link(place) }
        : { text: place[1], link: link(place[0]) },
    ),
  }))
}

/** Every page that the sidebar leads to. */
export function placed(): readonly string[] {
  return Object.values(sections).flatMap((places) =>
    places.map((place) => (typeof place === 'string' ? place : place[0])),
  )
}

/**
 * The entries of the package, once their reference is written. Their members are on the page of each: a sidebar with all
 * of them in every page would be most of the site.
 */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  const file = join(pages, 'reference/api/index.md')
  const list = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const items = [...list.matchAll(/^- \[(.*)\]\((.*)\.md\)$/gm)].map(([, text = '', path = '']) => ({
    text,
    link: `/reference/api/${path}`,
  }))
  return [{ text: 'JavaScript API', items }, ...sidebar()]
}
