import type { IncomingMessage, ServerResponse } from 'node:http'
import { standardRedaction } from '../../../src/report/redaction.js'
import { targetOf } from './listener.js'

/** One answered request, as `--log` prints it: a JSON object on a line. */
export interface RequestLogEntry {
  /** Host time, ISO. */
  readonly time: string
  readonly method: string
  /** Path and query; secrets in it are `***`. */
  readonly path: string
  /** 0 when the connection ended without an answer. */
  readonly status: number
  /** Host milliseconds from the head of the request to the end of the answer. */
  readonly durationMs: number
}

/** Logs a request once it is over. */
export function logRequest(
  request: IncomingMessage,
  response: ServerResponse,
  log: (request: RequestLogEntry) => void,
): void {
  const begun = performance.now()
  response.once('close', () => {
    log({
      time: new Date().toISOString(),
      method: request.method ?? '',
      path: shownPath(targetOf(request)),
      status: response.writableFinished ? response.statusCode : 0,
      durationMs: Math.round((performance.now() - begun) * 1000) / 1000,
    })
  })
}

/** `/{tenant}/store/…` may be a command with its words; every other path is a url. */
function shownPath(target: string): string {
  return /^\/[^/?#]*\/store\//.test(target) ? standardRedaction.storeUrl(target) : standardRedaction.url(target)
}
