import type { Entry } from '../../src/kernel/traffic-log.js'
import type { MatcherInput } from '../received.js'
import type { Chain } from './chain.js'

/** A log in which hints are searched. */
export interface Log {
  readonly evidence: MatcherInput
  readonly chain: Chain
  /** Returns whether an entry is in the chain of the failure. `undefined` if the failure has no chain. */
  readonly isOwn: ((seq: number) => boolean) | undefined
  /**
   * Returns whether several attempts of one message, each with an entry like the passed one, could explain the failure.
   */
  readonly mayRepeat: (entry: Entry) => boolean
}

/** A fact in the log that may explain a failure. */
export interface Circumstance {
  /** Returns the text of the hint. Of many facts, only the first few are printed. */
  readonly sentence: () => string
  /** `seq` of the entries that prove the fact. */
  readonly seqs: readonly number[]
  /** Whether the fact can only explain a failure in which something expected is missing. */
  readonly explainsMissing?: boolean
}

/** Groups items by the name that `nameOf` returns. The groups are in the order in which their names first occur. */
export function grouped<T>(things: Iterable<T>, nameOf: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const thing of things) {
    const name = nameOf(thing)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [thing])
    else group.push(thing)
  }
  return groups
}
