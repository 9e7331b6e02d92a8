import { type KnownDifference, namedDifferences } from '../../src/store/differences.js'

const others = { service: 'the service', redis: 'redis-server' } as const

/** Returns the page with every known difference in `src/store/differences.ts`. */
export function differenceReference(): string {
  const rows = namedDifferences.map(
    ({ name, about, where, of }) =>
      `| ${name} | ${of.map((one) => others[one]).join(', ')} | ${about.replaceAll('*', '\\*')} | ${link(where)} |`,
  )
  return `# Named differences

<!-- Generated from src/store/differences.ts: \`npm run docs\`. Do not edit. -->

How the double is known to answer otherwise than the service itself, or than redis-server 7.0 behind the same surface.
[\`stuntdouble drift\`](../drift.md) and a [shadow](../real-redis.md#a-shadow) tell these names with what they have seen; the first
row that explains it gives the name. What no row explains is new, and worth an issue.

| Name | Of | What differs | Where it says so |
|---|---|---|---|
${rows.join('\n')}
`
}

/** `docs/protocol/store.md 7.3` as a link from docs/reference. */
function link(where: KnownDifference['where']): string {
  const [page = '', section] = where.split(' ')
  const path = page.replace(/^docs\/reference\//, '').replace(/^docs\//, '../')
  const title = page.split('/').at(-1)!.replace('.md', '')
  return `[${title}${section === undefined ? '' : ` ${section}`}](${path})`
}
