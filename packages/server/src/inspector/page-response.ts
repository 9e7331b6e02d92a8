import type { InspectorPage } from '@stuntdouble/inspector/page'
import { utf8 } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'

/** Paths that belong to the page. No tenant has such a path, because tenant names do not begin with `_`. */
const own = /^\/(?:_inspector(?:\/(editor\.js)?)?)?(?:[?#]|$)/

/** Returns whether a path belongs to the page of the inspector. Pages of other sites must not request such a path. */
export function isPagePath(path: string): boolean {
  return own.test(path)
}

/**
 * Returns the page of the inspector for `/_inspector`, and the script of its editor. Clients that accept HTML also get
 * the page for `/`. Returns `undefined` for other requests. The page contains no secrets, and it can do only what the
 * control token of its user allows.
 */
export function pageResponse({ method, headers }: RawRequest, path: string): Promise<RawResponse> | undefined {
  const match = own.exec(path)
  if (match === null || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (match[1] !== undefined) return editor()
  return path.startsWith('/_inspector') || takesHtml(headers) ? page() : undefined
}

/**
 * Returns whether a client is a browser. Browsers list HTML in `Accept`. curl and `fetch` accept all types instead, and
 * get the JSON error for an unknown path.
 */
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

/**
 * Returns the response with a page. The headers of the response prevent the page from running other scripts, and from
 * contacting other hosts.
 */
export function answerOf(given: InspectorPage): RawResponse {
  return {
    status: 200,
    headers: [['content-type', 'text/html; charset=utf-8'], ['content-security-policy', policyOf(given)], ...guards],
    body: utf8(given.html),
  }
}

/**
 * Returns the content security policy of the page, which contains hashes of its scripts and style. The script of the
 * page loads the editor, which `strict-dynamic` trusts. `self` would also trust a script that a tenant of this server
 * returns.
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
 * Headers of all responses. The token is not in a cookie: cookies ignore ports, so browsers would send it to the app
 * under test, too.
 */
const guards: HeaderList = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]
