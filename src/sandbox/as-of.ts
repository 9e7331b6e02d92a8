import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import type { Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { JournalCut } from './past.js'

/** A position in the journal, and the data that is needed to show log entries as they were at that position. */
export interface PastView {
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the latest entry at that position. */
  readonly seq: number
  /** Fields that the entry of the latest clock move had at that position, if the entry may have changed since. */
  readonly move: Move | undefined
  /** `seq` of each entry that had no end at that position. Set only if the position is the end of the journal. */
  readonly open: ReadonlySet<number> | undefined
}

/** The entry of a clock move, and the values that its fields had at the past position. */
interface Move {
  readonly seq: number
  readonly was: { readonly count: number; readonly to?: number; readonly endedAfterSeq?: number }
}

/** Returns the data for a journal position. The position may be the end of the journal, which is the present. */
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
 * Returns the latest clock move before a position, if its entry may have changed since. The entry of a running move
 * changes when the move ends, and when another move follows without inputs between them.
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
  // The move had ended and another entry followed it. So the entry of the move cannot have changed since.
  if (ended !== undefined && seq !== latest) return undefined
  let moves = 1
  for (; input !== undefined && input.log >= seq; input = inputs.get(--index)) {
    if (input.kind === 'moving') moves++
    else if (input.kind === 'moved') ended ??= { to: input.at, endedAfterSeq: input.log }
  }
  return { seq, was: { count: moves, ...ended } }
}

/** Returns an entry as it was at a position. If the entry ended later, the result has no response or outcome. */
export function entryAsOf(entry: Entry, { at, seq, move, open }: PastView): Entry {
  if (entry.seq === move?.seq && entry.type === 'clock') {
    const { to: _, endedAfterSeq: __, ...rest } = entry
    return { ...rest, ...move.was }
  }
  const { endedAfterSeq = 0, to = endOf(entry) ?? at } = entry as Ended
  if (endedAfterSeq <= seq && to <= at && open?.has(entry.seq) !== true) return entry
  // A copy would read all fields of the entry, and some fields are computed when they are read. A proxy reads only
  // fields that the caller reads.
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
