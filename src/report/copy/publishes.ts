import { toBase64 } from '../../kernel/bytes.js'
import { endOfTime, iso } from '../../kernel/instant.js'
import { parsedJson } from '../../kernel/parsed-json.js'
import type { TraceEntry } from '../trace.js'
import { bodyOf, headersOf } from './selection.js'

// Converts a message to options that both `queue.publish()` and the publish step of a scenario accept.

/**
 * Options of a publish by name, such as `to`, `body` or `bodyBase64`, `headers`, `queue`, `retries` and
 * `callbackRetries`.
 */
export type Publish = Readonly<Record<string, unknown>>

const common = ['method', 'retries', 'timeout', 'delay', 'retryDelay']
const options: ReadonlySet<string> = new Set([
  ...[...common, 'notBefore', 'deduplicationId', 'contentBasedDeduplication', 'callback', 'failureCallback'],
  ...['flowControlKey', 'flowControlValue', 'label'],
  ...['callback', 'failureCallback'].flatMap((of) => common.map((name) => of + name[0]!.toUpperCase() + name.slice(1))),
])
const numbers = /[rR]etries$/
const span = /^(?:\d+(?:\.\d+)?(?:mo|[smhdwy]))+$/
/** Headers of the HTTP request itself. They are not part of the message. */
const ofTransport =
  /^(?:authorization|host|user-agent|content-length|connection|accept.*|transfer-encoding|.*-telemetry-.*|.*-sync-token|sec-.*|origin|referer)$/i

/** Removes the service's prefix in either dialect from a header name. Returns `undefined` for a header of the app. */
export function settingOf(name: string): string | undefined {
  return /^(?:upstash|service)-(.+)$/.exec(name.toLowerCase())?.[1]
}

/**
 * Returns the message that a request publishes. Returns `undefined` if `queue.publish()` cannot publish the same
 * message.
 */
export function publishOfRequest(request: TraceEntry, published: TraceEntry): Publish | undefined {
  if (!/\/v2\/(?:publish|enqueue)\//.test(String(request.url)) || published.urlGroup !== undefined) return undefined
  const given: Record<string, unknown> = { to: published.url }
  const headers: [string, string][] = []
  for (const [name, value] of headersOf(request.headers)) {
    const setting = settingOf(name)
    if (setting?.startsWith('forward-')) headers.push([setting.slice('forward-'.length), value])
    else if (name.toLowerCase() === 'content-type') headers.push(['content-type', value])
    else if (ofTransport.test(name)) continue
    else if (setting !== undefined) {
      const option = setting.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
      if (!options.has(option)) return undefined
      if (/(?:timeout|delay)$/i.test(option) && !/retryDelay/i.test(option) && !span.test(value)) return undefined
      if (option === 'notBefore') {
        // The unit of the header is seconds.
        const at = Math.round(Number(value) * 1000)
        if (!(Math.abs(at) <= endOfTime)) return undefined
        given.notBefore = iso(at)
      } else {
        given[option] =
          option === 'contentBasedDeduplication' ? value === 'true' : numbers.test(option) ? Number(value) : value
      }
    }
  }
  if (given.method === 'POST') delete given.method
  if (published.queue !== undefined) given.queue = published.queue
  return withContent(given, headers, published.body)
}

/** Returns the message of a `published` entry. It is used if no request published the message. */
export function publishOfEntry(entry: TraceEntry): Publish {
  const { url, method, maxRetries, notBefore, at, queue, labels } = entry
  const wait = (Number(notBefore) - at) / 1000
  return withContent(
    {
      to: url,
      ...(method !== 'POST' && { method }),
      ...(maxRetries !== 3 && { retries: maxRetries }),
      ...(wait > 0 && { delay: `${wait}s` }),
      ...(queue !== undefined && { queue }),
      ...(Array.isArray(labels) && { label: labels.join(',') }),
      ...kept(entry, ['callback', 'failureCallback', 'retryDelay', 'deduplicationId', 'contentBasedDeduplication']),
    },
    headersOf(entry.headers),
    entry.body,
  )
}

function kept(entry: TraceEntry, names: readonly string[]): object {
  return Object.fromEntries(names.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]))
}

function withContent(
  given: Record<string, unknown>,
  all: readonly (readonly [string, string])[],
  body: unknown,
): Publish {
  const { bytes, text } = bodyOf(body)
  const json = all.some(([name, value]) => name.toLowerCase() === 'content-type' && value === 'application/json')
  const value = json && text !== undefined ? parsedJson(text) : undefined
  const isValue = value !== undefined && typeof value !== 'string' && JSON.stringify(value) === text
  // `queue.publish()` sends a value that is not a string as JSON and sets the content type. So the content type is
  // omitted.
  const headers = all.filter(([name]) => !(isValue && name.toLowerCase() === 'content-type'))
  return {
    ...given,
    ...(isValue && { body: value }),
    ...(!isValue && text !== undefined && text !== '' && { body: text }),
    ...(text === undefined && { bodyBase64: toBase64(bytes) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
  }
}
