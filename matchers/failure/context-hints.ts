import type { Chain } from './chain.js'
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
 * @param isOwn returns whether an entry is in the chain of the failure, or is `undefined` without a focus
 * @param isMissing whether something expected is missing. Then entries outside the chain may explain the failure, too
 * @param mayRepeat returns whether several attempts of one message, each with an entry like the passed one, could
 * explain the failure
 */
export function hintsFromContext(
  chain: Chain,
  isOwn: Log['isOwn'],
  isMissing: boolean,
  mayRepeat: Log['mayRepeat'],
): string[] {
  const { evidence } = chain
  const all = rows.flatMap((row) => row({ evidence, chain, isOwn, mayRepeat }))
  const isInChain = ({ seqs }: Circumstance): boolean => isOwn === undefined || seqs.some(isOwn)
  const own = all.filter(isInChain)
  const others = isMissing ? all.filter((one) => !isInChain(one)) : []
  return [...own.filter(({ explainsMissing }) => isMissing || explainsMissing !== true), ...others]
    .slice(0, most)
    .map(({ sentence }) => evidence.redaction.text(sentence()))
}
