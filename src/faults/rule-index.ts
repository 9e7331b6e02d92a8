import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { FaultFacts, FaultMatch } from './fault.js'

/** A rule that can be found by what it matches. */
export interface Indexed {
  readonly ordinal: number
  readonly match: FaultMatch
}

interface Dimension {
  /** The one value that a rule wants, `undefined` when it wants none or a pattern. */
  readonly wanted: (match: FaultMatch) => string | undefined
  readonly given: (facts: FaultFacts) => readonly (string | undefined)[]
}

/** What tells most rules apart, the sharpest first. */
const dimensions: readonly Dimension[] = [
  { wanted: ({ messageId }) => messageId, given: ({ messageId }) => [messageId] },
  {
    wanted: ({ url }) => (url === undefined || url.includes('*') ? undefined : normalUrl(url)),
    given: ({ url, destination }) => [...urlsOf(url), ...urlsOf(destination)],
  },
  {
    wanted: ({ key }) => (key === undefined || /[*?[\\]/.test(key) ? undefined : utf8(key)),
    given: ({ keys }) => keys ?? [],
  },
  { wanted: ({ command }) => command?.toUpperCase(), given: ({ commands }) => commands ?? [] },
  { wanted: ({ queue }) => queue, given: ({ queue }) => [queue] },
  { wanted: ({ label }) => label, given: ({ labels }) => labels ?? [] },
  {
    wanted: ({ endpoint }) => (endpoint?.includes('*') === false ? endpoint : undefined),
    given: ({ endpoint }) => [endpoint],
  },
]

function urlsOf(url: string | undefined): readonly string[] {
  if (url === undefined) return []
  const normal = normalUrl(url)
  const end = normal.search(/[?#]/)
  return end === -1 ? [normal] : [normal, normal.slice(0, end)]
}

const isNormal = /^https?:\/\/[a-z0-9.-]+\/(?:[\w!$&'()*+,;=:@%~/?-]|\.(?![./]|%2e))*$/

function normalUrl(url: string): string {
  return isNormal.test(url) || !URL.canParse(url) ? url : new URL(url).href
}

/** The rules of one point; those that may match are found without looking at the others. */
export class RuleIndex<R extends Indexed> {
  /** Questions so far: how many chances to strike a rule had. */
  asked = 0
  readonly #rules = new Set<R>()
  readonly #open: R[] = []
  readonly #filed: (Map<string, R[]> | undefined)[] = []

  get size(): number {
    return this.#rules.size
  }

  add(rule: R): void {
    this.#rules.add(rule)
    this.#bucket(rule, true)!.push(rule)
  }

  delete(rule: R): boolean {
    if (!this.#rules.delete(rule)) return false
    const bucket = this.#bucket(rule, false)
    const at = bucket?.indexOf(rule) ?? -1
    if (at !== -1) bucket!.splice(at, 1)
    return true
  }

  /** Where a rule belongs: under its sharpest exact value. */
  #bucket(rule: R, make: boolean): R[] | undefined {
    const at = dimensions.findIndex(({ wanted }) => wanted(rule.match) !== undefined)
    if (at === -1) return this.#open
    if (this.#filed[at] === undefined) {
      if (!make) return undefined
      this.#filed[at] = new Map()
    }
    const buckets = this.#filed[at]!
    const value = dimensions[at]!.wanted(rule.match)!
    let bucket = buckets.get(value)
    if (bucket === undefined && make) {
      bucket = []
      buckets.set(value, bucket)
    }
    return bucket
  }

  /** In the order in which they were added. */
  candidates(facts: FaultFacts): readonly R[] {
    let found: R[] | undefined
    for (let at = 0; at < this.#filed.length; at++) {
      const buckets = this.#filed[at]
      if (buckets === undefined) continue
      for (const value of new Set(dimensions[at]!.given(facts))) {
        const bucket = value === undefined ? undefined : buckets.get(value as Bytes)
        if (bucket !== undefined && bucket.length > 0) {
          found ??= [...this.#open]
          found.push(...bucket)
        }
      }
    }
    if (found === undefined) return this.#open
    return found.length === 1 ? found : found.sort((a, b) => a.ordinal - b.ordinal)
  }
}
