import type { TraceEntry } from '../../../../src/report/trace.js'

/** What an entry has to do with others, by their numbers. */
export interface Relations {
  readonly cause?: number
  readonly effects: readonly number[]
  /** Effects beyond those named. */
  readonly more: number
  /** The entry before and behind it that is about the same message or run. */
  readonly before?: number
  readonly behind?: number
}

const maxEffects = 30

/** Goes through all entries once: for the one that is selected that is soon done. */
export function relationsOf(entries: readonly TraceEntry[], entry: TraceEntry): Relations {
  const { messageId, runId } = entry as Record<string, unknown>
  const effects: number[] = []
  let more = 0
  let before: number | undefined
  let behind: number | undefined
  for (const other of entries) {
    if (other.seq === entry.seq) continue
    if (other.cause === entry.seq) {
      if (effects.length < maxEffects) effects.push(other.seq)
      else more++
    }
    const isSame =
      (messageId !== undefined && other.messageId === messageId) || (runId !== undefined && other.runId === runId)
    if (!isSame) continue
    if (other.seq < entry.seq) before = other.seq
    else behind ??= other.seq
  }
  return {
    ...(entry.cause !== undefined && { cause: entry.cause }),
    effects,
    more,
    ...(before !== undefined && { before }),
    ...(behind !== undefined && { behind }),
  }
}
