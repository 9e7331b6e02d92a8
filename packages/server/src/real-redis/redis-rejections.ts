import { json as jsonAnswer } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { type Encoding, failed } from '../../../../src/store/rest/rest-responses.js'
import { RealRedisError } from './real-redis-errors.js'

/**
 * Returns the response to an error. If the real Redis cannot be used, the status is 503, because the client has made no
 * mistake.
 */
export function refusalOf(error: unknown, encoding: Encoding): RawResponse {
  if (error instanceof RealRedisError) {
    return jsonAnswer({ error: error.message }, 503, [['retry-after', '1']])
  }
  if (!(error instanceof ReplyError)) throw error
  if (error.message.startsWith('BUSY ')) {
    const sentence = `The real Redis is busy with a script. SCRIPT KILL ends the script unless the script has already written data. ${error.message}`
    return jsonAnswer({ error: sentence }, 503, [['retry-after', '1']])
  }
  return failed(error, 400, encoding)
}
