import { type Bytes, latin1 } from '../../kernel/bytes.js'

/**
 * Result of a command. A byte string represents a bulk string, a `Status` a simple string, and a number an integer.
 * Commands format floating-point numbers themselves and return them as byte strings. Errors are thrown as `ReplyError`.
 * [store.md 3.1]
 */
export type Reply = null | number | bigint | Bytes | Status | NilArray | readonly Reply[]

/** Simple string, such as `OK`. In responses with base64, the text `OK` stays plain text. */
export class Status {
  readonly text: Bytes
  constructor(text: string) {
    this.text = latin1(text)
  }
}

export const ok: Status = new Status('OK')

/** Nil array of RESP2 (`*-1`); JSON has only one `null`. [store.md 3.3] */
export class NilArray {
  readonly kind = 'nil array'
}
export const nilArray: NilArray = new NilArray()

/** Error reply. `message` is the whole text of the error, and the first word of this text is the error code. */
export class ReplyError extends Error {
  /** Name of the error class. */
  override readonly name = 'ReplyError'

  /** First word of the message, such as `ERR` or `WRONGTYPE`. */
  get code(): string {
    return this.message.split(' ', 1)[0]!
  }
}

/** Error for a command or request that would cost more than `policy.maxWork`. */
export class WorkExceeded extends ReplyError {}

/** Maximum nesting of lists in a reply. A script that returns deeper lists gets an error. */
export const deepestReply = 1000

export function tooDeep(): ReplyError {
  return new ReplyError('ERR reached lua stack limit')
}

/** Returns the number of items in a reply, including nested lists. */
export function itemsOf(reply: Reply): number {
  if (!Array.isArray(reply)) return 0
  let items = reply.length
  for (const item of reply as readonly Reply[]) if (Array.isArray(item)) items += itemsOf(item)
  return items
}
