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
  /**
   * Closes all connections after the state of the sandbox was replaced. Connections cannot continue in the new state.
   */
  close(): void
}

/** Access to a store in another process. */
export interface StoreElsewhere {
  /**
   * Runs one command as the user `default` and logs it.
   * @throws ReplyError for an error reply, and Error when the store is not available
   */
  run(argv: readonly Bytes[]): Promise<Reply>
  /** Runs one command as the user `default` without logging it. */
  peek(argv: readonly Bytes[]): Promise<Reply>
  /** Copies the remote store and calls `take`. During this call, `store.dump()` returns the copy. For matchers. */
  copied<T>(take: () => T): Promise<T>
  reset(): Promise<void>
}

/** Internals of `sandbox.store`, and of the copy of the store that a remote sandbox makes. */
export interface StoreInternals {
  readonly engine: StoreEngine
  /** Runs and logs the commands of connections, which may wait. */
  readonly commands: Pick<LoggedStore, 'start' | 'transact'>
  /** Store with the limits and faults of the REST API. */
  readonly front: RestStore
  /** Journal of inputs, if the sandbox keeps one. */
  readonly inputs: InputJournal | undefined
  /**
   * Connections over the Redis protocol. The object is created for the first connection. Most sandboxes have no
   * connections and do not load this code.
   */
  connections?: Connections
  /** Set if the store is in another process. */
  elsewhere?: StoreElsewhere
  /** Runs a read command as the user `default` without logging it. For matchers and inspectors. */
  peek(...words: readonly Bytes[]): PlainReply
}

/** This constant has its own file, so that the client of a remote sandbox can import it without the engine. */
export const storeInternals: Internals<object, StoreInternals> = internals('store')
