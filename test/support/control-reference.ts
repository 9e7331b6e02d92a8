import { controlOperations } from '../../packages/server/src/control/control.js'
import type { ControlOperation } from '../../packages/server/src/control/operation.js'

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

Look up how to control a sandbox of a [server](../server.md) over HTTP. Each path begins with \`/_control/{tenant}\`. Bodies are JSON, and so are responses unless the row names another type. \`GET /_control/openapi.json\` returns the schema of each body.

Errors have the body \`{"error": "…"}\`, whose text also says what to do:

| Status | Meaning |
|---|---|
| \`400\` | the request is invalid |
| \`404\` | the thing does not exist |
| \`409\` | the operation is not possible now |

\`GET /_control\` lists the tenants. \`DELETE /_control/{tenant}\` disposes a tenant, and the next request to this tenant creates a new one.

${sections.join('\n')}`
}

function row({ method, path, summary, example, query, answers }: ControlOperation): string {
  const parts = [summary]
  const names = Object.entries(query ?? {}).map(([name, what]) => `\`?${name}=\` ${what}`)
  if (names.length > 0) parts.push(`${names.join('; ')}.`)
  if (example !== undefined) parts.push(`\`${JSON.stringify(example)}\``)
  if (answers !== undefined) parts.push(`The response is \`${answers}\`.`)
  return `| \`${method} ${path || '/'}\` | ${parts.join(' ').replaceAll('|', '\\|')} |`
}
