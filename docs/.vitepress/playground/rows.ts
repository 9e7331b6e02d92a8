import type { Sandbox } from '../../../src/index.ts'
import type { Row } from './messages.ts'

/** Returns the timeline as rows with their instants, so that the page can hide the rows after an instant. */
export function rowsOf(sandbox: Sandbox): readonly Row[] {
  const instants = new Map(sandbox.traffic.entries.map(({ seq, at }) => [seq, at]))
  let at = sandbox.traffic.entries[0]?.at ?? sandbox.clock.now()
  const rows: Row[] = []
  for (const text of sandbox.traffic.timeline().split('\n')) {
    const seq = Number(/^ *#(\d+) /.exec(text)?.[1] ?? Number.NaN)
    const last = rows.at(-1)
    at = instants.get(seq) ?? at
    // Indented lines under an entry are part of it.
    if (Number.isNaN(seq) && last?.seq !== undefined && text.startsWith(' ')) {
      rows[rows.length - 1] = { ...last, text: `${last.text}\n${text}` }
    } else rows.push(Number.isNaN(seq) ? { at, text } : { seq, at, text })
  }
  // The heading of a day has the instant of the row after it.
  return rows.map((row, nth) => (row.seq === undefined ? { ...row, at: rows[nth + 1]?.at ?? row.at } : row))
}

/** Removes the timeline from the end of a failure. The timeline begins with a day. */
export function withoutTimeline(failure: string): string {
  return failure.split(/\n\n(?=\d{4}-\d\d-\d\d\n)/)[0]!
}
