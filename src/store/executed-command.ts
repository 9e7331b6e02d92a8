import type { Bytes } from '../kernel/bytes.js'
import type { StoreDump } from './dump/store-dump.js'

/** Command that ran, or dump that was loaded, as an input for replicas of the store. */
export interface ExecutedCommand {
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly argv?: readonly Bytes[]
  readonly loaded?: StoreDump
}
