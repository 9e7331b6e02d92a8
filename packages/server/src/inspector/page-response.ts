import type { InspectorPage } from '@stuntdouble/inspector/page'
import { utf8 } from '../../../../src/kernel/bytes.js'
import type { HeaderList } from '../../../../src/kernel/http.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'

/** Paths at the root of the server that are the page's own; names of tenants do not begin with `_`. */
const own = /^\/(?:_inspector(?:\/(editor\.js)?)?)?(?:[?#]|$)/

/** Whether a path is the page's: what asks for it has to come from a page of the server itself. */
export function isPagePath(path: string): boolean {
  return own.test(path)
}

/**
 * The inspector for whoever can read HTML, at the root and at `/_inspector`. It holds no secret: what it may do is what
 * the control token may that the reader brings along. `undefined` where the path or the reader is another one.
 */
export function pageResponse({ method, headers }: RawRequest, path: string): Promise<RawResponse> | undefined {
  const match = own.exec(path)
  if (match === null || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (match[1] !== undefined) return editor()
  return path.startsWith('/_inspector') || takesHtml(headers) ? page() : undefined
}

/** A browser names it; curl and `fetch` take anything, and get the sentence of a path where nothing is. */
function takesHtml(headers: HeaderList): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'accept' && /\btext\/html\b/i.test(value))
}

// The page is larger than all else that a server needs to start: it is read when somebody asks for it.
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

/** A page with the headers that keep it from running, loading and sending anything but its own. */
export function answerOf(given: InspectorPage): RawResponse {
  return {
    status: 200,
    headers: [['content-type', 'text/html; charset=utf-8'], ['content-security-policy', policyOf(given)], ...guards],
    body: utf8(given.html),
  }
}

/**
 * What the page may do, said by hashes. The editor is a script that the page's own script loads: `strict-dynamic` trusts
 * it for that, where `self` would trust whatever a tenant can be made to answer.
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

/** No cookie is among them, here or anywhere: cookies know no port, and the app under test would be sent the token. */
const guards: HeaderList = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]
