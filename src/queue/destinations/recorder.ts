import { shownUrl } from '../../secrets/urls.js'
import type { Attempt } from './attempt.js'

/** What arrived at a destination, in order. */
export interface Recorder {
  readonly requests: readonly Attempt[]
  /** The same list, for reading as a sentence. */
  readonly all: readonly Attempt[]
  readonly count: number
  /** The latest request. @throws when nothing has arrived */
  last(): Attempt
  clear(): void
}

export class RecorderList implements Recorder {
  readonly requests: Attempt[] = []
  readonly #pattern: string

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get all(): readonly Attempt[] {
    return this.requests
  }

  get count(): number {
    return this.requests.length
  }

  last(): Attempt {
    const last = this.requests.at(-1)
    if (last !== undefined) return last
    throw new Error(
      `Nothing has arrived at ${shownUrl(this.#pattern)} yet. Await clock.drain() or clock.advance() first.`,
    )
  }

  clear(): void {
    this.requests.length = 0
  }
}
