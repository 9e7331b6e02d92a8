import type { Bytes } from '../kernel/bytes.js'
import type { CommandEntry, Traffic } from '../kernel/traffic.js'
import type { User } from './access.js'
import { type Reply, ReplyError } from './reply.js'
import type { Store } from './store.js'

/** Runs commands and writes them and what they change into the traffic log. */
export class Journal {
  /** `seq` of the request that is being served. */
  #cause: number | undefined

  constructor(
    readonly store: Store,
    readonly traffic: Traffic,
  ) {
    store.listen({
      keyspace: (eventClass, event, key) => {
        // New keys and misses are told apart from changes by redis-server, too: `A` does not include them.
        if (eventClass !== 'n' && eventClass !== 'm') traffic.append({ type: 'keyspace', event, key }, this.#cause)
      },
    })
  }

  execute(argv: readonly Bytes[], user: User, via: CommandEntry['via'], cause?: number): Reply {
    this.#cause = cause
    const entry = { type: 'command', argv, user: user.name, via } as const
    try {
      const reply = this.store.execute(argv, user)
      this.traffic.append({ ...entry, reply }, cause)
      return reply
    } catch (error) {
      if (error instanceof ReplyError) this.traffic.append({ ...entry, error: error.message }, cause)
      throw error
    } finally {
      this.#cause = undefined
    }
  }
}
