import type { IncomingMessage, ServerResponse } from 'node:http'
import { standardRedaction } from '../../../src/report/redaction.js'
import { targetOf } from './listener.js'
import { servedTarget } from './root-store.js'

/** One finished request, as `--log` prints it: a JSON object on one line. */
export interface RequestLogEntry {
  /** Host time in ISO format. */
  readonly time: string
  /** HTTP method of the request, such as `POST`. */
  readonly method: string
  /** Path and query, in which secrets are `***`. */
  readonly path: string
  /** HTTP status. 0 if the connection ended without a response. */
  readonly status: number
  /** Duration from the head of the request to the end of the response, in milliseconds of host time. */
  readonly durationMs: number
}

export function logRequest(
  request: IncomingMessage,
  response: ServerResponse,
  log: (request: RequestLogEntry) => void,
): void {
  const begun = performance.now()
  const { method = '' } = request
  const target = targetOf(request)
  response.once('close', () => {
    log({
      time: new Date().toISOString(),
      method,
      path: shownPath(method, target),
      status: response.writableFinished ? response.statusCode : 0,
      durationMs: Math.round((performance.now() - begun) * 1000) / 1000,
    })
  })
}

/**
 * Redacts secrets in a path. At the root and below `/{tenant}/store/` and `/{tenant}/store-{database}/`, the path may be
 * a command with its arguments. Every other path is redacted like a URL.
 */
function shownPath(method: string, target: string): string {
  const isOfStore = servedTarget(method, target) !== target || /^\/[^/?#]*\/store(?:-[^/?#]*)?\//.test(target)
  return isOfStore ? standardRedaction.storeUrl(target) : standardRedaction.url(target)
}
