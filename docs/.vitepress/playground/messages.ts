// Messages from the worker to the page. Each is one JSON text.

/** One line of a timeline. */
export interface Row {
  /** Number of the entry; `undefined` for a heading, such as a day. */
  readonly seq?: number
  /** Virtual time in milliseconds since the epoch. */
  readonly at: number
  readonly text: string
}

export interface PlayedTest {
  readonly name: string
  readonly passed: boolean
  /** Message of the failed assertion, without the timeline that `rows` contains. */
  readonly failure?: string
  readonly rows: readonly Row[]
}

export type Message =
  | { readonly kind: 'printed'; readonly text: string }
  | { readonly kind: 'played'; readonly tests: readonly PlayedTest[] }
  /** The code could not run. */
  | { readonly kind: 'broken'; readonly text: string }
  /** The page or the frame stopped the run. `silence`: the frame did not stop it, so its process may have crashed. */
  | { readonly kind: 'ended'; readonly reason: 'time' | 'flood' | 'silence' }

/** Limits of what the page shows: rows, tests, and characters of one text. */
const maxRows = 2000
const maxTests = 100
const maxText = 100_000
/** Last instant of a JavaScript `Date`. */
const lastInstant = 8.64e15

/** Reads a message from a frame. Returns `undefined` for other data, and shortens content that would block the page. */
export function readMessage(data: unknown): Message | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const message = JSON.parse(data) as Message
    if (typeof message !== 'object' || message === null) return undefined
    if (message.kind === 'printed' || message.kind === 'broken') {
      return typeof message.text === 'string' ? { kind: message.kind, text: cut(message.text) } : undefined
    }
    if (message.kind === 'ended') return message
    if (message.kind !== 'played' || !Array.isArray(message.tests) || !message.tests.every(isTest)) return undefined
    return { kind: 'played', tests: bounded(message.tests) }
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
      rows.push({ at: rows.at(-1)?.at ?? 0, text: `… ${more} more rows, which the playground does not show` })
    return { ...test, name: cut(test.name), ...(test.failure !== undefined && { failure: cut(test.failure) }), rows }
  })
}

const cut = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)} …` : text)
