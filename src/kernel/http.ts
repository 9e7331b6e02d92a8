import { type Bytes, isUtf8, text } from './bytes.js'

// HTTP basics that all services share: headers, statuses, path segments, and broken connections.

/** Headers in their order. A name can occur several times. Values are bytes. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export const noHeaders: HeaderList = []

/** Consecutive requests mostly have equal headers. To save memory, this class returns the same list for all of them. */
export class LatestHeaders {
  #latest: HeaderList = []

  once(headers: HeaderList): HeaderList {
    if (!areSame(headers, this.#latest)) this.#latest = headers
    return this.#latest
  }
}

/** Returns whether two lists have the same headers in the same order. */
export function areSame(some: HeaderList, others: HeaderList): boolean {
  if (some === others) return true
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) if (!isSame(some[index]!, others[index]!)) return false
  return true
}

function isSame(one: HeaderList[number], other: HeaderList[number]): boolean {
  return one === other || (one[0] === other[0] && one[1] === other[1])
}

/** Returns the first value of a header. @param name in lower case */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers)
    if (key === name || (key.length === name.length && key.toLowerCase() === name)) return value
  return undefined
}

const nameSyntax = /^[\w!#$%&'*+.^`|~-]+$/

/** Matches bytes without line breaks and other control characters except the tab. */
export const headerValueSyntax: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/

export function isHeader(name: string, value: string): boolean {
  return nameSyntax.test(name) && headerValueSyntax.test(value)
}

/**
 * Returns the name of a header in the spelling of the service: `x-rateLimit-reset` → `X-Ratelimit-Reset`. [queue.md
 * 1.5, 5.4]
 */
export function canonicalName(name: string): string {
  const known = canonical.get(name)
  if (known !== undefined) return known
  const spelled = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
  if (canonical.size < 1000) canonical.set(name, spelled)
  return spelled
}

const canonical = new Map<string, string>()

/** Returns headers as name → array of values. All JSON of the API has headers in this form. */
export function headerMap(headers: HeaderList): Record<string, string[]> {
  // A Map, because a header may be called `__proto__`.
  const map = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const spelled = canonicalName(name)
    const values = map.get(spelled)
    // Header values are bytes. If they are valid UTF-8, the API shows the text.
    const shown = isUtf8(value as Bytes) ? text(value as Bytes) : value
    if (values) values.push(shown)
    else map.set(spelled, [shown])
  }
  return Object.fromEntries(map)
}

/** Registered reason phrases for statuses other than success. */
const reasonPhrases: Readonly<Record<number, string>> = {
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  418: "I'm a teapot",
  422: 'Unprocessable Entity',
  423: 'Locked',
  425: 'Too Early',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
  508: 'Loop Detected',
}

/** Returns the reason phrase of a status, `Service Unavailable` for 503, or `undefined` if there is none. */
export function reasonPhrase(status: number): string | undefined {
  return reasonPhrases[status]
}

/**
 * Returns `503 Service Unavailable`, or only the status if it has no phrase. This package chose this; public sources
 * leave it open. [queue.md 4.3]
 */
export function statusText(status: number): string {
  const phrase = reasonPhrase(status)
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}

/** Decodes the percent-escapes of a path segment. Returns the segment unchanged if an escape is invalid. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * Error of a request whose connection broke before a response arrived. As on a real network, `fetch` then rejects. A
 * server closes the socket instead.
 */
export class ConnectionBroken extends Error {
  constructor(
    readonly code: 'ECONNRESET' | 'ETIMEDOUT' | 'ECONNREFUSED' | 'ENOTFOUND' | 'CERT_HAS_EXPIRED',
    message: string,
  ) {
    super(message)
  }
}
