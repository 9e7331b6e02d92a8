import { compareScalars, type Scalar } from './sorted-values.js'

/** Document in a result, with its sort keys. */
export interface RankedDocument {
  readonly id: number
  readonly score: number
  /** Value of the sort key. Documents without a value come last. */
  readonly rank: Scalar | undefined
}

/**
 * Keeps only the first documents by rank in memory. Documents of equal rank keep the order in which they were added.
 * This package chose the order of equal ranks; public sources leave it open.
 */
export class TopDocuments {
  #kept: RankedDocument[] = []
  #worst: RankedDocument | undefined
  readonly #most: number
  readonly #sign: number

  constructor(most: number, isDescending: boolean) {
    this.#most = most
    this.#sign = isDescending ? -1 : 1
  }

  add(one: RankedDocument): void {
    if (this.#worst !== undefined && this.#compare(one, this.#worst) > 0) return
    this.#kept.push(one)
    if (this.#kept.length >= 2 * this.#most + 64) this.#cut()
  }

  get sorted(): readonly RankedDocument[] {
    this.#cut()
    return this.#kept
  }

  #cut(): void {
    this.#kept.sort((a, b) => this.#compare(a, b))
    if (this.#kept.length < this.#most) return
    this.#kept.length = this.#most
    this.#worst = this.#kept.at(-1)
  }

  #compare(a: RankedDocument, b: RankedDocument): number {
    if (a.rank === undefined || b.rank === undefined) {
      return Number(a.rank === undefined) - Number(b.rank === undefined) || a.id - b.id
    }
    return this.#sign * compareScalars(a.rank, b.rank) || a.id - b.id
  }
}
