/** Source of the statistics. */
export interface Source {
  readonly fetch: (url: string, init: { headers: Record<string, string> }) => Promise<Response>
  /** URL of the queue's statistics, without query. */
  readonly queue: string
  /** URL of the search index's statistics, without query. */
  readonly search: string
  readonly headers?: Record<string, string>
}

export interface Chart {
  readonly title: string
  readonly lines: readonly {
    readonly name: string
    /** Pairs of milliseconds since the epoch and the count from then on. */
    readonly points: readonly { readonly at: number; readonly value: number }[]
  }[]
  /** Single values under the title. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
}

/** Fetches both endpoints and returns a chart for each response. */
export function readUsage(source: Source, period: string): Promise<{ readonly queue: Chart; readonly search: Chart }>

/** Returns the milliseconds of `2025-10-01 11:33:05.585757103 +0000 UTC`. */
export function timeOf(stamp: string): number
