import { bytesOf, type PortableString } from '../../kernel/portable.js'
import type { Entry, EntryType } from '../../kernel/traffic.js'
import { type RunStory, runsOf } from '../../report/runs.js'
import type { TraceEntry } from '../../report/trace.js'
import type { Point } from './store.js'

const ofRuns: ReadonlySet<string> = new Set<EntryType>([
  'workflow',
  'step',
  'wait',
  'notify',
  'invoke',
  'published',
  'attempt',
])

/** The runs of workflows as they stood at a point, oldest first. */
export function runsAt(entries: readonly TraceEntry[], point: Point): readonly RunStory[] {
  if (!entries.some(({ type }) => type === 'workflow')) return []
  const known = entries.filter(({ type, seq, at }) => ofRuns.has(type) && seq <= point.seq && at <= point.at)
  return runsOf(known.map((entry) => entryAt(entry, point)))
}

/** An entry as far as it had come. Bodies are read when somebody asks for them. */
function entryAt(entry: TraceEntry, point: Point): Entry {
  if (entry.type === 'attempt') {
    const { outcome, endedAfter } = entry as { outcome?: { at: number }; endedAfter?: number }
    const isOver = outcome !== undefined && outcome.at <= point.at && (endedAfter ?? 0) <= point.seq
    return (isOver ? entry : { ...entry, outcome: undefined }) as unknown as Entry
  }
  if (entry.type !== 'published') return entry as unknown as Entry
  return Object.defineProperty({ ...entry }, 'body', { get: () => bytesOf(textOf(entry.body)) }) as unknown as Entry
}

function textOf(body: unknown): PortableString {
  const { cut } = (body ?? {}) as { cut?: PortableString }
  return cut ?? (body as PortableString)
}
