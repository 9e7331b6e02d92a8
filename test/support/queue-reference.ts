import { formatDuration } from '../../src/kernel/duration.js'
import { canonicalName } from '../../src/kernel/http.js'
import type { ResolvedQueueLimits } from '../../src/policy/policy.js'
import { retryHeaders } from '../../src/queue/delivery/retry.js'
import { dlqFilters, logFilters, messageFilters, runFilters } from '../../src/queue/message/message-filters.js'
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

const head = `# Queue API

<!-- Generated from the tables of the queue: \`npm run docs\`. Do not edit. -->

Look up endpoints, publish options, filters and limits of the message queue. This page uses the neutral names. The
queue also accepts the vendor's names and then responds with them: see [Dialects](../sandbox.md#dialects). Errors have the body \`{"error": "<text>"}\`.`

function endpoints(listed: readonly EndpointRow[]): string {
  const rows = listed.map(({ method, path, auth, summary }) => [
    [method].flat().join(', '),
    `\`${path.replace('**', '{rest}')}\``,
    auth === 'none' ? 'none' : 'token',
    summary,
  ])
  return `## Endpoints\n\n\`{rest}\` is the remaining path, such as the destination's URL.\n\n${table(['Method', 'Path', 'Auth', 'Effect'], rows)}`
}

function options(): string {
  const rows = publishOptions.map((option) => [
    `\`Service-${canonicalName(option.name)}\``,
    option.grammar,
    [option.default, option.bounds].filter((part) => part !== undefined).join('; '),
    option.callbacks ? 'yes' : 'no',
    option.on === 'schedule' ? `${option.about} Schedules only.` : option.about,
  ])
  const open = openSettings.map(({ name, about }) => [`\`Service-${spelled(name)}\``, about])
  return [
    '## Publish options',
    'An option can be a header, a query parameter, a default header of a URL group, or an entry in the `headers` of a batch item. The query parameter is the header in lower case, such as `service-delay`. Options also apply to the creation of a schedule and to the retry of a dead letter. Headers take precedence over the query, and the query over the defaults of a group. If the column *Callbacks* says yes, you can also set the option for a callback, with the prefix `Service-Callback-` or `Service-Failure-Callback-`.',
    table(['Header', 'Value', 'Default and bounds', 'Callbacks', 'Meaning'], rows),
    table(['Header prefix', 'Meaning'], open),
  ].join('\n\n')
}

const deliveries = `## Deliveries

A delivery has \`User-Agent\`, \`Content-Type\`, the forwarded headers, and these headers of the queue:
${ownDeliveryHeaders.map((name) => `\`Service-${name}\``).join(', ')}. Only messages of a URL group have
\`Service-Topic-Name\`, and only messages of a schedule have \`Service-Schedule-Id\`.

A response outside 200–299 is retried. Its headers can set the time of the retry; the first of these wins:
${retryHeaders.map((name) => `\`${name}\``).join(', ')}. A response with status 489 and
\`Service-NonRetryable-Error: true\` is final.`

function filters(): string {
  const rows = [
    ['`DELETE /v2/messages`', ['messageIds', ...messageFilters, 'fromDate', 'toDate', 'async', 'count']],
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
    'To match any of several values, repeat a filter or separate the values with commas. If you pass several filters, all must match. Dates are Unix milliseconds, and both ends are inclusive. An unknown name is rejected.',
    table(
      ['Endpoint', 'Names'],
      rows.map(([where, names]) => [where, names.map((name) => `\`${name}\``).join(' ')]),
    ),
  ].join('\n\n')
}

function flaws(): string {
  const rows = Object.entries(signatureFlaws).map(([name, about]) => [`\`${name}\``, about])
  return `## Signature flaws\n\n\`queue.sign({ url, body }, { flaw })\` returns a signature with one deliberate defect.\n\n${table(['`flaw`', 'Defect'], rows)}`
}

function limits(): string {
  const names = Object.keys(plans) as (keyof typeof plans)[]
  const fields = Object.keys(plans.payg) as (keyof ResolvedQueueLimits)[]
  const rows = fields.map((field) => [`\`${field}\``, ...names.map((name) => shown(field, plans[name][field]))])
  return [
    '## Plans',
    '`policy.queuePlan` selects the plan. Retention, maximum timeout and truncation always apply. If `policy.enforceQuotas` is true, the queue rejects a request beyond the other limits with 412. `policy.queueLimits` overrides single limits.',
    table(['Limit', ...names], rows),
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
