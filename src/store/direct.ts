import { type Bytes, text, utf8 } from '../kernel/bytes.js'
import type { Traffic } from '../kernel/traffic.js'
import { NilArray, type Reply, ReplyError, Status } from './reply.js'
import type { Store } from './store.js'

/** A reply in plain JavaScript: strings are decoded as UTF-8, both kinds of nil are `null`. */
export type PlainReply = null | number | bigint | string | readonly PlainReply[]

/** The data store, spoken to directly by a test: no HTTP, no token. */
export class DirectStore {
  constructor(
    readonly engine: Store,
    /** The log of everything that happened, which the matchers read. */
    readonly traffic: Traffic,
  ) {}

  /**
   * Runs one command and returns its reply; an error reply is thrown as `ReplyError`.
   * @example sandbox.store.run('SET', 'greeting', 'hello', 'EX', 60) // 'OK'
   */
  run(...words: readonly (string | number | bigint)[]): PlainReply {
    const argv = words.map((word) => utf8(String(word)))
    const entry = { type: 'command', argv, user: 'default', via: 'direct' } as const
    try {
      const reply = this.engine.execute(argv)
      this.traffic.append({ ...entry, reply })
      return plainReply(reply)
    } catch (error) {
      if (error instanceof ReplyError) this.traffic.append({ ...entry, error: error.message })
      throw error
    }
  }

  /** Runs a reading command as the owner and leaves no trace in the traffic: for matchers and inspectors. */
  peek(...words: readonly Bytes[]): PlainReply {
    return plainReply(this.engine.executeInside(words, this.engine.access.standardUser))
  }

  /** The value of a string key as text, `null` when there is none. Leaves no trace in the traffic. */
  get(key: string): string | null {
    const value = this.engine.db.string(utf8(key))
    return value === undefined ? null : text(value)
  }
}

export function plainReply(reply: Reply): PlainReply {
  if (typeof reply === 'string') return text(reply as Bytes)
  if (reply === null || reply instanceof NilArray) return null
  if (reply instanceof Status) return reply.text
  if (typeof reply === 'object') return reply.map(plainReply)
  return reply
}
