import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import type { Nesting } from '../../src/report/nesting.js'
import type { MatcherInput } from '../received.js'

/** A log, read once for all rows. */
export interface Log {
  readonly evidence: MatcherInput
  readonly nesting: Nesting
  /** Whether an entry belongs to what failed, and is told there; `undefined` when nothing is told yet. */
  readonly isOwn: ((seq: number) => boolean) | undefined
  /** Whether it would explain the failure that several attempts did this, or what this one did. */
  readonly mayRepeat: (entry: Entry) => boolean
  /** The delivery in which something happened. */
  readonly attemptOf: (entry: Entry) => EntryOf<'attempt'> | undefined
}

export interface Circumstance {
  readonly sentence: string
  /** `seq` of the entries that it is made of. */
  readonly seqs: readonly number[]
  /** It only explains what is missing. */
  readonly explainsMissing?: boolean
}

/** Things by a name, in the order in which each name first came. */
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
