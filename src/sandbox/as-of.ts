import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import type { Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { JournalCut } from './past.js'

/** A position in the journal, with what is needed to show log entries as they were then. */
export interface PastView {
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the latest entry at that position. */
  readonly seq: number
  /** The latest clock move, if its entry may have changed since. */
  readonly move: Move | undefined
  /** `seq` of entries that were open at that position, for entries whose end does not show it. */
  readonly open: ReadonlySet<number> | undefined
}

/** Fields in which the entry of a clock move was different from the present one. */
interface Move {
  readonly seq: number
  readonly was: { readonly count: number; readonly to?: number; readonly endedAfterSeq?: number }
}

/** Returns the view of a journal position, which may be the present end of the journal. */
export function asOf(
  { end, at }: JournalCut,
  { inputs, attach: stand }: InputJournal,
  traffic: Pick<TrafficLog, 'entries' | 'get'>,
): PastView {
  const seq = inputs.get(end)?.log ?? stand.log
  const open = end < inputs.length ? undefined : new Set(traffic.entries.filter(isOpen).map((entry) => entry.seq))
  return { at, seq, move: moveBefore(end, seq, inputs, traffic), open }
}

/**
 * Returns the move whose entry may have changed since. Consecutive moves without other inputs share one entry, and so
 * does a move that is still running.
 */
function moveBefore(
  end: number,
  latest: number,
  inputs: InputColumns,
  traffic: Pick<TrafficLog, 'get'>,
): Move | undefined {
  let index = end
  let ended: Pick<Move['was'], 'to' | 'endedAfterSeq'> | undefined
  let input = inputs.get(--index)
  for (; input !== undefined && input.kind !== 'moving'; input = inputs.get(--index)) {
    if (input.kind === 'moved') ended ??= { to: input.at, endedAfterSeq: input.log }
  }
  if (input === undefined) return undefined
  const isNew = input.log < latest && traffic.get(input.log + 1)?.type === 'clock'
  const seq = isNew ? input.log + 1 : input.log
  // The move has ended and a later entry follows, so its entry is final.
  if (ended !== undefined && seq !== latest) return undefined
  let moves = 1
  for (; input !== undefined && input.log >= seq; input = inputs.get(--index)) {
    if (input.kind === 'moving') moves++
    else if (input.kind === 'moved') ended ??= { to: input.at, endedAfterSeq: input.log }
  }
  return { seq, was: { count: moves, ...ended } }
}

/** Returns an entry as it was, without an end that was recorded later. */
export function entryAsOf(entry: Entry, { at, seq, move, open }: PastView): Entry {
  if (entry.seq === move?.seq && entry.type === 'clock') {
    const { to: _, endedAfterSeq: __, ...rest } = entry
    return { ...rest, ...move.was }
  }
  const { endedAfterSeq = 0, to = endOf(entry) ?? at } = entry as Ended
  if (endedAfterSeq <= seq && to <= at && open?.has(entry.seq) !== true) return entry
  // A proxy instead of a copy, so that only entries that are read cost anything.
  return new Proxy(entry, { get: (told, name) => (ends.has(name) ? undefined : Reflect.get(told, name, told)) })
}

const ends: ReadonlySet<string | symbol> = new Set(['response', 'outcome', 'to', 'endedAfterSeq'])

function isOpen(entry: Entry): boolean {
  const { endedAfterSeq } = entry as Ended
  return (
    endedAfterSeq === undefined && (entry.type === 'attempt' || entry.type === 'request' || entry.type === 'outbound')
  )
}

function endOf(entry: Entry): number | undefined {
  const { response: answer, outcome } = entry as Ended
  return answer?.at ?? outcome?.at
}

interface Ended {
  readonly endedAfterSeq?: number
  readonly response?: { readonly at: number }
  readonly outcome?: { readonly at: number }
  readonly to?: number
}
