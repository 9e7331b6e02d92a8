import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { nestingOf } from '../../src/report/nesting.js'
import type { MatcherInput } from '../received.js'
import type { Circumstance, Log } from './circumstance.js'
import { failedForGood, guarded, skippedSlots } from './missing-hints.js'
import { doneAgain, overtaken, repeated, takenForDuplicates } from './repetitions.js'

// Finds facts in the log that often make a matcher fail, although the matcher does not check them. Each row of the
// table finds one kind of fact. A hint states what the entries prove. It does not guess what the app meant.

/** Functions that find one kind of fact each. Hints are printed in this order. */
const rows: readonly ((log: Log) => Circumstance[])[] = [
  doneAgain,
  repeated,
  overtaken,
  takenForDuplicates,
  skippedSlots,
  guarded,
  failedForGood,
]

const most = 3

/**
 * Returns hints from the log. Hints about entries in the chain of the failure come first.
 * @param isOwn returns whether an entry is in the chain of the failure, or is `undefined` without a chain
 * @param isMissing whether something expected is missing. Then entries outside the chain may explain the failure, too
 * @param mayRepeat returns whether several attempts of one message, each with an entry like the passed one, could
 * explain the failure
 */
export function hintsFromContext(
  evidence: MatcherInput,
  isOwn: ((seq: number) => boolean) | undefined,
  isMissing: boolean,
  mayRepeat: Log['mayRepeat'],
): string[] {
  const log = logOf(evidence, isOwn, mayRepeat)
  const all = rows.flatMap((row) => row(log))
  const own = all.filter(({ seqs }) => isOwn === undefined || seqs.some(isOwn))
  const others = isMissing ? all.filter((one) => !own.includes(one)) : []
  return [...own.filter(({ explainsMissing }) => isMissing || explainsMissing !== true), ...others]
    .slice(0, most)
    .map(({ sentence }) => evidence.redaction.text(sentence))
}

function logOf(evidence: MatcherInput, isOwn: Log['isOwn'], mayRepeat: Log['mayRepeat']): Log {
  const { entries } = evidence
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
  const nesting = nestingOf(entries)
  const attemptOf = (entry: Entry): EntryOf<'attempt'> | undefined => {
    for (let at: Entry | undefined = entry; at !== undefined; ) {
      if (at.type === 'attempt') return at
      const above = nesting.above(at)
      at = above === undefined ? undefined : bySeq.get(above)
    }
    return undefined
  }
  return { evidence, nesting, isOwn, mayRepeat, attemptOf }
}
