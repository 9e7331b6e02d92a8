import { type Bytes, text, utf8 } from '../../../../src/kernel/bytes.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { headerEndingIn } from './run-delivery.js'

/** The same call, whose body was read. */
export function callWith({ method, url, headers, signal }: RawRequest, body: Bytes): RawRequest {
  return { method, url, headers, signal, body: () => body }
}

/** Whether a request tells how this run goes on, and is not the app's own business with the queue. */
export function isOfRun({ method, url, headers }: RawRequest, endpoint: string, body: Bytes, runId: string): boolean {
  if (endpoint === '/v2/batch') return text(body).toLowerCase().includes(`workflow-runid":"${runId.toLowerCase()}"`)
  if (endpoint.startsWith('/v2/publish/')) {
    const isInvoke = headerEndingIn(headers, 'workflow-invoke') !== undefined
    return isInvoke || headerEndingIn(headers, 'workflow-runid') === runId
  }
  if (method === 'DELETE') return url.includes(runId)
  return endpoint.startsWith('/v2/notify/') || endpoint.startsWith('/v2/wait/')
}

/** Whether the SDK fetches the steps of a delivery that came without. */
export function fetchesList({ method }: RawRequest, endpoint: string): boolean {
  return method === 'GET' && endpoint.startsWith('/v2/workflows/runs/')
}

/** What the SDK says where the list of steps and the code differ. */
export function refusalOf({ body }: { readonly body: Bytes }): string | undefined {
  const { message } = (parsedJson(text(body)) ?? {}) as { message?: unknown }
  // Of steps beside each other it goes on with all their names, on lines of their own.
  return typeof message === 'string'
    ? /Incompatible (?:step|number of parallel steps) .*/.exec(message)?.[0]
    : undefined
}

/** What the queue would answer to a submission, if it took any. */
export function pretended(endpoint: string, body: Bytes): RawResponse {
  const accepted = { messageId: 'msg_none' }
  if (endpoint.startsWith('/v2/notify/')) return jsonResponse('[]')
  if (endpoint !== '/v2/batch') return jsonResponse(JSON.stringify(accepted))
  return jsonResponse(JSON.stringify((parsedJson(text(body)) as unknown[]).map(() => accepted)))
}

export function jsonResponse(written: string): RawResponse {
  return { status: 200, headers: [['content-type', 'application/json']], body: utf8(written) }
}
