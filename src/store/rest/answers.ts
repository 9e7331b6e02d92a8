import { type Bytes, latin1, utf8 } from '../../kernel/bytes.js'
import { jsonText } from '../../protocol/call.js'
import type { Answer, ServiceCall } from '../../protocol/service.js'
import type { ReplyError } from '../command/reply.js'
import type { Store } from '../store.js'

// What all endpoints of the store put into their answers.

export function errorItem(error: ReplyError): Bytes {
  return utf8(`{"error":${JSON.stringify(error.message)}}`)
}

export function errorAnswer(error: ReplyError, status: number, call: ServiceCall): Answer {
  return jsonText(call.method === 'HEAD' ? latin1('') : errorItem(error), status, corsHeaders(call))
}

/** A short counter text, as third parties saw it on the service. [store.md 2.2] */
export function syncToken(store: Store): string {
  return store.writes.toString(32)
}

/** The last pair that was made: while nothing is written, one answer's is the next one's, and the log keeps it once. */
let lastSync: readonly [string, string] = ['service-sync-token', '']

export function syncHeader(store: Store): readonly [string, string] {
  const token = syncToken(store)
  if (lastSync[1] !== token) lastSync = ['service-sync-token', token]
  return lastSync
}

const allowsCredentials = ['access-control-allow-credentials', 'true'] as const

export function corsHeaders(call: ServiceCall): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [allowsCredentials]
  const origin = call.header('origin')
  if (origin !== undefined) {
    headers.push(['access-control-allow-origin', origin], ['access-control-expose-headers', 'service-sync-token'])
  }
  return headers
}
