import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { pages, root } from './places.ts'

/** Path of a page in docs/. A title is given if the heading of the page is too long for the sidebar. */
type Place = string | readonly [path: string, title: string]

/** Returns the pages of a folder, without its index page and the named pages. */
const others = (folder: string, ...named: string[]): readonly Place[] =>
  readdirSync(join(root, 'docs', folder))
    .filter((name) => name.endsWith('.md') && name !== 'index.md' && !named.includes(name))
    .sort()
    .map((name) => `${folder}/${name}`)

/** Sections of the sidebar: first the tasks of a reader, then the reference. */
export const sections: Readonly<Record<string, readonly Place[]>> = {
  Start: [
    'start.md',
    'guides/index.md',
    ['runners/vitest.md', 'Vitest'],
    ['runners/jest.md', 'Jest'],
    ['runners/playwright.md', 'Playwright'],
    ['runners/node-test.md', 'node:test'],
    ['runners/bun.md', 'Bun'],
    ['runners/deno.md', 'Deno'],
    ['runners/cloudflare-workers.md', 'Cloudflare Workers'],
    ['runners/browser-mode.md', 'Vitest browser mode'],
    ['runners/other-languages.md', 'Other languages'],
    'runtimes.md',
    'migrate-from-mocks.md',
    'migrate-from-ioredis-mock.md',
    'migrate-from-dev-server.md',
    'migrate-from-redis-in-docker.md',
  ],
  Essentials: ['sandbox.md', 'time.md', 'faults.md', 'traffic.md', 'matchers.md', 'scenarios.md'],
  Queue: [
    'guides/destinations.md',
    'guides/retries.md',
    'guides/callbacks.md',
    'guides/dead-letters.md',
    'guides/schedules.md',
    'guides/flow-control.md',
    'guides/fan-out.md',
    'guides/cancellations.md',
    'guides/idempotency.md',
    'guides/signatures.md',
    'statistics.md',
  ],
  Redis: ['guides/redis.md', 'guides/rate-limits.md', 'event-streams.md', 'search.md', 'redis-protocol.md'],
  Workflow: ['workflows.md', 'guides/workflow-approvals.md', 'replay.md'],
  'Outbound requests': ['outbound.md'],
  'Explore failures': [
    'checks.md',
    'checks-verification.md',
    'checks-idempotency.md',
    'interleavings.md',
    'crash-points.md',
    'arbitraries.md',
    'campaigns.md',
    'invariants.md',
    'case-studies.md',
  ],
  Debug: ['failure-output.md', 'troubleshooting.md', 'inspector.md', 'traces.md', 'time-travel.md'],
  'Run it elsewhere': [
    'server.md',
    'server-options.md',
    'real-redis.md',
    'cluster.md',
    'mcp.md',
    'drift.md',
    ['recipes/github-actions.md', 'CI'],
    'adapters/index.md',
    ...others('adapters'),
  ],
  Recipes: [['recipes/index.md', 'All recipes'], ...others('recipes', 'github-actions.md')],
  Reference: [
    'reference/index.md',
    ['reference/api/index.md', 'JavaScript API'],
    'reference/commands.md',
    'reference/queue.md',
    'reference/faults.md',
    'reference/matchers.md',
    'reference/policies.md',
    'reference/control.md',
    ['cli.md', 'Command line'],
    'sdk-compatibility.md',
    'reference/differences.md',
  ],
  About: ['comparison.md', 'limits.md', 'stability.md', 'how-it-works.md', 'glossary.md'],
  'The protocol': ['protocol/index.md', ...others('protocol')],
  Contributing: others('contributing'),
  Decisions: [['decisions/index.md', 'All decisions'], ...others('decisions')],
}

/** Returns the heading of a page. A generated page has none in docs/. */
export function titleOf(path: string): string {
  const file = join(root, 'docs', path)
  const heading = existsSync(file) ? /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  return heading ?? path
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

/** Returns the path of every page in the sidebar. */
export function placed(): readonly string[] {
  return Object.values(sections).flatMap((places) =>
    places.map((place) => (typeof place === 'string' ? place : place[0])),
  )
}

/**
 * The sidebar of the reference of the JavaScript API, and the other pages of the reference. It does not repeat the rest of
 * the sidebar, which would be most of such a page.
 */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  const file = join(pages, 'reference/api/sidebar.json')
  const items = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DefaultTheme.SidebarItem[]) : []
  const reference = sidebar().filter(({ text }) => text === 'Reference')
  return [{ text: 'JavaScript API', link: '/reference/api/', items }, ...reference]
}
