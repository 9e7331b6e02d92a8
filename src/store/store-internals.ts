import type { Bytes } from '../kernel/bytes.js'
import type { InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { Reply } from './command/reply.js'
import type { LoggedStore } from './logged-store.js'
import type { PlainReply } from './plain.js'
import type { RestStore } from './rest/store-front.js'
import type { StoreEngine } from './store-engine.js'

interface Connections {
  /** Ends the connections because the sandbox was disposed. */
  retire(): void
  /** Closes all connections, because the sandbox got a new state without connections. */
  close(): void
}

/** Access to a store in another process. */
export interface StoreElsewhere {
  /**
   * Runs one command as the owner and logs it.
   * @throws ReplyError for an error reply, and Error when the store is not available
   */
  run(argv: readonly Bytes[]): Promise<Reply>
  /** Runs one command as the owner without logging it. */
  peek(argv: readonly Bytes[]): Promise<Reply>
  /** Copies the remote store and calls `take`. During this call, `store.dump()` returns the copy. For matchers. */
  copied<T>(take: () => T): Promise<T>
  reset(): Promise<void>
}

/** Internals behind `sandbox.store` and behind the copy that a remote sandbox makes. */
export interface StoreInternals {
  readonly engine: StoreEngine
  /** Runs and logs the commands of connections, which may wait. */
  readonly commands: Pick<LoggedStore, 'start' | 'transact'>
  /** Store with the limits and faults of the REST API. */
  readonly front: RestStore
  /** Journal of inputs, if the sandbox keeps one. */
  readonly inputs: InputJournal | undefined
  /**
   * Connections over the Redis protocol. They are created with the first connection, because most sandboxes have none
   * and do not load the code.
   */
  connections?: Connections
  /** Set if the store is in another process. */
  elsewhere?: StoreElsewhere
  /** Runs a read command as the owner without logging it. For matchers and inspectors. */
  peek(...words: readonly Bytes[]): PlainReply
}

/** A separate file, so that a client can import it without the engine. */
export const storeInternals: Internals<object, StoreInternals> = internals('store')
