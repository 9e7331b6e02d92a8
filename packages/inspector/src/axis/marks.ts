import type { TraceEntry } from '../../../../src/report/trace.js'
import {
  axisRows,
  faultRow,
  isEcho,
  isInjectedByScript,
  kindOf,
  type Span,
  spanOf,
  toneOf,
  tones,
} from '../entry-kinds.js'
import { distinct, type Scale } from './scale.js'

/** Number of lines in all lanes together. */
export const lines: number = axisRows.reduce((sum, { rows }) => sum + rows, 0)

/** Index of the first line of each lane. */
export const firstLines: readonly number[] = axisRows.map((_, lane) =>
  axisRows.slice(0, lane).reduce((sum, { rows }) => sum + rows, 0),
)

/**
 * The marks of the axis, stored as columns of numbers. Painting processes up to 100,000 marks, for which objects would
 * be too slow.
 */
export interface Marks {
  readonly size: number
  /** Index of the mark's entry. */
  readonly entry: Int32Array
  readonly line: Uint8Array
  readonly tone: Uint8Array
  readonly from: Float64Array
  readonly to: Float64Array
  /** End of the wait after the mark. Equal to `to` if there is no wait. */
  readonly until: Float64Array
  /** Instants at which an entry or a wait begins or ends, ascending, without duplicates. */
  readonly instants: Float64Array
}

const wait = tones.indexOf('wait')
const soft = tones.indexOf('soft')
const fault = tones.indexOf('fault')

/**
 * Returns the marks of the entries.
 * @param changed `seq` of each entry that changed the store. If it is empty, each command counts as a change.
 */
export function marksOf(entries: readonly TraceEntry[], changed: ReadonlySet<number>): Marks {
  const most = entries.length + entries.filter(isInjectedByScript).length
  const marks = {
    entry: new Int32Array(most),
    line: new Uint8Array(most),
    tone: new Uint8Array(most),
    from: new Float64Array(most),
    to: new Float64Array(most),
    until: new Float64Array(most),
  }
  const instants = new Float64Array(entries.length * 3)
  const held = new Map<unknown, number>()
  let size = 0
  let known = 0
  entries.forEach((entry, place) => {
    const { lane } = kindOf(entry)
    const span = spanOf(entry)
    instants[known++] = span.from
    instants[known++] = span.to
    if (span.until !== undefined) instants[known++] = span.until
    if (lane === undefined || isEcho(entry)) return
    const line = firstLines[lane]! + lineIn(entry, lane, place)
    set(marks, size, place, line, toneIn(entry, changed), span)
    if (entry.type === 'flow-control') {
      const { decision, messageId } = entry as { decision?: unknown; messageId?: unknown }
      if (decision === 'held') held.set(messageId, size)
      else if (held.has(messageId)) {
        marks.until[held.get(messageId)!] = entry.at
        held.delete(messageId)
      }
    }
    size++
    if (isInjectedByScript(entry))
      set(marks, size++, place, firstLines[faultRow]!, fault, { from: span.from, to: span.from })
  })
  return { ...marks, size, instants: distinct(instants.slice(0, known)) }
}

function set(
  marks: Omit<Marks, 'size' | 'instants'>,
  at: number,
  place: number,
  line: number,
  tone: number,
  span: Span,
) {
  marks.entry[at] = place
  marks.line[at] = line
  marks.tone[at] = tone
  marks.from[at] = span.from
  marks.to[at] = span.to
  marks.until[at] = span.until ?? span.to
}

/** Returns the line of an entry. All entries of one message or workflow run are in the same line. */
function lineIn(entry: TraceEntry, lane: number, place: number): number {
  const { rows } = axisRows[lane]!
  const { messageId, runId, sourceMessageId } = entry as Record<string, unknown>
  const id = messageId ?? runId ?? sourceMessageId
  return typeof id === 'string' ? hash(id) % rows : place % rows
}

function hash(text: string): number {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) >>> 0
  return sum
}

function toneIn(entry: TraceEntry, changed: ReadonlySet<number>): number {
  const isReading = entry.type === 'command' && changed.size > 0 && !changed.has(entry.seq) && entry.error === undefined
  return isReading ? soft : tones.indexOf(toneOf(entry))
}

/** Marks whose instants are converted to positions of a scale. */
export interface PlacedMarks extends Marks {
  readonly left: Float64Array
  readonly right: Float64Array
  readonly waits: Float64Array
}

export function placed(marks: Marks, scale: Scale): PlacedMarks {
  const along = (times: Float64Array): Float64Array => {
    const places = new Float64Array(marks.size)
    for (let at = 0; at < marks.size; at++) places[at] = scale.place(times[at]!)
    return places
  }
  return { ...marks, left: along(marks.from), right: along(marks.to), waits: along(marks.until) }
}

/** Width of a mark at the right edge of the axis. The line of the present covers one pixel of such a mark. */
const widthAtEdge = 4

/**
 * Computes for each line which pixels have which tone. It only counts where marks begin and end, so the time is linear
 * even for a million marks.
 */
export class AxisCoverage {
  #width = 0
  #edges = new Int32Array(0)

  /** @param width number of pixels between `from` and `to` */
  fill(marks: PlacedMarks, from: number, to: number, width: number): void {
    const row = width + 2
    if (this.#width !== width) {
      this.#width = width
      this.#edges = new Int32Array(lines * tones.length * row)
    } else this.#edges.fill(0)
    const edges = this.#edges
    const factor = width / (to - from)
    const { size, left, right, waits, line, tone } = marks
    for (let at = 0; at < size; at++) {
      const start = (left[at]! - from) * factor
      const rest = (waits[at]! - from) * factor
      if (rest < 0 || start > width) continue
      const end = (right[at]! - from) * factor
      const first = Math.max(0, Math.min(start | 0, width - widthAtEdge))
      const last = Math.min(width, Math.max(first + (start > width - widthAtEdge ? widthAtEdge : 2), end | 0))
      const base = (line[at]! * tones.length + tone[at]!) * row
      if (end >= 0) {
        edges[base + first]!++
        edges[base + last]!--
      }
      if (rest > end + 1) {
        const waiting = (line[at]! * tones.length + wait) * row
        edges[waiting + Math.max(0, end | 0)]!++
        edges[waiting + Math.min(width, rest | 0)]!--
      }
    }
  }

  /** Calls `draw` for each group of adjacent pixels with the same tone in a line. */
  each(line: number, tone: number, draw: (left: number, width: number) => void): void {
    const base = (line * tones.length + tone) * (this.#width + 2)
    let depth = 0
    let began = 0
    for (let x = 0; x <= this.#width; x++) {
      const before = depth
      depth += this.#edges[base + x]!
      if (before === 0 && depth > 0) began = x
      else if (before > 0 && depth === 0) draw(began, x - began)
    }
    if (depth > 0) draw(began, this.#width - began)
  }
}

/** Returns the mark that is nearest to a point, if the distance is not too large. @returns index of the mark's entry */
export function nearestMark(
  marks: PlacedMarks,
  {
    x,
    line,
    from,
    to,
    width,
    reach,
  }: { x: number; line: number; from: number; to: number; width: number; reach: number },
): number | undefined {
  const factor = width / (to - from)
  let best = -1
  let least = reach
  for (let at = 0; at < marks.size; at++) {
    const start = (marks.left[at]! - from) * factor
    const end = Math.max(start + 2, (marks.right[at]! - from) * factor)
    const across = x < start ? start - x : x > end ? x - end : 0
    const away = across + Math.abs(marks.line[at]! - line) * 6
    if (away <= least) {
      least = away
      best = at
    }
  }
  return best === -1 ? undefined : marks.entry[best]!
}
