import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { describeEntry } from '../../../../src/report/describe.js'
import { isWork } from '../../../../src/report/nesting.js'
import { plainText } from '../../../../src/report/safe-text.js'
import { dateOf, since, timeOf } from '../../../../src/report/shown-times.js'
import { isNews } from '../../../../src/report/timeline.js'

/**
 * Function that styles a part of a line for a terminal. Without a terminal, the function returns the text unchanged.
 */
export type Paint = (style: 'quiet' | 'bad' | 'odd', text: string) => string

const deepest = 8
/**
 * Maximum number of printed entries that are kept. If the cause of an entry is no longer kept, the entry is not
 * indented.
 */
const maxRemembered = 20_000
const shortestName = 7
/** Types whose entries are sent again when they end. Entries of other types never change. */
const endsLater: ReadonlySet<string> = new Set(['request', 'outbound', 'attempt', 'clock'])

interface TreePosition {
  readonly depth: number
  /**
   * For an attempt or a state change: ID of the message. Consecutive entries of one message have the same indentation.
   */
  readonly turnOf: string | undefined
  /** Reason why the entry's message waited before this entry. */
  readonly waited: string | undefined
}

interface PrintedLine extends TreePosition {
  readonly text: string
}

/** Prints the timeline of a running sandbox. Unlike `timeline()`, it cannot change lines that are already printed. */
export class LiveTimeline {
  readonly #paint: Paint
  readonly #told = new Map<number, PrintedLine>()
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #waits = new Map<string, string>()
  /**
   * Deliveries in flight. The key is the `seq` of the delivery. The value is the `seq` of the last entry before the
   * delivery ends.
   */
  readonly #open = new Map<number, number>()
  #last: Entry | undefined
  /** Instant of the latest printed entry. */
  #shownAt: number | undefined
  #date = ''

  constructor(paint: Paint) {
    this.#paint = paint
  }

  /**
   * Starts a new timeline after a reset or load, because entries count from 1 again. Returns the line that reports the
   * reset or load.
   */
  renew(by: 'reset' | 'load'): string {
    this.#told.clear()
    this.#waits.clear()
    this.#open.clear()
    this.#last = undefined
    this.#shownAt = undefined
    this.#date = ''
    return this.#paint('odd', `— the sandbox was ${by === 'reset' ? 'reset' : 'loaded'} —`)
  }

  /**
   * Returns the lines for entries that arrived together, in the order of the entries. An entry that was already printed
   * has no line unless it has changed.
   */
  lines(entries: Iterable<Entry>): string[] {
    const lines: string[] = []
    for (const entry of [...entries].sort((one, other) => one.seq - other.seq)) {
      const isFirst = entry.seq > (this.#last?.seq ?? 0)
      if (isFirst ? isNews(entry, this.#last, false) : endsLater.has(entry.type)) lines.push(...this.#linesOf(entry))
      if (isFirst) this.#last = entry
    }
    return lines
  }

  #linesOf(entry: Entry): string[] {
    const known = this.#told.get(entry.seq)
    const place = known ?? this.#placeOf(entry)
    this.#follow(entry)
    // A hostile server may send entries that no sandbox writes, such as strings instead of numbers.
    const described = describeEntry(entry, { bodies: 80, name: (id) => this.#name(id) }, place.waited)
    const head = plainText(
      `${described.head}${entry.region === undefined ? '' : ` (${entry.region})`}${entry.database === undefined ? '' : ` (${entry.database})`}`,
    )
    const details = described.details.map(plainText)
    const text = [head, ...details].join('\n')
    if (known?.text === text) return []
    this.#remember(entry.seq, { ...place, text })
    const indent = '  '.repeat(Math.min(place.depth, deepest))
    const gap = this.#shownAt !== undefined && entry.at > this.#shownAt ? since(this.#shownAt, entry.at) : ''
    this.#shownAt = Math.max(this.#shownAt ?? entry.at, entry.at)
    const number = plainText(`#${entry.seq}`).padStart(6)
    const margin = `${number}  ${timeOf(entry.at)}  ${gap.padEnd(8)}  `
    const style = styleOf(entry)
    const shown = (line: string): string => (style === undefined ? line : this.#paint(style, line))
    const lines = [`${this.#paint('quiet', margin)}${indent}${shown(head)}`]
    for (const detail of details) lines.push(`${' '.repeat(margin.length)}${indent}  ${this.#paint('quiet', detail)}`)
    if (dateOf(entry.at) === this.#date) return lines
    this.#date = dateOf(entry.at)
    return [this.#paint('quiet', this.#date), ...lines]
  }

  #placeOf(entry: Entry): TreePosition {
    const turnOf = entry.type === 'attempt' || entry.type === 'message' ? entry.messageId : undefined
    const waited = 'messageId' in entry ? this.#waits.get(entry.messageId) : undefined
    const cause = entry.cause ?? this.#deliveryAround(entry)
    const above = cause === undefined ? undefined : this.#told.get(cause)
    if (above === undefined) return { depth: 0, turnOf, waited }
    const follows = turnOf !== undefined && above.turnOf === turnOf
    return { depth: above.depth + (follows ? 0 : 1), turnOf, waited }
  }

  /**
   * If only one delivery is in flight, returns its `seq`, because its handler has probably caused the entry. Otherwise
   * returns `undefined`.
   */
  #deliveryAround({ type, seq }: Entry): number | undefined {
    for (const [attempt, end] of this.#open) if (end < seq) this.#open.delete(attempt)
    if (!isWork(type) || this.#open.size !== 1) return undefined
    const [[attempt] = []] = this.#open
    return attempt
  }

  #follow(entry: Entry): void {
    if (entry.type !== 'attempt') return
    this.#open.set(entry.seq, entry.endedAfterSeq ?? Number.POSITIVE_INFINITY)
    if (entry.outcome?.next) this.#waits.set(entry.messageId, entry.outcome.next.reason)
  }

  #remember(seq: number, told: PrintedLine): void {
    this.#told.set(seq, told)
    if (this.#told.size <= maxRemembered) return
    const [oldest] = this.#told.keys()
    this.#told.delete(oldest!)
  }

  /** Returns the shortest prefix of a message ID that differs from the prefixes of earlier messages. */
  #name(id: string): string {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    let length = shortestName
    while (length < id.length && this.#taken.has(id.slice(0, length))) length++
    const name = id.length <= length + 1 ? plainText(id) : `${plainText(id.slice(0, length))}…`
    this.#taken.add(id.slice(0, length))
    this.#names.set(id, name)
    return name
  }
}

function styleOf(entry: Entry): 'bad' | 'odd' | undefined {
  switch (entry.type) {
    case 'fault':
      return 'odd'
    case 'dead-letter':
      return 'bad'
    case 'command':
      return entry.error === undefined ? undefined : 'bad'
    case 'request':
      return entry.response !== undefined && isBad(entry.response.status) ? 'bad' : undefined
    case 'attempt':
      return entry.outcome !== undefined && isBad(entry.outcome.status) ? 'bad' : undefined
    default:
      return undefined
  }
}

function isBad(status: number): boolean {
  return status === 0 || status >= 400
}
