import type { Entry, EntryOf } from '../kernel/traffic-log.js'

/** Under which entry another one stands, by their numbers. */
export interface Nesting {
  /** `seq` of the entry above; `undefined` at the top, also when it cannot be told. */
  above(entry: Entry): number | undefined
  /** Whether several deliveries were under way, so that each of them may have led to the entry. */
  isUnclear(entry: Entry): boolean
}

/** Kinds of entries that a handler makes while it runs. A call tells by itself who made it, or that it cannot be told. */
const work: ReadonlySet<string> = new Set(['request', 'command', 'published', 'notify'])

/** Whether an entry of this type may be the work of a handler: it stands below the delivery during which it came. */
export function isWork(type: string): boolean {
  return work.has(type)
}

/**
 * What stands below what: an entry below its cause. Work without a known cause stands below the delivery during which it
 * came, if that was the only one under way.
 */
export function nestingOf(entries: readonly Entry[]): Nesting {
  const during = new Map<number, number | undefined>()
  const open = new Set<number>()
  // By their ends: however many are under way, each is looked at once.
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

/** The first of the repeated request, by the number of the repetition. */
export type Repetitions = ReadonlyMap<number, EntryOf<'request' | 'outbound'>>

/**
 * Requests that were sent again after an answer that asks for it or none at all, within the same delivery or outside of
 * any: the queue has no part in it. Whether a client did so or the code that uses it is not known.
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

/** `the same request as #5, which was answered 503`. */
export function repetitionText({ seq, response: answer }: EntryOf<'request' | 'outbound'>): string {
  return `the same request as #${seq}, which ${answer?.status === 0 ? 'got no answer' : `was answered ${answer?.status}`}`
}
