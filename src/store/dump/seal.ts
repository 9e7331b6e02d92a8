import { type Bytes, latin1, text } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { replyError } from '../command/errors.js'

// Payloads of DUMP and FUNCTION DUMP: the content, a mark with kind and version, and a checksum of both. The format is
// specific to this package. The format of redis-server depends on how redis-server represents values in memory.

const checksumLength = 8

export function sealed(content: Bytes, mark: string): Bytes {
  return latin1(content + mark + checksum(content + mark))
}

/**
 * Returns the content of a payload.
 * @throws ReplyError when the payload is damaged or of another kind
 */
export function unsealed(payload: Bytes, mark: string): Bytes {
  const content = payload.slice(0, -checksumLength)
  if (!content.endsWith(mark) || payload.slice(-checksumLength) !== checksum(content)) throw replyError('badDump')
  return latin1(content.slice(0, -mark.length))
}

/**
 * Parses the content of a payload.
 * @throws ReplyError when it is not JSON
 */
export function contentOf(content: Bytes): unknown {
  try {
    return JSON.parse(text(content))
  } catch {
    throw replyError('badDump')
  }
}

function checksum(content: string): string {
  return sha256Bytes(latin1(content)).slice(0, checksumLength)
}
