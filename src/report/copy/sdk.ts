import { toBase64 } from '../../kernel/bytes.js'
import { decodeSegment } from '../../kernel/http.js'
import { parsedJson } from '../../kernel/parsed-json.js'
import { hidden, variablesNote } from './copied-secrets.js'
import { settingOf } from './publishes.js'
import { CodeExpression, jsLiteral } from './quoting.js'
import { anyCall, methodCall, type SdkArg } from './sdk-store.js'
import { type CapturedBody, type CopyContext, type CopySelection, entryOf, headerIn, pathOf } from './selection.js'
import { type Sent, sentBy } from './sent.js'

/** Returns code that sends a request again with the public SDKs. */
export function sdkOf(selection: CopySelection, context: CopyContext): string {
  const entry = entryOf(selection)
  if (entry === undefined) return '// The entry does not exist.\n'
  const sent = sentBy(entry, selection, context)
  const path = pathOf(sent, context)
  const cut = sent.body.cut === undefined ? '' : '// Only the beginning of the body was captured.\n'
  if (sent.service === 'store') return cut + storeCode(sent, path)
  if (sent.service === 'queue')
    return cut + queueCode(sent, path, (entry.response as { body?: unknown } | undefined)?.body === '')
  return '// No SDK sends this request. Copy it as curl.\n'
}

function storeCode({ body, method, database }: Sent, path: string): string {
  const rows = method === 'POST' ? rowsOf(body, path) : pathRow(path)
  if (rows === undefined) return '// No call of the SDK sends this request. Copy it as curl.\n'
  const single = path !== '/pipeline' && path !== '/multi-exec'
  return [
    "import { Redis } from '@upstash/redis'",
    '',
    ...(database === undefined ? [] : [`// ${variablesNote(database)}`]),
    // By default, the SDK sends even a single command in a pipeline.
    `const redis = Redis.fromEnv(${single ? '{ enableAutoPipelining: false }' : ''})`,
    ...(path === '/multi-exec'
      ? batchCode('multi', rows)
      : rows.length > 1
        ? batchCode('pipeline', rows)
        : rows.map(oneCall)),
    '',
  ].join('\n')
}

function oneCall(row: readonly SdkArg[]): string {
  return `await redis.${methodCall(row) ?? anyCall(row)}`
}

function batchCode(kind: 'multi' | 'pipeline', rows: readonly (readonly SdkArg[])[]): string[] {
  const calls = rows.map(methodCall)
  if (calls.includes(undefined))
    return [
      `// The SDK supports only some commands in a ${kind}, so these commands are sent one by one.`,
      ...rows.map(oneCall),
    ]
  return [`const batch = redis.${kind}()`, ...calls.map((call) => `batch.${call}`), 'await batch.exec()']
}

function rowsOf({ text }: CapturedBody, path: string): readonly (readonly SdkArg[])[] | undefined {
  const given = text === undefined ? undefined : parsedJson(text)
  const rows = path === '/' ? [given] : path === '/pipeline' || path === '/multi-exec' ? given : undefined
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) && row.length > 0 && row.every((word) => ['string', 'number', 'boolean'].includes(typeof word))
  return Array.isArray(rows) && rows.length > 0 && rows.every(isRow) ? rows : undefined
}

/** Parses a command in the path of a request: `GET /set/a/b` is `SET a b`. */
function pathRow(path: string): readonly (readonly SdkArg[])[] | undefined {
  try {
    const words = path.split('?')[0]!.split('/').slice(1).map(decodeURIComponent)
    return words[0] === '' ? undefined : [words]
  } catch {
    return undefined
  }
}

/**
 * SDK options, each under the name of the setting that the SDK sends for it. Their values are numbers where the SDK
 * expects numbers.
 */
const options: Readonly<Record<string, string>> = {
  delay: 'delay',
  retries: 'retries',
  timeout: 'timeout',
  callback: 'callback',
  label: 'label',
  'failure-callback': 'failureCallback',
  'retry-delay': 'retryDelay',
  'not-before': 'notBefore',
  'deduplication-id': 'deduplicationId',
}

interface Row {
  readonly to: string
  readonly queue?: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: CapturedBody
}

/** @param silent whether the response had no body. The SDK must not parse an empty body as JSON */
function queueCode(sent: Sent, path: string, silent: boolean): string {
  const trigger = triggerCall(sent, path)
  if (trigger !== undefined)
    return `import { Client } from '@upstash/workflow'\n\nconst client = new Client({})\nawait client.${trigger}\n`
  const call = publishCall(sent, path) ?? scheduleCall(sent, path) ?? groupCall(sent, path) ?? batchCall(sent, path)
  return [
    "import { Client } from '@upstash/qstash'",
    '',
    'const client = new Client()',
    `await client.${call ?? rawCall(sent, path, silent)}`,
    '',
  ].join('\n')
}

function publishCall({ headers, body }: Sent, path: string): string | undefined {
  const [, verb, rest] = /^\/v2\/(publish|enqueue)\/(.+)$/s.exec(path) ?? []
  if (rest === undefined) return undefined
  if (verb === 'publish') return messageCall('publish', { to: rest, headers, body })
  const slash = rest.indexOf('/')
  if (slash < 0) return undefined
  const queueName = jsLiteral(decodeSegment(rest.slice(0, slash)))
  return `queue({ queueName: ${queueName} }).${messageCall('enqueue', { to: rest.slice(slash + 1), headers, body })}`
}

/**
 * Returns a call of `publishJSON()` or `enqueueJSON()` if that method sends the same body and content type. Otherwise,
 * returns a call of `publish()` or `enqueue()`.
 */
function messageCall(verb: string, row: Row): string {
  const { text = '' } = row.body
  const value = headerIn(row.headers, 'content-type') === 'application/json' ? parsedJson(text) : undefined
  if (value === undefined || text.includes(hidden) || JSON.stringify(value) !== text)
    return `${verb}(${jsLiteral(fieldsOf(row))})`
  const headers = row.headers.filter(([name]) => name.toLowerCase() !== 'content-type')
  return `${verb}JSON(${jsLiteral({ ...fieldsOf({ ...row, headers }), body: value })})`
}

function scheduleCall({ headers, body, method }: Sent, path: string): string | undefined {
  const to = /^\/v2\/schedules\/((?:https?:|[^/]+$).*)$/s.exec(path)?.[1]
  const cron = ownHeader(headers, 'cron')
  if (method !== 'POST' || to === undefined || cron === undefined) return undefined
  const scheduleId = ownHeader(headers, 'schedule-id')
  const rest = headers.filter(([name]) => !/^(?:cron|schedule-id)$/.test(settingOf(name) ?? ''))
  const { url, urlGroup, ...fields } = fieldsOf({ to, headers: rest, body })
  return `schedules.create(${jsLiteral({ destination: url ?? urlGroup, cron, scheduleId, ...fields })})`
}

function groupCall({ body, method }: Sent, path: string): string | undefined {
  const name = /^\/v2\/topics\/([^/]+)\/endpoints$/.exec(path)?.[1]
  const given = parsedJson(body.text ?? '') as { endpoints?: unknown } | undefined
  if (name === undefined || method !== 'POST' || !Array.isArray(given?.endpoints)) return undefined
  return `urlGroups.addEndpoints(${jsLiteral({ name: decodeSegment(name), endpoints: given.endpoints })})`
}

function batchCall({ body }: Sent, path: string): string | undefined {
  const given = path === '/v2/batch' ? parsedJson(body.text ?? '') : undefined
  if (!Array.isArray(given)) return undefined
  const rows = (given as { destination?: unknown; headers?: object; body?: unknown; queue?: unknown }[]).map((row) => {
    const { destination, headers = {}, body: text, queue } = row ?? {}
    if (typeof destination !== 'string' || (text !== undefined && typeof text !== 'string')) return undefined
    const fields = fieldsOf({
      to: destination,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      body: { bytes: '' as never, ...(text !== undefined && { text }) },
    })
    return { ...fields, ...(typeof queue === 'string' && { queueName: queue }) }
  })
  return rows.includes(undefined) ? undefined : `batch(${jsLiteral(rows)})`
}

/** Returns a call of the workflow client. The request must be a batch with one message that triggers a run. */
function triggerCall({ body }: Sent, path: string): string | undefined {
  const given = path === '/v2/batch' ? parsedJson(body.text ?? '') : undefined
  const [row] = Array.isArray(given) && given.length === 1 ? given : []
  const headers = Object.entries<unknown>(row?.headers ?? {}).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const runId = headerIn(headers, 'upstash-workflow-runid')
  if (headerIn(headers, 'upstash-workflow-init') !== 'true' || runId === undefined) return undefined
  const text = typeof row.body === 'string' ? row.body : ''
  const own = headers.flatMap(([name, value]): [string, unknown][] => {
    const setting = settingOf(name) ?? ''
    // Omit the headers that the client adds itself.
    const isApp = setting.startsWith('forward-') && !setting.startsWith('forward-upstash-')
    return isApp ? [[setting.slice('forward-'.length), secret(value)]] : []
  })
  const [retries, delay, label] = ['retries', 'delay', 'label'].map((setting) =>
    headerIn(headers, `upstash-${setting}`),
  )
  return `trigger(${jsLiteral({
    url: row.destination,
    ...(text !== '' && { body: parsedJson(text) ?? text }),
    workflowRunId: runId.replace(/^wfr_/, ''),
    ...(own.length > 0 && { headers: Object.fromEntries(own) }),
    ...(retries !== undefined && { retries: Number(retries) }),
    ...(delay !== undefined && { delay }),
    ...(label !== undefined && { label }),
  })})`
}

/** Returns a call of the SDK method that can send any request. */
function rawCall({ method, headers, body }: Sent, path: string, silent: boolean): string {
  const [bare, query] = path.split('?')
  const own = headers.filter(([name]) => name.toLowerCase() === 'content-type' || settingOf(name) !== undefined)
  return `http.request(${jsLiteral({
    method,
    path: bare!.split('/').slice(1),
    ...(query !== undefined && { query: Object.fromEntries(new URLSearchParams(query)) }),
    ...(own.length > 0 && { headers: Object.fromEntries(own) }),
    ...bodyField(body),
    ...(silent && { parseResponseAsJson: false }),
  })})`
}

function fieldsOf({ to, headers, body }: Row): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const rest: [string, unknown][] = []
  for (const [name, value] of headers) {
    const setting = settingOf(name)
    const option = setting === undefined || value.includes(hidden) ? undefined : options[setting]
    // `fetch` adds this content type itself.
    const isOwn = name.toLowerCase() === 'content-type' && value === 'text/plain;charset=UTF-8'
    if (setting === 'method') {
      if (value !== 'POST') fields.method = value
    } else if (setting === 'content-based-deduplication' && value === 'true') fields.contentBasedDeduplication = true
    else if (option === 'label') fields.label = value
    else if (option === 'retries' || option === 'notBefore') fields[option] = Number(value)
    else if (option !== undefined) fields[option] = value
    else if (setting?.startsWith('forward-')) rest.push([setting.slice('forward-'.length), secret(value)])
    else if (setting !== undefined || (name.toLowerCase() === 'content-type' && !isOwn))
      rest.push([name, secret(value)])
  }
  return {
    [/^https?:/i.test(to) ? 'url' : 'urlGroup']: to,
    ...bodyField(body),
    ...(rest.length > 0 && { headers: Object.fromEntries(rest) }),
    ...fields,
  }
}

/**
 * Returns the variable for a redacted secret. Its default value is `***`, because the captured text may itself contain
 * `***`.
 */
function secret(value: string): unknown {
  const parts = value.split(hidden)
  if (parts.length === 1) return value
  return new CodeExpression(parts.map((part) => jsLiteral(part)).join(" + (process.env.SECRET ?? '***') + "))
}

function bodyField({ bytes, text }: CapturedBody): object {
  if (text === undefined && bytes !== '')
    return { body: new CodeExpression(`Buffer.from(${jsLiteral(toBase64(bytes))}, 'base64')`) }
  return text === undefined || text === '' ? {} : { body: secret(text) }
}

function ownHeader(headers: Sent['headers'], setting: string): string | undefined {
  return headerIn(headers, `upstash-${setting}`) ?? headerIn(headers, `service-${setting}`)
}
