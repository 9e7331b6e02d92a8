import type { FaultFacts, FaultMatch } from '../faults/fault.js'
import { normalUrl, withoutCase, withoutQuery } from '../kernel/address-pattern.js'
import { utf8 } from '../kernel/bytes.js'
import { factOf } from './matching.js'

export interface Indexed {
  readonly ordinal: number
  readonly match: FaultMatch
}

interface Dimension {
  /**
   * Returns the value or prefix that an event must have to match the rule. Returns `undefined` if several values match.
   */
  readonly wanted: (match: FaultMatch) => string | undefined
  readonly given: (facts: FaultFacts) => readonly (string | undefined)[]
  /** Whether `wanted` returns a prefix. */
  readonly prefix?: true
}

const urlsOf = (facts: FaultFacts): readonly (string | undefined)[] => [facts.url, factOf(facts, 'destination')]

/** Facts by which rules are indexed. The first fact of the list excludes the most rules. */
const dimensions: readonly Dimension[] = [
  { wanted: ({ messageId }) => messageId, given: (facts) => [factOf(facts, 'messageId')] },
  {
    wanted: ({ url }) => (url === undefined || url.includes('*') ? undefined : normalUrl(url)),
    given: (facts) => urlsOf(facts).flatMap(withAndWithoutQuery),
  },
  {
    wanted: ({ key }) => (key === undefined || isPattern.test(key) ? undefined : utf8(key)),
    given: (facts) => factOf(facts, 'keys') ?? [],
  },
  {
    prefix: true,
    wanted: ({ url }) => (url === undefined ? undefined : withoutCase(url.split('*', 1)[0]!) || undefined),
    given: (facts) => urlsOf(facts).map((url) => (url === undefined ? undefined : withoutCase(url))),
  },
  {
    prefix: true,
    wanted: ({ key }) => (key === undefined ? undefined : utf8(key.split(isPattern, 1)[0]!) || undefined),
    given: (facts) => factOf(facts, 'keys') ?? [],
  },
  { wanted: ({ command }) => command?.toUpperCase(), given: (facts) => factOf(facts, 'commands') ?? [] },
  { wanted: ({ queue }) => queue, given: (facts) => [factOf(facts, 'queue')] },
  { wanted: ({ label }) => label, given: (facts) => factOf(facts, 'labels') ?? [] },
  {
    wanted: ({ path }) => (path?.includes('*') === false ? path : undefined),
    given: ({ path }) => [path],
  },
]

const isPattern = /[*?[\\]/

function withAndWithoutQuery(url: string | undefined): readonly string[] {
  if (url === undefined) return []
  const [whole, bare] = [normalUrl(url), normalUrl(withoutQuery(url))]
  return whole === bare ? [whole] : [whole, bare]
}

/** The rules that accept only one value or prefix of a fact. The key is the value or prefix. */
class Drawer<R> {
  readonly #buckets = new Map<string, R[]>()
  /** Number of different prefixes of each length. A lookup tries only these lengths. */
  readonly #lengths = new Map<number, number>()

  constructor(readonly dimension: Dimension) {}

  open(value: string): R[] {
    let bucket = this.#buckets.get(value)
    if (bucket === undefined) {
      bucket = []
      this.#buckets.set(value, bucket)
      this.#lengths.set(value.length, (this.#lengths.get(value.length) ?? 0) + 1)
    }
    return bucket
  }

  delete(value: string, rule: R): void {
    const bucket = this.#buckets.get(value)
    const at = bucket?.indexOf(rule) ?? -1
    if (bucket === undefined || at === -1) return
    bucket.splice(at, 1)
    if (bucket.length > 0) return
    this.#buckets.delete(value)
    const left = this.#lengths.get(value.length)! - 1
    if (left > 0) this.#lengths.set(value.length, left)
    else this.#lengths.delete(value.length)
  }

  find(facts: FaultFacts, found: Set<R[]>): void {
    for (const value of this.dimension.given(facts)) {
      if (value === undefined) continue
      if (this.dimension.prefix === undefined) this.#look(value, found)
      else for (const length of this.#lengths.keys()) this.#look(value.slice(0, length), found)
    }
  }

  #look(value: string, found: Set<R[]>): void {
    const bucket = this.#buckets.get(value)
    if (bucket !== undefined) found.add(bucket)
  }
}

/** The rules of one injection point, with an index that skips most rules that cannot match. */
export class RuleIndex<R extends Indexed> {
  /** Number of lookups, which is the number of events that reached this point since the index was created. */
  asked = 0
  readonly #rules = new Set<R>()
  /**
   * Rules that accept several values of each fact, so that no index can exclude them. Every lookup returns these rules.
   */
  readonly #open: R[] = []
  readonly #drawers: Drawer<R>[] = []

  get size(): number {
    return this.#rules.size
  }

  add(rule: R): void {
    this.#rules.add(rule)
    const dimension = dimensionOf(rule)
    if (dimension === undefined) {
      this.#open.push(rule)
      return
    }
    let drawer = this.#drawers.find((other) => other.dimension === dimension)
    if (drawer === undefined) {
      drawer = new Drawer(dimension)
      this.#drawers.push(drawer)
    }
    drawer.open(dimension.wanted(rule.match)!).push(rule)
  }

  delete(rule: R): void {
    if (!this.#rules.delete(rule)) return
    const dimension = dimensionOf(rule)
    if (dimension === undefined) this.#open.splice(this.#open.indexOf(rule), 1)
    else this.#drawers.find((drawer) => drawer.dimension === dimension)?.delete(dimension.wanted(rule.match)!, rule)
  }

  /** Returns the rules that may match an event, oldest first. */
  candidates(facts: FaultFacts): readonly R[] {
    if (this.#drawers.length === 0) return this.#open
    const buckets = new Set<R[]>()
    for (const drawer of this.#drawers) drawer.find(facts, buckets)
    if (buckets.size === 0) return this.#open
    const found = [...this.#open]
    for (const bucket of buckets) found.push(...bucket)
    return found.length === 1 ? found : found.sort((a, b) => a.ordinal - b.ordinal)
  }
}

function dimensionOf({ match }: Indexed): Dimension | undefined {
  return dimensions.find(({ wanted }) => wanted(match) !== undefined)
}
