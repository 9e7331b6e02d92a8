import type { TraceEntry } from '../../../../src/report/trace.js'

/** Numbers of related entries. */
export interface Relations {
  readonly cause?: number
  readonly effects: readonly number[]
  /** Number of effects beyond those listed. */
  readonly more: number
  /** The previous and the next entry about the same message or run. */
  readonly before?: number
  readonly behind?: number
}

const maxEffects = 30

/** Returns the related entries. It scans all entries once, which is fast enough for one selected entry. */
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
