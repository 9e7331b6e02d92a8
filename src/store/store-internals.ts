import type { Bytes } from '../kernel/bytes.js'
import type { InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { Reply } from './command/reply.js'
import type { LoggedStore } from './logged-store.js'
import type { PlainReply } from './plain.js'
import type { RestStore } from './rest/store-front.js'
import type { StoreEngine } from './store-engine.js'

interface Connections {
  /** The world is over. */
  retire(): void
  /** All are left: a world that begins has none. */
  close(): void
}

/** What a store that is not in this process can do for who would otherwise reach into it. */
export interface StoreElsewhere {
  /** Runs one command as the owner, and writes it down. @throws ReplyError, and Error where the store is away */
  run(argv: readonly Bytes[]): Promise<Reply>
  /** The same without a trace. */
  peek(argv: readonly Bytes[]): Promise<Reply>
  /** Calls back while `store.dump()` gives a copy of what it holds: for matchers. */
  copied<T>(take: () => T): Promise<T>
  /** Everything that is stored is gone. */
  reset(): Promise<void>
}

/** What stands behind `sandbox.store`, and behind the copy of it that a remote sandbox makes. */
export interface StoreInternals {
  readonly engine: StoreEngine
  /** Runs commands of connections, which may wait, and writes them down. */
  readonly commands: Pick<LoggedStore, 'start' | 'transact'>
  /** The store with the limits and faults of its doors. */
  readonly front: RestStore
  /** Where what comes in is written down, if it is. */
  readonly inputs: InputJournal | undefined
  /** Connections of the native protocol, once there were any: most worlds have none, and do without their code. */
  connections?: Connections
  /** Where it is, if not here. */
  elsewhere?: StoreElsewhere
  /** Runs a reading command as the owner and leaves no trace in the traffic: for matchers and inspectors. */
  peek(...words: readonly Bytes[]): PlainReply
}

/** In a file of its own: a client comes without the engine. */
export const storeInternals: Internals<object, StoreInternals> = internals('store')
