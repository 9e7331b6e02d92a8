import { type KnownDifference, namedDifferences } from '../../src/store/differences.js'

const others = { service: 'the service', redis: 'redis-server' } as const

/** Returns the page with every known difference in `src/store/differences.ts`. */
export function differenceReference(): string {
  const rows = namedDifferences.map(
    ({ name, about, where, of }) =>
      `| ${name} | ${of.map((one) => others[one]).join(', ')} | ${about.replaceAll('*', '\\*')} | ${link(where)} |`,
  )
  return `# Known differences

<!-- Generated from src/store/differences.ts: \`npm run docs\`. Do not edit. -->

Look up a name that [\`stuntdouble drift\`](../drift.md) or a [shadow](../real-redis.md#compare-replies-with-a-shadow) reports. Each row is a
known difference between the double and the service, or between the double and redis-server 7.0 with the same API. A
report names the first row that explains a difference. If no row explains it, please open an issue.

| Name | Compared with | Difference | Documented in |
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
