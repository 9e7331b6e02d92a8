import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { nestingOf } from '../../src/report/nesting.js'
import type { MatcherInput } from '../received.js'
import type { Circumstance, Log } from './circumstance.js'
import { failedForGood, guarded, skippedSlots } from './missing-hints.js'
import { doneAgain, overtaken, repeated, takenForDuplicates } from './repetitions.js'

// What happened in a log that a matcher did not ask for and that often is why it failed. Each kind is one row below:
// sentences about what the entries say, never guesses about what the code under test meant.

/** In the order in which they are told. */
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
 * What else the log has to say, those sentences first that are about what failed.
 * @param isOwn whether an entry belongs to what failed; `undefined` when nobody knows what it is about
 * @param isMissing something was expected that is not there: what has kept it from happening may be anywhere
 * @param mayRepeat whether it would explain the failure that several attempts did this, or what this one did
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
