import { formatDuration } from '../../src/kernel/duration.js'
import { canonicalName } from '../../src/kernel/http.js'
import type { ResolvedQueueLimits } from '../../src/policy/policy.js'
import { retryHeaders } from '../../src/queue/delivery/retry.js'
import { dlqFilters, logFilters, messageFilters, runFilters } from '../../src/queue/rest/message-filters.js'
import { ownDeliveryHeaders } from '../../src/queue/settings/forwarded-headers.js'
import { openSettings, publishOptions } from '../../src/queue/settings/publish-options.js'
import { plans } from '../../src/queue/settings/queue-plan.js'
import { signatureFlaws } from '../../src/queue/signing/signature-lab.js'

/** Data of an endpoint on the page. */
interface EndpointRow {
  readonly method: string | readonly string[]
  readonly path: string
  readonly auth: string
  readonly summary: string
}

/**
 * Returns the page `docs/reference/queue.md` from the tables that the queue uses.
 * @param rows the endpoint table, a parameter because it depends on the protocol
 */
export function queueReference(rows: readonly EndpointRow[]): string {
  return `${[head, endpoints(rows), options(), deliveries, filters(), flaws(), limits()].join('\n\n')}\n`
}

const head = `# Message queue

<!-- Generated from the tables of the queue: \`npm run docs\`. Do not edit. -->

Words are neutral here; the same headers, parameters and claims are understood in the vendor's own words and then answered in them ([whose words](../sandbox.md#dialects)).
Errors are \`{"error": "<text>"}\`.`

function endpoints(listed: readonly EndpointRow[]): string {
  const rows = listed.map(({ method, path, auth, summary }) => [
    [method].flat().join(', '),
    `\`${path.replace('**', '{rest}')}\``,
    auth === 'none' ? 'none' : 'token',
    summary,
  ])
  return `## Endpoints\n\n${table(['Method', 'Path', 'Auth', ''], rows)}`
}

function options(): string {
  const rows = publishOptions.map((option) => [
    `\`Service-${canonicalName(option.name)}\``,
    `\`service-${option.name}\``,
    option.grammar,
    [option.default, option.bounds].filter((part) => part !== undefined).join('; '),
    option.callbacks ? 'yes' : 'no',
    option.on === 'schedule' ? `${option.about} Schedules only.` : option.about,
  ])
  const open = openSettings.map(({ name, about }) => [`\`Service-${spelled(name)}\``, about])
  return [
    '## Publish options',
    'As a header, as a query parameter, as a default header of a url group, in the `headers` of a batch item, on the creation of a schedule, and on the retry of a dead letter. Headers win over the query, the query over the defaults of a group. *Callbacks* tells whether the option may stand behind `Service-Callback-` and `Service-Failure-Callback-`.',
    table(['Header', 'Query', 'Value', 'Default and bounds', 'Callbacks', ''], rows),
    table(['Family of headers', ''], open),
  ].join('\n\n')
}

const deliveries = `## Deliveries

Beside \`User-Agent\`, \`Content-Type\` and forwarded headers a delivery carries ${ownDeliveryHeaders
  .map((name) => `\`Service-${name}\``)
  .join(', ')}; the topic name and the schedule id only where there is one. An answer outside 200–299 is retried; these
headers of it say when, in this order: ${retryHeaders.map((name) => `\`${name}\``).join(', ')}. Status 489 with
\`Service-NonRetryable-Error: true\` is final.`

function filters(): string {
  const rows = [
    ['`DELETE /v2/messages`', ['messageIds', ...messageFilters, 'fromDate', 'toDate', 'count']],
    [
      '`GET /v2/dlq`, `DELETE /v2/dlq`, `POST /v2/dlq/retry`',
      ['dlqIds', ...dlqFilters, ...runFilters, 'fromDate', 'toDate', 'count', 'cursor', 'order', 'trimBody', 'source'],
    ],
    [
      '`GET /v2/events`, `GET /v2/logs`',
      [...logFilters, 'fromDate', 'toDate', 'count', 'cursor', 'order', 'trimBody', 'groupBy'],
    ],
  ] as const
  return [
    '## Filters',
    'Several values of one filter, repeated or with commas, mean any of them; several filters mean all of them. Dates are Unix milliseconds, both ends inclusive. An unknown name is refused.',
    table(
      ['Endpoint', 'Names'],
      rows.map(([where, names]) => [where, names.map((name) => `\`${name}\``).join(' ')]),
    ),
  ].join('\n\n')
}

function flaws(): string {
  const rows = Object.entries(signatureFlaws).map(([name, about]) => [`\`${name}\``, about])
  return `## Signatures that are wrong on purpose\n\n\`queue.sign({ url, body }, { flaw })\` mints them.\n\n${table(['`flaw`', ''], rows)}`
}

function limits(): string {
  const names = Object.keys(plans) as (keyof typeof plans)[]
  const fields = Object.keys(plans.payg) as (keyof ResolvedQueueLimits)[]
  const rows = fields.map((field) => [`\`${field}\``, ...names.map((name) => shown(field, plans[name][field]))])
  return [
    '## Plans',
    'Retention, longest time-out and truncation follow `policy.queuePlan`; the rest is refused with 412 when `policy.enforceQuotas` is set. `policy.queueLimits` overrides single numbers.',
    table(['', ...names], rows),
  ].join('\n\n')
}

function shown(field: keyof ResolvedQueueLimits, value: number | undefined): string {
  if (value === undefined) return 'unlimited'
  if (field === 'maxMessageSize') return `${value / 1_048_576} MB`
  return /Delay|Timeout|Retention/.test(field) ? formatDuration(value) : String(value)
}

function spelled(name: string): string {
  return name.replace(/(?<![<\w])[a-z](?=[a-z]*-)/g, (letter) => letter.toUpperCase())
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
