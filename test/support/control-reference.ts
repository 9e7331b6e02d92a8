import { controlOperations } from '../../packages/server/src/control/control.js'
import type { ControlOperation } from '../../packages/server/src/control/operation.js'

const groups: readonly (readonly [title: string, belongs: RegExp])[] = [
  ['The world', /^(?:|\/reset|\/state|\/snapshot|\/resolve-instant|\/fork)$/],
  ['The clock', /^\/clock/],
  ['The data store', /^\/store/],
  ['The queue', /^\/queue/],
  ['Runs of workflows', /^\/workflow/],
  ['Destinations', /^\/destinations/],
  ['Foreign calls', /^\/outbound/],
  ['Statistics', /^\/stats/],
  ['Faults and scenarios', /^\/(?:faults|scenarios)/],
  ['Invariants', /^\/invariants/],
  ['Traffic', /^\/traffic/],
  ['The inspector', /^\/(?:inspector|continue)/],
]

/** Returns the text of docs/reference/control.md. */
export function controlReference(): string {
  const sections = groups.map(([title, belongs]) => {
    const rows = controlOperations.filter(({ path }) => belongs.test(path)).map(row)
    return `## ${title}\n\n| Request | |\n|---|---|\n${rows.join('\n')}\n`
  })
  const lost = controlOperations.filter(({ path }) => !groups.some(([, belongs]) => belongs.test(path)))
  if (lost.length > 0) throw new Error(`No section has ${lost.map(({ path }) => path).join(', ')}`)
  return `# The control API

Generated from the table of orders: \`npm run docs\`. [How a server is used](../server.md)

Every path begins with \`/_control/{tenant}\`. Bodies and answers are JSON; a body is what the row shows, with its schema in \`GET /_control/openapi.json\`. A mistake is answered with \`{"error": "…"}\` and what to do instead: 400 for what is asked wrongly, 404 for what is not there, 409 for what cannot be done now.

\`GET /_control\` names the tenants, \`DELETE /_control/{tenant}\` disposes one: its next use makes a new one.

${sections.join('\n')}`
}

function row({ method, path, summary, example, query, answers }: ControlOperation): string {
  const parts = [summary]
  const names = Object.entries(query ?? {}).map(([name, what]) => `\`?${name}=\` ${what}`)
  if (names.length > 0) parts.push(`${names.join('; ')}.`)
  if (example !== undefined) parts.push(`\`${JSON.stringify(example)}\``)
  if (answers !== undefined) parts.push(`Answers \`${answers}\`.`)
  return `| \`${method} ${path || '/'}\` | ${parts.join(' ').replaceAll('|', '\\|')} |`
}
