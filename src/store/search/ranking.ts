import { compareScalars, type Scalar } from './sorted-values.js'

/** A document that was found, and what decides its place. */
export interface RankedDocument {
  readonly id: number
  readonly score: number
  /** What it is sorted by; `undefined` for one that has no such value, which comes last. */
  readonly rank: Scalar | undefined
}

/** The first few by rank, equal ones in the order in which they came; memory is spent on these only. [of ties: choice] */
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
