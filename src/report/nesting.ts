import type { Entry, EntryOf } from '../kernel/traffic-log.js'

/** Which entry is the parent of another one. */
export interface Nesting {
  /** Returns the `seq` of the parent; `undefined` at the top, and if it is unknown. */
  above(entry: Entry): number | undefined
  /** Returns whether several deliveries were in flight, so that each of them may have led to the entry. */
  isUnclear(entry: Entry): boolean
}

/**
 * Types of entries that a handler can create while it runs. An outbound request is excluded, because its entry names
 * its cause.
 */
const work: ReadonlySet<string> = new Set(['request', 'command', 'published', 'notify'])

/**
 * Returns whether an entry of this type may be created by a handler. It is then a child of the delivery during which
 * it appeared.
 */
export function isWork(type: string): boolean {
  return work.has(type)
}

/**
 * Returns the parents of entries: their causes.
 * An entry of a handler without a known cause belongs to the delivery during which it appeared, if only that one was
 * in flight.
 */
export function nestingOf(entries: readonly Entry[]): Nesting {
  const during = new Map<number, number | undefined>()
  const open = new Set<number>()
  // Sorted by their ends, so that each attempt is examined once, however many are in flight.
  const ending = entries
    .filter((entry) => entry.type === 'attempt')
    .filter(({ seq, endedAfterSeq = 0 }) => endedAfterSeq > seq)
  ending.sort((one, other) => one.endedAfterSeq! - other.endedAfterSeq!)
  let ended = 0
  for (const entry of entries) {
    while (ended < ending.length && ending[ended]!.endedAfterSeq! < entry.seq) open.delete(ending[ended++]!.seq)
    if (entry.cause === undefined && open.size > 0 && isWork(entry.type)) {
      during.set(entry.seq, open.size === 1 ? open.values().next().value : undefined)
    }
    if (entry.type === 'attempt' && (entry.endedAfterSeq ?? Number.POSITIVE_INFINITY) > entry.seq) open.add(entry.seq)
  }
  return {
    above: (entry) => entry.cause ?? during.get(entry.seq),
    isUnclear: (entry) => during.has(entry.seq) && during.get(entry.seq) === undefined,
  }
}

/** Entries of first requests by the `seq` of their repetitions. */
export type Repetitions = ReadonlyMap<number, EntryOf<'request' | 'outbound'>>

/**
 * Finds requests that were sent again after no response or one that asks for a retry.
 * Both belong to the same delivery or to none: the queue did not cause the repetition. The client may have repeated
 * the request, or the code that uses it.
 */
export function repetitionsOf(entries: readonly Entry[], nesting: Nesting): Repetitions {
  const failed = new Map<string, EntryOf<'request' | 'outbound'>>()
  const repeated = new Map<number, EntryOf<'request' | 'outbound'>>()
  for (const entry of entries) {
    if (entry.type !== 'request' && entry.type !== 'outbound') continue
    const request = entry
    if (nesting.isUnclear(request)) continue
    const { seq, method, url, body, response: answer } = request
    const hasFailed = answer !== undefined && (answer.status === 0 || answer.status === 429 || answer.status >= 500)
    if (!hasFailed && failed.size === 0) continue
    const name = `${nesting.above(request) ?? 0} ${method} ${url}\n${body}`
    const before = failed.get(name)
    if (before !== undefined && (before.endedAfterSeq ?? before.seq) < seq) repeated.set(seq, before)
    if (hasFailed) failed.set(name, request)
    else failed.delete(name)
  }
  return repeated
}

/** Returns, for example, `the same request as #5, which got status 503`. */
export function repetitionText({ seq, response: answer }: EntryOf<'request' | 'outbound'>): string {
  return `the same request as #${seq}, which ${answer?.status === 0 ? 'got no response' : `got status ${answer?.status}`}`
}
