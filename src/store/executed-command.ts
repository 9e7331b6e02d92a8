import type { Bytes } from '../kernel/bytes.js'
import type { StoreDump } from './dump/store-dump.js'

/** Input for replicas of the store: a command that ran, or a dump that was loaded. */
export interface ExecutedCommand {
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly argv?: readonly Bytes[]
  readonly loaded?: StoreDump
}
