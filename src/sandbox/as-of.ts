import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import type { Entry, TrafficLog } from '../kernel/traffic-log.js'
import type { JournalCut } from './past.js'

/** What goes on after an instant, and how it was then. */
export interface PastView {
  /** Virtual time. */
  readonly at: number
  /** The latest entry then. */
  readonly seq: number
  /** The latest move, if it may have gone on. */
  readonly move: Move | undefined
  /** What had not ended, where that cannot be told by when it ends. */
  readonly open: ReadonlySet<number> | undefined
}

/** What is different in the entry of a move from what it became. */
interface Move {
  readonly seq: number
  readonly was: { readonly count: number; readonly to?: number; readonly endedAfterSeq?: number }
}

/** How entries were at a place in a journal, which may be where it ends now. */
export function asOf(
  { end, at }: JournalCut,
  { inputs, attach: stand }: InputJournal,
  traffic: Pick<TrafficLog, 'entries' | 'get'>,
): PastView {
  const seq = inputs.get(end)?.log ?? stand.log
  const open = end < inputs.length ? undefined : new Set(traffic.entries.filter(isOpen).map((entry) => entry.seq))
  return { at, seq, move: moveBefore(end, seq, inputs, traffic), open }
}

/** Moves with nothing between them are one entry, which goes on; so does that of a move that is under way. */
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
  // It is over, and another entry came.
  if (ended !== undefined && seq !== latest) return undefined
  let moves = 1
  for (; input !== undefined && input.log >= seq; input = inputs.get(--index)) {
    if (input.kind === 'moving') moves++
    else if (input.kind === 'moved') ended ??= { to: input.at, endedAfterSeq: input.log }
  }
  return { seq, was: { count: moves, ...ended } }
}

/** An entry as it was: the end may be later, and no entry in between. */
export function entryAsOf(entry: Entry, { at, seq, move, open }: PastView): Entry {
  if (entry.seq === move?.seq && entry.type === 'clock') {
    const { to: _, endedAfterSeq: __, ...rest } = entry
    return { ...rest, ...move.was }
  }
  const { endedAfterSeq = 0, to = endOf(entry) ?? at } = entry as Ended
  if (endedAfterSeq <= seq && to <= at && open?.has(entry.seq) !== true) return entry
  // Not a copy: what it costs to tell an entry is spent on those that are read.
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
