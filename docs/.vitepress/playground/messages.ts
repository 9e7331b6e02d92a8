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
  /** The run was ended from outside. */
  | { readonly kind: 'ended'; readonly why: 'time' | 'flood' }

/** Reads what a frame sent; whatever does not have the shape is no message. */
export function readSaid(data: unknown): Said | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const said = JSON.parse(data) as Said
    if (typeof said !== 'object' || said === null) return undefined
    if (said.kind === 'printed' || said.kind === 'broken') return typeof said.text === 'string' ? said : undefined
    if (said.kind === 'ended') return said
    return said.kind === 'played' && Array.isArray(said.tests) && said.tests.every(isTest) ? said : undefined
  } catch {
    return undefined
  }
}

function isTest({ name, failure, rows }: PlayedTest): boolean {
  const isText = typeof name === 'string' && ['undefined', 'string'].includes(typeof failure)
  return isText && Array.isArray(rows) && rows.every(({ at, text }) => Number.isFinite(at) && typeof text === 'string')
}
