import { entryWith, placeAfter } from '../../src/kernel/entry-places.js'
import { plural } from '../../src/kernel/plural.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
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
 * The chain of a failure: its focus, the causes of the focus, and what followed. A log can have 100,000 entries, so the
 * chain reads all of them only a few times, and indexes none.
 */
export class Chain {
  readonly nesting: Nesting
  readonly repetitions: Repetitions
  readonly #entries: readonly Entry[]
  readonly #led: ReadonlySet<number>
  #firstAttempts: ReadonlyMap<string, Entry> | undefined
  /** `seq` of each entry in the chain. */
  readonly own: ReadonlySet<number>

  constructor(
    readonly evidence: MatcherInput,
    readonly subject: Subject,
  ) {
    this.#entries = evidence.entries
    this.nesting = nestingOf(this.#entries)
    this.repetitions = repetitionsOf(this.#entries, this.nesting)
    this.#led = this.#ledTo(subject.focus)
    this.own = this.#followed()
  }

  /** Returns the entry with this `seq`. */
  entry(seq: number | undefined): Entry | undefined {
    return seq === undefined ? undefined : entryWith(this.#entries, seq)
  }

  /** Returns the delivery during which an entry was recorded. */
  attemptOf(entry: Entry): EntryOf<'attempt'> | undefined {
    for (let at: Entry | undefined = entry; at !== undefined; at = this.entry(this.nesting.above(at))) {
      if (at.type === 'attempt') return at
    }
    return undefined
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
      const entry = this.entry(seq)!
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
      (entry, index) => isNews(entry, this.#entries[index - 1], false) || wanted.has(entry.seq),
    )
    const folded = this.#foldedCallbacks(news, wanted)
    const left = folded.entries.size === 0 ? news : news.filter((entry) => !folded.entries.has(entry.seq))
    const { redaction } = this.evidence
    const chosen = this.#chosen(left, named, most - (folded.messages > 0 ? 2 : 1))
    const shown = [...chosen.keys()].sort((one, other) => one.seq - other.seq)
    const leftOut = gapsOf(left, shown)
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
      for (let one = this.entry(seq); one !== undefined && !led.has(one.seq); ) {
        led.add(one.seq)
        one = this.entry(this.nesting.above(one))
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
      const entry = this.entry(seq)!
      if ('messageId' in entry) messages.add(entry.messageId)
    }
    const own = new Set(this.#led)
    if (own.size === 0) return own
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
    const cause = this.entry(above)!
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
      const entry = this.entry(seq)
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
    const entries = [...this.subject.focus.slice(0, 1), ...named].flatMap((seq) => this.entry(seq) ?? [])
    return [...new Set(entries.flatMap((entry) => [entry, ...this.#beginning(entry)]))]
  }

  /** For a retry, returns the first attempt of its message. Returns an empty list for any other entry. */
  #beginning(entry: Entry): Entry[] {
    if (entry.type !== 'attempt' || entry.retried === 0) return []
    if (this.#firstAttempts === undefined) {
      // A Map keeps the last of several values for a key, so the first attempts come last.
      const reversed = this.evidence.ofType('attempt').toReversed()
      this.#firstAttempts = new Map(reversed.map((attempt) => [attempt.messageId, attempt]))
    }
    const first = this.#firstAttempts.get(entry.messageId)
    return first === undefined ? [] : [first]
  }

  /**
   * Selects entries until all lines are used: required entries, then the chain, then the entries nearest to the focus.
   * At first, each required entry gets only its first line, so that long entries do not displace others.
   */
  #chosen(entries: readonly Entry[], named: readonly number[], most: number): Selection {
    const { shown = () => true, focus } = this.subject
    const room = new Room(entries, most, this.#rows())
    const required = this.#required(named).filter((entry) => room.has(entry))
    const center = focus[0] ?? entries.at(-1)?.seq ?? 0
    const isOwn = ({ seq }: Entry): boolean => this.own.has(seq)
    const isFirst = (entry: Entry): boolean =>
      focus.includes(entry.seq) || (entry.type === 'published' && this.#led.has(entry.seq))
    const own = this.own.size === 0 ? [] : entries.filter(isOwn)
    for (const entry of required) room.add([entry], 'brief')
    for (const entry of required) room.add([entry], 'full')
    for (const entry of required) room.add(this.#withPlace(entry), 'full')
    const inOrder = [
      ...nearest(own, center, most, isFirst),
      ...nearest(own, center, most, ({ type }) => type === 'fault').slice(0, maxFaults),
      ...nearest(own, center, most),
      ...nearest(entries, center, most, (entry) => !isOwn(entry) && shown(entry)),
    ]
    for (const entry of inOrder) {
      if (!room.add(this.#withPlace(entry), 'full')) break
    }
    return room.chosen
  }

  /** Returns an entry and its context: the delivery or request that caused it, and the first attempt of the message. */
  #withPlace(entry: Entry): Entry[] {
    const place = [entry]
    for (let one = entry; one.type !== 'attempt' && (one === entry || !('messageId' in one)); ) {
      const next = this.entry(this.nesting.above(one))
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

  constructor(
    readonly entries: readonly Entry[],
    readonly most: number,
    readonly rowsOf: (entry: Entry) => number,
  ) {}

  has(entry: Entry): boolean {
    return entryWith(this.entries, entry.seq) === entry
  }

  /** Adds all of the entries, or none of them if they do not fit. @returns whether they fit */
  add(entries: readonly Entry[], how: 'full' | 'brief'): boolean {
    const more = entries.filter((entry) => this.has(entry) && this.#isMore(entry, how))
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
    let after = 0
    let date = ''
    const inOrder = [...selection].sort(([one], [other]) => one.seq - other.seq)
    for (const [entry, how] of inOrder) {
      const place = placeAfter(this.entries, entry.seq)
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
function gapsOf(entries: readonly Entry[], shown: readonly Entry[]): ReadonlyMap<number, number> {
  const gaps = new Map<number, number>()
  let after = 0
  for (const { seq } of shown) {
    const place = placeAfter(entries, seq)
    if (place > after + 1) gaps.set(seq, place - after - 1)
    after = place
  }
  return gaps
}

function everything({ role }: MatcherInput): string {
  return role === 'traffic' ? 'traffic.timeline()' : 'sandbox.traffic.timeline()'
}

/**
 * Returns the wanted entries next to a `seq`, at most `most` before it and `most` after it. They are sorted by their
 * distance, nearest first. If two entries have the same distance, the earlier entry is first.
 */
function nearest(
  entries: readonly Entry[],
  center: number,
  most: number,
  isWanted: (entry: Entry) => boolean = () => true,
): Entry[] {
  const at = placeAfter(entries, center - 1)
  const before: Entry[] = []
  for (let index = at - 1; index >= 0 && before.length < most; index--) {
    if (isWanted(entries[index]!)) before.push(entries[index]!)
  }
  const after: Entry[] = []
  for (let index = at; index < entries.length && after.length < most; index++) {
    if (isWanted(entries[index]!)) after.push(entries[index]!)
  }
  return [...before, ...after].sort(
    (one, other) => Math.abs(one.seq - center) - Math.abs(other.seq - center) || one.seq - other.seq,
  )
}
