import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { nestingOf } from '../../src/report/nesting.js'
import type { MatcherInput } from '../received.js'
import type { Circumstance, Log } from './circumstance.js'
import { failedForGood, guarded, skippedSlots } from './missing-hints.js'
import { doneAgain, overtaken, repeated, takenForDuplicates } from './repetitions.js'

// Finds things in the log that often cause the failure of a matcher, although the matcher does not check them. Each row
// is one kind. Hints state what the entries prove; they don't guess what the app meant.

/** The kinds of hints, in the order in which they are printed. */
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
 * Returns hints from the log, those about the failure itself first.
 * @param isOwn whether an entry belongs to the failure; `undefined` when the failure has no chain
 * @param isMissing whether something expected is missing, so that any entry may explain it
 * @param mayRepeat whether several attempts that caused an entry would explain the failure
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
