import type { Entry } from '../kernel/traffic-log.js'
import { type Redaction, standardRedaction } from './redaction.js'
import { type DiagramStep, diagramOf, gapText } from './sequence-diagram.js'
import { dateOf, timeOf } from './shown-times.js'

/** Options of a diagram in plain text. */
export interface TextDiagramOptions {
  /** Characters per line, at least 60. Default: 100. */
  readonly width?: number
}

/** Width of the margin: a time such as `09:00:12.000` and two spaces. */
const margin = 14
const widestLane = 26
const narrowestLane = 9

/**
 * Returns entries as a sequence diagram in plain text. Later entries are further down.
 * @example
 * 2030-01-01           app                     queue              shop.test/orders
 *                       │                        │                        │
 * 09:00:00.000          │─ POST /v2/publish/… ──>│                        │
 *                       │<╌ 201 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│                        │
 */
export function textDiagram(
  entries: readonly Entry[],
  options: TextDiagramOptions = {},
  redaction: Redaction = standardRedaction,
): string {
  const story = diagramOf(entries, redaction)
  if (story.steps.length === 0) return '(no traffic)'
  const drawing = new Drawing(story.participants, Math.max(60, options.width ?? 100))
  drawing.heads()
  for (const step of story.steps) drawing.step(step)
  drawing.legend()
  return drawing.lines.join('\n')
}

class Drawing {
  readonly lines: string[] = []
  readonly #participants: readonly string[]
  readonly #width: number
  readonly #lane: number
  readonly #x = new Map<string, number>()
  readonly #shortened: [head: string, name: string][] = []
  #at: number | undefined

  constructor(participants: readonly string[], width: number) {
    this.#participants = participants
    this.#width = width
    const room = Math.floor((width - margin) / participants.length)
    this.#lane = Math.max(narrowestLane, Math.min(widestLane, room))
    participants.forEach((name, index) => {
      this.#x.set(name, margin + index * this.#lane + Math.floor(this.#lane / 2))
    })
  }

  heads(): void {
    const row = this.#row('', ' ')
    for (const name of this.#participants) {
      const head = this.#head(name)
      write(row, this.#x.get(name)! - Math.floor(head.length / 2), head)
    }
    this.#push(row)
    this.#push(this.#row(''))
  }

  step(step: DiagramStep): void {
    const time = this.#moveTo(step.at)
    if (step.kind === 'note') this.#note(step.over, step.text, time)
    else this.#arrow(step, time)
  }

  legend(): void {
    if (this.#shortened.length === 0) return
    this.lines.push('', ...this.#shortened.map(([head, name]) => `${head} is ${name}`))
  }

  /**
   * Returns the heading of a column. A long name is cut at its start. If two headings would be equal, one gets a
   * number.
   */
  #head(name: string): string {
    const room = this.#lane - 1
    if (name.length <= room) return name
    let head = `…${name.slice(1 - room)}`
    if (this.#shortened.some(([taken]) => taken === head)) {
      head = `${this.#shortened.length + 1}…${name.slice(2 - room)}`
    }
    this.#shortened.push([head, name])
    return head
  }

  /** Moves the diagram to a time. Adds a row with the elapsed time, and returns the text for the margin. */
  #moveTo(at: number): string {
    const before = this.#at
    if (before === at) return ''
    this.#at = at
    if (before === undefined || dateOf(before) !== dateOf(at)) {
      if (before !== undefined) this.#push(this.#row(gapText(before, at).padStart(12), '┆'))
      this.#push(this.#row(dateOf(at)))
    } else this.#push(this.#row(gapText(before, at).padStart(12), '┆'))
    return timeOf(at)
  }

  #arrow(step: Exclude<DiagramStep, { kind: 'note' }>, time: string): void {
    const [from, to] = [this.#x.get(step.from)!, this.#x.get(step.to)!]
    const [left, right] = [Math.min(from, to), Math.max(from, to)]
    const line = step.kind === 'answer' ? '╌' : '─'
    const inner = right - left - 1
    const inline = step.text.length + 4 <= inner
    let label = time
    if (!inline) {
      for (const part of wrapped(step.text, this.#width - left - 2)) {
        const row = this.#row(label)
        write(row, left + 2, `${part} `)
        this.#push(row)
        label = ''
      }
    }
    const row = this.#row(label)
    write(row, left + 1, line.repeat(inner))
    const head = step.kind === 'answer' && step.lost ? 'x' : from < to ? '>' : '<'
    write(row, from < to ? right - 1 : left + 1, head)
    if (inline) write(row, left + (from < to ? 2 : 3), ` ${step.text} `)
    this.#push(row)
  }

  #note(over: string, text: string, time: string): void {
    const x = this.#x.get(over)!
    let label = time
    wrapped(text, this.#width - x - 2).forEach((part, index) => {
      const row = this.#row(label)
      write(row, x, index === 0 ? `● ${part} ` : `│ ${part} `)
      this.#push(row)
      label = ''
    })
  }

  /** Returns a row with only the vertical lines of all columns. */
  #row(label: string, lifeline = '│'): string[] {
    const row = [...label.padEnd(margin)]
    for (const x of this.#x.values()) write(row, x, lifeline)
    return row
  }

  #push(row: readonly string[]): void {
    this.lines.push(row.join('').trimEnd())
  }
}

function write(row: string[], at: number, text: string): void {
  const chars = [...text]
  while (row.length < at + chars.length) row.push(' ')
  chars.forEach((char, index) => {
    row[at + index] = char
  })
}

/** Splits a text into lines that are shorter than `room`, at spaces where possible. */
function wrapped(text: string, room: number): string[] {
  const most = Math.max(10, room - 1)
  const lines: string[] = []
  let rest = text
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most)
    const end = space > most / 2 ? space : most
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...lines, rest]
}
