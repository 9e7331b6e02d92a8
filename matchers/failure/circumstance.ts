import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import type { Nesting } from '../../src/report/nesting.js'
import type { MatcherInput } from '../received.js'

/** A log, indexed once for all hints. */
export interface Log {
  readonly evidence: MatcherInput
  readonly nesting: Nesting
  /** Returns whether an entry belongs to the failure; `undefined` when the failure has no chain. */
  readonly isOwn: ((seq: number) => boolean) | undefined
  /** Returns whether the failure would be explained by several attempts that caused this entry. */
  readonly mayRepeat: (entry: Entry) => boolean
  /** Returns the delivery during which an entry was recorded. */
  readonly attemptOf: (entry: Entry) => EntryOf<'attempt'> | undefined
}

/** Something in the log that may explain a failure. */
export interface Circumstance {
  readonly sentence: string
  /** `seq` of the entries that prove it. */
  readonly seqs: readonly number[]
  /** Whether it only explains something that is missing. */
  readonly explainsMissing?: boolean
}

/** Groups things by name, in the order in which the names first occur. */
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
