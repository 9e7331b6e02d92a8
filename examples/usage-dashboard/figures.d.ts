/** Where the figures come from. */
export interface Source {
  readonly fetch: (url: string, init: { headers: Record<string, string> }) => Promise<Response>
  /** Address of the queue's statistics, without query. */
  readonly queue: string
  /** Address of the search index's statistics, without query. */
  readonly search: string
  readonly headers?: Record<string, string>
}

export interface Chart {
  readonly title: string
  readonly lines: readonly {
    readonly name: string
    /** Milliseconds since the epoch, and what was counted from then on. */
    readonly points: readonly { readonly at: number; readonly value: number }[]
  }[]
  /** Single figures under the title. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
}

/** Asks both endpoints and makes a chart out of each answer. */
export function readUsage(source: Source, period: string): Promise<{ readonly queue: Chart; readonly search: Chart }>

/** Milliseconds of `2025-10-01 11:33:05.585757103 +0000 UTC`. */
export function timeOf(stamp: string): number
