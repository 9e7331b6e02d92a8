import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import type { Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { JournalCut } from './past.js'

/** A position in the journal, with the data that shows log entries as they were at that position. */
export interface PastView {
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  /** `seq` of the latest entry at that position. */
  readonly seq: number
  /** The latest clock move before that position, if its entry may have changed since. */
  readonly move: Move | undefined
  /** `seq` of the entries that were open at that position. Set only if that position is the end of the journal. */
  readonly open: ReadonlySet<number> | undefined
}

/** A clock move's entry, with the fields that were different at the past position. */
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
 * Returns the latest clock move, if its entry may have changed after the position. Consecutive moves without other
 * inputs share one entry, and a running move changes its entry when it ends.
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
  // The move has ended and a later entry follows, so no later move can change this entry.
  if (ended !== undefined && seq !== latest) return undefined
  let moves = 1
  for (; input !== undefined && input.log >= seq; input = inputs.get(--index)) {
    if (input.kind === 'moving') moves++
    else if (input.kind === 'moved') ended ??= { to: input.at, endedAfterSeq: input.log }
  }
  return { seq, was: { count: moves, ...ended } }
}

/** Returns an entry as it was at a position: without an end that was recorded later. */
export function entryAsOf(entry: Entry, { at, seq, move, open }: PastView): Entry {
  if (entry.seq === move?.seq && entry.type === 'clock') {
    const { to: _, endedAfterSeq: __, ...rest } = entry
    return { ...rest, ...move.was }
  }
  const { endedAfterSeq = 0, to = endOf(entry) ?? at } = entry as Ended
  if (endedAfterSeq <= seq && to <= at && open?.has(entry.seq) !== true) return entry
  // A proxy, unlike a copy, does not read the fields of entries that the caller ignores.
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
