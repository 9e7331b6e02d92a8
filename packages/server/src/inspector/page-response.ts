import type { InspectorPage } from '@stuntdouble/inspector/page'
import { utf8 } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'

/** Paths of the page at the root of the server. Tenant names do not begin with `_`. */
const own = /^\/(?:_inspector(?:\/(editor\.js)?)?)?(?:[?#]|$)/

/** Returns whether a path belongs to the page. Requests to it must come from a page of this server. */
export function isPagePath(path: string): boolean {
  return own.test(path)
}

/**
 * Responds with the inspector to clients that accept HTML, at the root and at `/_inspector`. The page contains no
 * secret and can do only what the control token of its user allows. Returns `undefined` for other paths and clients.
 */
export function pageResponse({ method, headers }: RawRequest, path: string): Promise<RawResponse> | undefined {
  const match = own.exec(path)
  if (match === null || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (match[1] !== undefined) return editor()
  return path.startsWith('/_inspector') || takesHtml(headers) ? page() : undefined
}

/** Browsers name HTML. curl and `fetch` accept everything, and get the JSON error of an unknown path. */
function takesHtml(headers: HeaderList): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'accept' && /\btext\/html\b/i.test(value))
}

// Load the page on demand, because it is larger than everything else that a server needs to start.
async function page(): Promise<RawResponse> {
  const { inspectorPage } = await import('@stuntdouble/inspector/page')
  return answerOf(inspectorPage())
}

async function editor(): Promise<RawResponse> {
  const { editorScript } = await import('@stuntdouble/inspector/page')
  return {
    status: 200,
    headers: [['content-type', 'text/javascript; charset=utf-8'], ...guards],
    body: utf8(editorScript),
  }
}

/** Responds with a page and with headers that keep it from running, loading and sending anything except its own. */
export function answerOf(given: InspectorPage): RawResponse {
  return {
    status: 200,
    headers: [['content-type', 'text/html; charset=utf-8'], ['content-security-policy', policyOf(given)], ...guards],
    body: utf8(given.html),
  }
}

/**
 * Returns the content security policy of the page, with hashes. The script of the page loads the editor, which
 * `strict-dynamic` trusts; `self` would also trust any response that a tenant can produce.
 */
function policyOf({ scriptHash, copyHash, styleHash }: InspectorPage): string {
  return [
    "default-src 'none'",
    `script-src '${scriptHash}'${copyHash === undefined ? '' : ` '${copyHash}'`} 'strict-dynamic'`,
    `style-src '${styleHash}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/**
 * Headers of all responses. There are no cookies, because cookies ignore ports, and the app under test would receive
 * the token.
 */
const guards: HeaderList = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]
