import { controlOperations } from '../../packages/server/src/control/control.js'
import { type ControlOperation, regionParameter } from '../../packages/server/src/control/operation.js'
import { partOf } from '../../packages/server/src/control/operation-parts.js'

const groups: readonly (readonly [title: string, belongs: RegExp])[] = [
  ['Sandbox', /^(?:|\/reset|\/state|\/snapshot|\/resolve-instant|\/fork)$/],
  ['Clock', /^\/clock/],
  ['Store', /^\/store/],
  ['Queue', /^\/queue/],
  ['Workflow', /^\/workflow/],
  ['Destinations', /^\/destinations/],
  ['Outbound requests', /^\/outbound/],
  ['Statistics', /^\/stats/],
  ['Faults and scenarios', /^\/(?:faults|scenarios)/],
  ['Invariants', /^\/invariants/],
  ['Traffic', /^\/traffic/],
  ['Inspector', /^\/(?:inspector|continue)/],
]

/** Query parameters that the introduction explains. */
const introduced = { ...partOf, region: regionParameter }

/** Returns the text of docs/reference/control.md. */
export function controlReference(): string {
  const sections = groups.map(([title, belongs]) => {
    const rows = controlOperations.filter(({ path }) => belongs.test(path)).map(row)
    return `## ${title}\n\n| Request | Effect, query parameters and example body |\n|---|---|\n${rows.join('\n')}\n`
  })
  const lost = controlOperations.filter(({ path }) => !groups.some(([, belongs]) => belongs.test(path)))
  if (lost.length > 0) throw new Error(`No section has ${lost.map(({ path }) => path).join(', ')}`)
  return `# Control API

<!-- Generated from the table of operations: \`npm run docs\`. Do not edit. -->

Control a sandbox of a [server](../server.md) over HTTP, from any language:

\`\`\`sh
npx stuntdouble serve --clock manual &
curl -X POST localhost:4010/_control/main/clock/advance -d '{"by":"5m"}'
\`\`\`

Each path in the tables begins with \`/_control/{tenant}\`. Bodies and responses are JSON unless the row names another type. \`GET /_control/openapi.json\` returns the schema of each body.

| Parameter | Operations | Meaning |
|---|---|---|
| \`?limit=\` | those marked "Paged" | ${partOf.limit} |
| \`?skip=\` | those marked "Paged" | ${partOf.skip} |
| \`?region=\` | all of [Queue](#queue) and [Workflow](#workflow) | ${regionParameter} |

Errors have the body \`{"error": "…"}\`, whose text also says what to do:

| Status | Meaning |
|---|---|
| \`400\` | the request is invalid |
| \`404\` | the thing does not exist |
| \`409\` | the operation is not possible now |

\`GET /_control\` lists the tenants. \`DELETE /_control/{tenant}\` drops a tenant; the next request to it creates a new one.

${sections.join('\n')}`
}

function row({ method, path, summary, example, query, answers }: ControlOperation): string {
  const parts = [summary]
  const shared: readonly string[] = Object.values(introduced)
  if (query?.limit === partOf.limit) parts.push('Paged.')
  const own = Object.entries(query ?? {}).filter(([, what]) => !shared.includes(what))
  const names = own.map(([name, what]) => `\`?${name}=\` ${what}`)
  if (names.length > 0) parts.push(`${names.join('; ')}.`)
  if (example !== undefined) parts.push(`\`${JSON.stringify(example)}\``)
  if (answers !== undefined) parts.push(`The response is \`${answers}\`.`)
  return `| \`${method} ${path || '/'}\` | ${parts.join(' ').replaceAll('|', '\\|')} |`
}
