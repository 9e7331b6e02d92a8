import { plural } from '../../src/kernel/plural.js'
import type { Entry } from '../../src/kernel/traffic-log.js'
import { describeEntry, type EntryWording } from '../../src/report/describe.js'
import { type Nesting, nestingOf, type Repetitions, repetitionsOf } from '../../src/report/nesting.js'
import { dateOf } from '../../src/report/shown-times.js'
import { isNews, timeline } from '../../src/report/timeline.js'
import type { RenderContext } from '../../src/report/timeline-writer.js'
import type { MatcherInput } from '../received.js'

/** Maximum number of faults that take precedence over other entries in the timeline. */
const maxFaults = 3

/** The entries that a failure is about. */
export interface Subject {
  /** The focus: `seq` of the entries that the verdict names, the most important entry first. */
  readonly focus: readonly number[]
  /** Returns whether the timeline may show an entry outside the chain. Default: always `true`. */
  readonly shown?: ((entry: Entry) => boolean) | undefined
}

/**
 * The chain of a failure: its focus, the causes of the focus, and what followed. Indexes the log to find these entries.
 */
export class Chain {
  readonly nesting: Nesting
  readonly repetitions: Repetitions
  readonly #entries: readonly Entry[]
  readonly #bySeq: ReadonlyMap<number, Entry>
  readonly #led: ReadonlySet<number>
  readonly #firstAttempts = new Map<string, Entry[]>()
  /** `seq` of each entry in the chain. */
  readonly own: ReadonlySet<number>

  constructor(
    readonly evidence: MatcherInput,
    readonly subject: Subject,
  ) {
    this.#entries = evidence.entries
    this.nesting = nestingOf(this.#entries)
    this.repetitions = repetitionsOf(this.#entries, this.nesting)
    this.#bySeq = new Map(this.#entries.map((entry) => [entry.seq, entry]))
    this.#led = this.#ledTo(subject.focus)
    for (const attempt of evidence.ofType('attempt')) {
      if (!this.#firstAttempts.has(attempt.messageId)) this.#firstAttempts.set(attempt.messageId, [attempt])
    }
    this.own = this.#followed()
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Returns whether an entry is in the focus or is a cause of the focus. */
  ledBy(entry: Entry): boolean {
    return this.#led.has(entry.seq)
  }

  /** Returns whether this URL is the destination of a message in the focus, or of a message that led to the focus. */
  isAt(url: string): boolean {
    for (const seq of this.#led) {
      const entry = this.#bySeq.get(seq)!
      if ('messageId' in entry && 'url' in entry && entry.url === url) return true
    }
    return false
  }

  /** Returns whether an entry is in the chain. Without a focus, every entry is in the chain. */
  has(entry: Entry): boolean {
    return this.subject.focus.length === 0 || this.own.has(entry.seq)
  }

  /**
   * Returns the timeline in at most `most` lines. If not all entries fit, the focus and the entries that the failure
   * names take precedence over the chain. Next come the entries nearest to the focus. Delivered callbacks outside the
   * focus are only counted.
   * @param named `seq` of the entries that the text above the timeline names, the most important one first
   * @param thrown handler errors that the failure already shows
   */
  lines(most: number, named: readonly number[], thrown: Iterable<string>): string[] {
    if (this.isEmpty) return ['(no traffic)']
    const wanted = new Set(this.#required(named).map(({ seq }) => seq))
    const news = this.#entries.filter(
      (entry, index) => wanted.has(entry.seq) || isNews(entry, this.#entries[index - 1], false),
    )
    const folded = this.#foldedCallbacks(news, wanted)
    const left = news.filter((entry) => !folded.entries.has(entry.seq))
    const { redaction } = this.evidence
    const chosen = this.#chosen(left, named, most - (folded.messages > 0 ? 2 : 1))
    const shown = left.filter((entry) => chosen.has(entry))
    const leftOut = gapsOf(left, chosen)
    const known: RenderContext = {
      nesting: this.nesting,
      repetitions: this.repetitions,
      thrown,
      name: this.#name,
      choice: {
        leftOut,
        isBrief: (entry) => chosen.get(entry) === 'brief',
      },
    }
    const lines = shown.length === 0 ? [] : timeline(shown, {}, redaction, known).split('\n')
    const marked = [...leftOut.values()].reduce((sum, count) => sum + count, 0)
    const more = left.length - shown.length - marked
    if (folded.messages > 0) lines.push(`  ${plural(folded.messages, 'callback')}, delivered`)
    if (marked + more > 0)
      lines.push(`  ${more === 0 ? 'All entries' : `… ${more} more`}: ${everything(this.evidence)}`)
    return lines
  }

  #name = (id: string): string => this.evidence.name(id)

  #ledTo(focus: readonly number[]): Set<number> {
    const led = new Set<number>()
    for (const seq of focus) {
      for (let one = this.#bySeq.get(seq); one !== undefined && !led.has(one.seq); ) {
        led.add(one.seq)
        const above = this.nesting.above(one)
        one = above === undefined ? undefined : this.#bySeq.get(above)
      }
    }
    return led
  }

  /**
   * Returns the chain: the focus and its causes, all entries about their messages, and everything that resulted from
   * these.
   */
  #followed(): Set<number> {
    const messages = new Set<string>()
    for (const seq of this.#led) {
      const entry = this.#bySeq.get(seq)!
      if ('messageId' in entry) messages.add(entry.messageId)
    }
    const own = new Set(this.#led)
    for (const entry of this.#entries) {
      if ('messageId' in entry && messages.has(entry.messageId)) own.add(entry.seq)
      const above = this.nesting.above(entry)
      if (above !== undefined && own.has(above) && this.#belongs(entry, above, messages)) own.add(entry.seq)
    }
    return own
  }

  /**
   * Returns whether the cause of an entry makes the entry a part of the chain. One request can publish many messages,
   * but messages outside the focus are not part of the chain. Commands and faults of the request always are part of the
   * chain.
   */
  #belongs(entry: Entry, above: number, messages: ReadonlySet<string>): boolean {
    if (!this.#led.has(above) || entry.type === 'fault' || entry.type === 'command') return true
    const cause = this.#bySeq.get(above)!
    return 'messageId' in cause && messages.has(cause.messageId)
  }

  /**
   * Returns entries about delivered callbacks, which the timeline only counts. Callbacks that led to the focus or to a
   * wanted entry are excluded.
   */
  #foldedCallbacks(
    news: readonly Entry[],
    wanted: ReadonlySet<number>,
  ): { readonly entries: ReadonlySet<number>; readonly messages: number } {
    const delivered = new Set<string>()
    for (const entry of this.evidence.ofType('attempt')) {
      if (entry.kind !== 'message' && entry.outcome?.state === 'DELIVERED') delivered.add(entry.messageId)
    }
    for (const seq of [...this.#led, ...this.#ledTo([...wanted])]) {
      const entry = this.#bySeq.get(seq)
      if (entry !== undefined && 'messageId' in entry) delivered.delete(entry.messageId)
    }
    const entries = new Set<number>()
    for (const entry of delivered.size === 0 ? [] : news) {
      const above = this.nesting.above(entry)
      const isOf = 'messageId' in entry && delivered.has(entry.messageId)
      if (isOf || (above !== undefined && entries.has(above))) entries.add(entry.seq)
    }
    return { entries, messages: delivered.size }
  }

  /**
   * Returns the entries that the timeline must show: the first entry of the focus, and the entries that the text above
   * the timeline names. For an entry about a retry, it must also show the first attempt.
   */
  #required(named: readonly number[]): Entry[] {
    const entries = [...this.subject.focus.slice(0, 1), ...named].flatMap((seq) => this.#bySeq.get(seq) ?? [])
    return [...new Set(entries.flatMap((entry) => [entry, ...this.#beginning(entry)]))]
  }

  /** For a retry, returns the first attempt of its message. Returns an empty list for any other entry. */
  #beginning(entry: Entry): Entry[] {
    if (entry.type !== 'attempt' || entry.retried === 0) return []
    return this.#firstAttempts.get(entry.messageId) ?? []
  }

  /**
   * Selects entries until all lines are used: required entries, then the chain, then the entries nearest to the focus.
   * At first, each required entry gets only its first line, so that long entries do not displace others.
   */
  #chosen(entries: readonly Entry[], named: readonly number[], most: number): Selection {
    const { shown = () => true, focus } = this.subject
    const visible = new Set(entries)
    const required = this.#required(named).filter((entry) => visible.has(entry))
    const center = focus[0] ?? entries.at(-1)?.seq ?? 0
    const own = entries.filter(({ seq }) => this.own.has(seq))
    const others = entries.filter((entry) => !this.own.has(entry.seq) && shown(entry))
    const first = own.filter(
      (entry) => focus.includes(entry.seq) || (entry.type === 'published' && this.#led.has(entry.seq)),
    )
    const faults = nearest(
      own.filter(({ type }) => type === 'fault'),
      center,
      most,
    ).slice(0, maxFaults)
    const room = new Room(entries, most, this.#rows())
    for (const entry of required) room.add([entry], 'brief')
    for (const entry of required) room.add([entry], 'full')
    for (const entry of required) room.add(this.#withPlace(entry), 'full')
    for (const entry of [first, faults, own, others].flatMap((some) => nearest(some, center, most))) {
      if (!room.add(this.#withPlace(entry), 'full')) break
    }
    return room.chosen
  }

  /** Returns an entry and its context: the delivery or request that caused it, and the first attempt of the message. */
  #withPlace(entry: Entry): Entry[] {
    const place = [entry]
    for (let one = entry; one.type !== 'attempt' && (one === entry || !('messageId' in one)); ) {
      const above = this.nesting.above(one)
      const next = above === undefined ? undefined : this.#bySeq.get(above)
      if (next === undefined) break
      place.push(next)
      one = next
    }
    return place.flatMap((one) => [one, ...this.#beginning(one)])
  }

  /** Returns a function that counts the lines of an entry in the timeline. */
  #rows(): (entry: Entry) => number {
    const wording: EntryWording = { bodies: 80, name: this.#name, redaction: this.evidence.redaction }
    const known = new Map<Entry, number>()
    return (entry) => {
      let rows = known.get(entry)
      if (rows === undefined) {
        rows = 1 + describeEntry(entry, wording).details.length + (this.repetitions.has(entry.seq) ? 1 : 0)
        known.set(entry, rows)
      }
      return rows
    }
  }
}

/** The entries that the timeline shows. `brief` entries are shown by their first line only. */
type Selection = ReadonlyMap<Entry, 'full' | 'brief'>

/** Selects entries for a timeline with a maximum number of lines. */
class Room {
  chosen: Selection = new Map()
  readonly #places: ReadonlyMap<Entry, number>

  constructor(
    entries: readonly Entry[],
    readonly most: number,
    readonly rowsOf: (entry: Entry) => number,
  ) {
    this.#places = new Map(entries.map((entry, index) => [entry, index]))
  }

  /** Adds all of the entries, or none of them if they do not fit. @returns whether they fit */
  add(entries: readonly Entry[], how: 'full' | 'brief'): boolean {
    const more = entries.filter((entry) => this.#places.has(entry) && this.#isMore(entry, how))
    if (more.length === 0) return true
    const next = new Map([...this.chosen, ...more.map((entry) => [entry, how] as const)])
    if (this.#rows(next) > this.most) return false
    this.chosen = next
    return true
  }

  #isMore(entry: Entry, how: 'full' | 'brief'): boolean {
    const now = this.chosen.get(entry)
    return now === undefined || (now === 'brief' && how === 'full')
  }

  /**
   * Counts the lines that a selection needs. Lines with a date and lines such as `… 3 entries left out` are included.
   */
  #rows(selection: Selection): number {
    let rows = 0
    let after = -1
    let date = ''
    const inOrder = [...selection].sort(([one], [other]) => one.seq - other.seq)
    for (const [entry, how] of inOrder) {
      const place = this.#places.get(entry)!
      rows += how === 'full' ? this.rowsOf(entry) : 1
      if (place > after + 1) rows++
      if (dateOf(entry.at) !== date) rows++
      date = dateOf(entry.at)
      after = place
    }
    return rows
  }
}

/** Returns the number of omitted entries before each shown entry. The keys are the `seq` of the shown entries. */
function gapsOf(entries: readonly Entry[], selection: Selection): ReadonlyMap<number, number> {
  const gaps = new Map<number, number>()
  let leftOut = 0
  for (const entry of entries) {
    if (!selection.has(entry)) leftOut++
    else {
      if (leftOut > 0) gaps.set(entry.seq, leftOut)
      leftOut = 0
    }
  }
  return gaps
}

function everything({ role }: MatcherInput): string {
  return role === 'traffic' ? 'traffic.timeline()' : 'sandbox.traffic.timeline()'
}

/**
 * Returns the entries sorted by their distance to a `seq`, nearest first. If two entries have the same distance, the
 * earlier entry is first.
 */
function nearest(entries: readonly Entry[], center: number, most: number): Entry[] {
  let at = entries.findIndex(({ seq }) => seq >= center)
  if (at === -1) at = entries.length
  const from = Math.max(0, at - most)
  return entries
    .slice(from, at + most)
    .sort((one, other) => Math.abs(one.seq - center) - Math.abs(other.seq - center) || one.seq - other.seq)
}
