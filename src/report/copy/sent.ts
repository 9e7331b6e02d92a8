import type { TraceEntry } from '../trace.js'
import { copyDialectOf, hidden } from './copied-secrets.js'
import {
  baseOf,
  bodyOf,
  type CapturedBody,
  type CopyContext,
  type CopySelection,
  type Headers,
  headersOf,
} from './selection.js'

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: CapturedBody
  /** Service that receives the request. Absent if another host receives it. */
  readonly service?: unknown
  /** Name of the added database that receives the request. */
  readonly database?: string
}

/**
 * Returns the request that an entry contains. For a command or a message without its own request, returns a request
 * with the same effect.
 */
export function sentBy(entry: TraceEntry, { entries }: CopySelection, context: CopyContext): Sent {
  if (entry.type === 'command') return commandRequest(entry, context)
  // If one request published the message, use that request. Otherwise, create a publish request.
  const request = entry.type === 'published' ? entries.find(({ seq }) => seq === entry.cause) : undefined
  if (request?.type === 'request' && !String(request.url).includes('/batch'))
    return sentBy(request, { entries }, context)
  if (entry.type === 'published') return publishRequest(entry, context)
  const { method, url, headers, body, service, database } = entry
  return {
    method: String(method),
    url: String(url),
    headers: headersOf(headers),
    body: bodyOf(body),
    ...(service !== undefined && { service }),
    ...(database !== undefined && { database: String(database) }),
  }
}

/** Returns a request that sends a command to the store's REST API. Its body is the list of arguments. */
function commandRequest({ argv, database }: TraceEntry, context: CopyContext): Sent {
  const words = (argv as unknown[]).map((word) => {
    const { bytes, text } = bodyOf(word)
    return text ?? bytes
  })
  return {
    method: 'POST',
    url: baseOf('store', database, context) ?? `https://${database === undefined ? '' : `${database}.`}store.test`,
    headers: [
      ['Authorization', `Bearer ${hidden}`],
      ['Content-Type', 'application/json'],
    ],
    body: bodyOf(JSON.stringify(words)),
    service: 'store',
    ...(database !== undefined && { database: String(database) }),
  }
}

function publishRequest(entry: TraceEntry, context: CopyContext): Sent {
  const { headerPrefix: prefix } = copyDialectOf([], context)
  const { method, url, headers, maxRetries, callback, failureCallback, flowControlKey, deduplicationId, labels } = entry
  const own: readonly (readonly [name: string, value: unknown])[] = [
    ['Method', method === 'POST' ? undefined : method],
    ['Retries', maxRetries],
    [
      'Delay',
      Number(entry.notBefore) > entry.at ? `${Math.ceil((Number(entry.notBefore) - entry.at) / 1000)}s` : undefined,
    ],
    ['Callback', callback],
    ['Failure-Callback', failureCallback],
    ['Retry-Delay', entry.retryDelay],
    ['Flow-Control-Key', flowControlKey],
    ['Deduplication-Id', deduplicationId],
    ['Label', Array.isArray(labels) ? labels.join(',') : undefined],
  ]
  const to = entry.queue === undefined ? 'publish' : `enqueue/${encodeURIComponent(String(entry.queue))}`
  return {
    method: 'POST',
    url: `${baseOf('queue', undefined, context) ?? 'https://queue.test'}/v2/${to}/${url}`,
    headers: [
      ['Authorization', `Bearer ${hidden}`],
      ...headersOf(headers).map(([name, value]): [string, string] =>
        name.toLowerCase() === 'content-type' ? [name, value] : [`${prefix}Forward-${name}`, value],
      ),
      ...own.flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[prefix + name, String(value)]],
      ),
    ],
    body: bodyOf(entry.body),
    service: 'queue',
  }
}
