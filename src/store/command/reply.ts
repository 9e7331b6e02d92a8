import { type Bytes, latin1 } from '../../kernel/bytes.js'

/**
 * What a command answers. A byte string is a bulk string, a `Status` a simple string, a number an integer.
 * Errors are thrown as `ReplyError`; doubles are byte strings, formatted by their command. [store.md 3.1]
 */
export type Reply = null | number | bigint | Bytes | Status | NilArray | readonly Reply[]

/** A simple string: its text escapes base64 when it is `OK`. */
export class Status {
  readonly text: Bytes
  constructor(text: string) {
    this.text = latin1(text)
  }
}

export const ok: Status = new Status('OK')

/** The nil array of RESP2 (`*-1`); JSON knows only one `null`. [store.md 3.3] */
export class NilArray {
  readonly kind = 'nil array'
}
export const nilArray: NilArray = new NilArray()

/** An error reply. The message is the whole text, its first word the code. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'

  get code(): string {
    return this.message.split(' ', 1)[0]!
  }
}

/** The command, or the request, would cost more than `policy.maxWork`. */
export class WorkExceeded extends ReplyError {}

/** Lists within lists that a reply may have: a script can make more. */
export const deepestReply = 1000

export function tooDeep(): ReplyError {
  return new ReplyError('ERR reached lua stack limit')
}

/** Items of a reply, those of lists within it, too. */
export function itemsOf(reply: Reply): number {
  if (!Array.isArray(reply)) return 0
  let items = reply.length
  for (const item of reply as readonly Reply[]) if (Array.isArray(item)) items += itemsOf(item)
  return items
}
