// What passes between the page and the worker, each as one JSON text.

/** One line of a story. */
export interface Row {
  /** The number of the entry; `undefined` for a heading, such as a day. */
  readonly seq?: number
  /** Milliseconds since 1970, of the sandbox's clock. */
  readonly at: number
  readonly text: string
}

export interface PlayedTest {
  readonly name: string
  readonly passed: boolean
  /** What the assertion printed, without the timeline, which the rows show. */
  readonly failure?: string
  readonly rows: readonly Row[]
}

export type Said =
  | { readonly kind: 'printed'; readonly text: string }
  | { readonly kind: 'played'; readonly tests: readonly PlayedTest[] }
  /** The code could not be run at all. */
  | { readonly kind: 'broken'; readonly text: string }
  /** The run was ended from outside. `silence`: its frame did not end it, so it may be no more. */
  | { readonly kind: 'ended'; readonly why: 'time' | 'flood' | 'silence' }

/** Rows and tests that a page shows, and characters of one text. */
const maxRows = 2000
const maxTests = 100
const maxText = 100_000
/** The last instant of JavaScript. */
const lastInstant = 8.64e15

/** Reads what a frame sent; whatever does not have the shape is no message, and what would hold up a page is cut. */
export function readSaid(data: unknown): Said | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const said = JSON.parse(data) as Said
    if (typeof said !== 'object' || said === null) return undefined
    if (said.kind === 'printed' || said.kind === 'broken') {
      return typeof said.text === 'string' ? { kind: said.kind, text: cut(said.text) } : undefined
    }
    if (said.kind === 'ended') return said
    if (said.kind !== 'played' || !Array.isArray(said.tests) || !said.tests.every(isTest)) return undefined
    return { kind: 'played', tests: bounded(said.tests) }
  } catch {
    return undefined
  }
}

function isTest({ name, failure, rows }: PlayedTest): boolean {
  const isText = typeof name === 'string' && ['undefined', 'string'].includes(typeof failure)
  return (
    isText &&
    Array.isArray(rows) &&
    rows.every(({ at, text }) => Math.abs(at) <= lastInstant && typeof text === 'string')
  )
}

function bounded(tests: readonly PlayedTest[]): readonly PlayedTest[] {
  let left = maxRows
  return tests.slice(0, maxTests).map((test) => {
    const rows = test.rows.slice(0, left).map((row) => ({ ...row, text: cut(row.text) }))
    const more = test.rows.length - rows.length
    left -= rows.length
    if (more > 0)
      rows.push({ at: rows.at(-1)?.at ?? 0, text: `… and ${more} more, which the playground does not show` })
    return { ...test, name: cut(test.name), ...(test.failure !== undefined && { failure: cut(test.failure) }), rows }
  })
}

const cut = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)} …` : text)
