import type { Entry } from '../../kernel/traffic.js'
import { describeEntry } from '../../report/describe.js'
import { plainText } from '../../report/safe-text.js'
import { dateOf, since, timeOf } from '../../report/shown-times.js'
import { isNews } from '../../report/timeline.js'

/** How a part of a line looks on a terminal; the text itself elsewhere. */
export type Paint = (style: 'quiet' | 'bad' | 'odd', text: string) => string

const deepest = 8
/** Entries whose place in the story is remembered; what they led to later stands at the margin. */
const mostRemembered = 20_000
const shortestName = 7

interface Told {
  readonly depth: number
  /** Of attempts and turns of a message: those of the same message stand below each other. */
  readonly turnOf: string | undefined
  readonly text: string
}

/** The timeline of a world that goes on: as `timeline()`, but what was written stays written. */
export class LiveTimeline {
  readonly #paint: Paint
  readonly #told = new Map<number, Told>()
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()
  #last: Entry | undefined
  #date = ''

  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** The world was made anew: entries count from 1 on. */
  renew(by: 'reset' | 'load'): string {
    this.#told.clear()
    this.#last = undefined
    this.#date = ''
    return this.#paint('odd', `— the world was ${by === 'reset' ? 'reset' : 'loaded'} —`)
  }

  /** Lines for entries that came together, in their order; one that was told and is as it was has none. */
  lines(entries: Iterable<Entry>): string[] {
    const lines: string[] = []
    for (const entry of [...entries].sort((one, other) => one.seq - other.seq)) {
      if (isNews(entry, this.#last, false)) lines.push(...this.#linesOf(entry))
      if (entry.seq > (this.#last?.seq ?? 0)) this.#last = entry
    }
    return lines
  }

  #linesOf(entry: Entry): string[] {
    // A server may send what no sandbox writes: numbers that are texts, for one.
    const described = describeEntry(entry, { bodies: 80, name: (id) => this.#name(id) })
    const head = plainText(described.head)
    const details = described.details.map(plainText)
    const text = [head, ...details].join('\n')
    const known = this.#told.get(entry.seq)
    if (known?.text === text) return []
    const { depth, turnOf } = known ?? this.#placeOf(entry)
    this.#remember(entry.seq, { depth, turnOf, text })
    const indent = '  '.repeat(Math.min(depth, deepest))
    const gap = this.#last !== undefined && entry.at > this.#last.at ? since(this.#last.at, entry.at) : ''
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

  #placeOf(entry: Entry): Pick<Told, 'depth' | 'turnOf'> {
    const turnOf = entry.type === 'attempt' || entry.type === 'message' ? entry.messageId : undefined
    const above = entry.cause === undefined ? undefined : this.#told.get(entry.cause)
    if (above === undefined) return { depth: 0, turnOf }
    const follows = turnOf !== undefined && above.turnOf === turnOf
    return { depth: above.depth + (follows ? 0 : 1), turnOf }
  }

  #remember(seq: number, told: Told): void {
    this.#told.set(seq, told)
    if (this.#told.size <= mostRemembered) return
    const [oldest] = this.#told.keys()
    this.#told.delete(oldest!)
  }

  /** As many chars as it takes to tell a message apart from those before it. */
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
      return entry.answer !== undefined && isBad(entry.answer.status) ? 'bad' : undefined
    case 'attempt':
      return entry.outcome !== undefined && isBad(entry.outcome.status) ? 'bad' : undefined
    default:
      return undefined
  }
}

function isBad(status: number): boolean {
  return status === 0 || status >= 400
}
