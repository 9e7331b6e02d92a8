import { type Bytes, text, utf8 } from '../../../../src/kernel/bytes.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { headerEndingIn } from './run-delivery.js'

export function callWith({ method, url, headers, signal }: RawRequest, body: Bytes): RawRequest {
  return { method, url, headers, signal, body: () => body }
}

/** Returns whether a request submits a result of this workflow run. Other requests to the queue are the app's own. */
export function isOfRun({ method, url, headers }: RawRequest, endpoint: string, body: Bytes, runId: string): boolean {
  if (endpoint === '/v2/batch') return text(body).toLowerCase().includes(`workflow-runid":"${runId.toLowerCase()}"`)
  if (endpoint.startsWith('/v2/publish/')) {
    const isInvoke = headerEndingIn(headers, 'workflow-invoke') !== undefined
    return isInvoke || headerEndingIn(headers, 'workflow-runid') === runId
  }
  if (method === 'DELETE') return url.includes(runId)
  return endpoint.startsWith('/v2/notify/') || endpoint.startsWith('/v2/wait/')
}

/** Returns whether the SDK requests the steps of the workflow run, because a delivery arrived without them. */
export function fetchesList({ method }: RawRequest, endpoint: string): boolean {
  return method === 'GET' && endpoint.startsWith('/v2/workflows/runs/')
}

/** Returns the error message of the SDK if the steps of the history differ from the steps of the code. */
export function refusalOf({ body }: { readonly body: Bytes }): string | undefined {
  const { message } = (parsedJson(text(body)) ?? {}) as { message?: unknown }
  // For parallel steps, further lines with the names of the steps follow. Only the first line is returned.
  return typeof message === 'string'
    ? /Incompatible (?:step|number of parallel steps) .*/.exec(message)?.[0]
    : undefined
}

/**
 * Returns the response to a submission that was not sent to the queue. It looks like the queue's response to an
 * accepted submission.
 */
export function pretended(endpoint: string, body: Bytes): RawResponse {
  const accepted = { messageId: 'msg_none' }
  if (endpoint.startsWith('/v2/notify/')) return jsonResponse('[]')
  if (endpoint !== '/v2/batch') return jsonResponse(JSON.stringify(accepted))
  return jsonResponse(JSON.stringify((parsedJson(text(body)) as unknown[]).map(() => accepted)))
}

export function jsonResponse(written: string): RawResponse {
  return { status: 200, headers: [['content-type', 'application/json']], body: utf8(written) }
}
