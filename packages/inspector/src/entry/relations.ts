import type { TraceEntry } from '../../../../src/report/trace.js'

/** `seq` of each entry that is related to the selected one. */
export interface Relations {
  readonly cause?: number
  readonly effects: readonly number[]
  /** Number of effects that `effects` does not contain. */
  readonly more: number
  /** `seq` of the previous and of the next entry about the same message or workflow run. */
  readonly before?: number
  readonly behind?: number
}

const maxEffects = 30

/** Returns the related entries. It reads all entries once. For a single selected entry, this is fast enough. */
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
