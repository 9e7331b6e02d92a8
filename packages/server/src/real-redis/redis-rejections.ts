import { json as jsonAnswer } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { type Encoding, failed } from '../../../../src/store/rest/rest-responses.js'
import { RealRedisError } from './real-redis-errors.js'

/** An engine that is away, or somebody else's, is no error of the command. */
export function refusalOf(error: unknown, encoding: Encoding): RawResponse {
  if (error instanceof RealRedisError) {
    return jsonAnswer({ error: error.message }, 503, [['retry-after', '1']])
  }
  if (!(error instanceof ReplyError)) throw error
  if (error.message.startsWith('BUSY ')) {
    const sentence = `The engine is busy with a script: SCRIPT KILL ends it, as long as it has written nothing. ${error.message}`
    return jsonAnswer({ error: sentence }, 503, [['retry-after', '1']])
  }
  return failed(error, 400, encoding)
}
