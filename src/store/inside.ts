import { type Behind, behind } from '../kernel/behind.js'
import type { Bytes } from '../kernel/bytes.js'
import type { PlainReply } from './direct.js'
import type { Journal } from './journal.js'
import type { Sessions } from './native/sessions.js'
import type { Store } from './store.js'

/** What stands behind `sandbox.store`, and behind the copy of it that a remote sandbox makes. */
export interface StoreInside {
  readonly engine: Store
  /** Runs commands of connections, which may wait, and writes them down. */
  readonly commands: Pick<Journal, 'start' | 'transact'>
  /** Connections of the native protocol. */
  readonly sessions: Sessions
  /** Runs a reading command as the owner and leaves no trace in the traffic: for matchers and inspectors. */
  peek(...words: readonly Bytes[]): PlainReply
}

/** In a file of its own: a client comes without the engine. */
export const inside: Behind<object, StoreInside> = behind('store')
