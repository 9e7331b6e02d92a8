import type { Entry, EntryOf } from '../kernel/traffic-log.js'

/** The parent of each entry. The timeline shows an entry below its parent. */
export interface Nesting {
  /** Returns the `seq` of the parent. Returns `undefined` if there is none or it is unknown. */
  above(entry: Entry): number | undefined
  /**
   * Returns whether the parent is unknown because several deliveries were in flight. Each of them may have led to the
   * entry.
   */
  isUnclear(entry: Entry): boolean
}

/**
 * Types of entries that can come from a handler. Outbound requests are not listed, because their entries always contain
 * their cause.
 */
const work: ReadonlySet<string> = new Set(['request', 'command', 'published', 'notify'])

/**
 * Returns whether an entry of this type can come from a handler. The timeline shows such an entry below the delivery
 * during which it was logged.
 */
export function isWork(type: string): boolean {
  return work.has(type)
}

/**
 * Finds the parents of entries. The parent of an entry is its cause. An entry that can come from a handler may have no
 * known cause. Its parent is then the delivery in flight, if there was exactly one.
 */
export function nestingOf(entries: readonly Entry[]): Nesting {
  const during = new Map<number, number | undefined>()
  const open = new Set<number>()
  // Attempts are sorted by their ends. So each attempt is examined only once, even if many are in flight.
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

/** For each repeated request, the request that it repeats. The keys are the `seq` of the repeated requests. */
export type Repetitions = ReadonlyMap<number, EntryOf<'request' | 'outbound'>>

/**
 * Finds requests that the app sent again, because it got no response or a response that asks for a retry. Both requests
 * belong to the same delivery, or to no delivery. So the queue did not cause the repetition.
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

/** Returns a text about a repeated request, such as `the same request as #5, which got status 503`. */
export function repetitionText({ seq, response: answer }: EntryOf<'request' | 'outbound'>): string {
  return `the same request as #${seq}, which ${answer?.status === 0 ? 'got no response' : `got status ${answer?.status}`}`
}
