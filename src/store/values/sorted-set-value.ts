import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import type { IndexRange, LexBound, LexRange, ScoreRange } from '../command/text.js'
import { OrderedTable, type ScanPage } from './ordered-table.js'
import type { Container } from './value.js'

/**
 * Maximum entries of a block. With 256, the set was 1.5 to 7 times as fast as a skip list. In larger blocks, moving
 * entries takes longer.
 */
const blockRoom = 256
/**
 * A block with at most this many entries is joined with its right neighbor, if both together have at most `joinedBlock`
 * entries.
 */
const sparseBlock = 64
const joinedBlock = 192

/** Block of consecutive entries in order, as parallel arrays. */
interface Block {
  readonly scores: number[]
  readonly members: Bytes[]
}

/**
 * Members ordered by (score, bytes): a sorted list divided into blocks, and a table from member to score.
 *
 * Each block has a fence, which separates the block from the previous one. A fence is greater than every entry of the
 * previous block, and not greater than any entry of its own block. A binary search over the fences finds the block of
 * an entry.
 *
 * The rank of a block is the sum of the sizes of all blocks before it. These sums are in a Fenwick tree, which is
 * rebuilt on demand after blocks were split, joined or deleted. Ranges of scores and of bytes are converted to
 * intervals of ranks.
 */
export class SortedSet implements Container {
  readonly type = 'zset'
  readonly #table = new OrderedTable<number>()
  readonly #blocks: Block[] = []
  readonly #fenceScores: number[] = []
  readonly #fenceMembers: Bytes[] = []
  /** Fenwick tree over block sizes, 1-based. */
  #sizes = new Int32Array(2)
  #sizesStale = false
  /**
   * Second result of `#locate` and `#blockOfRank`: the position inside the block. The position is a field, so that a
   * search allocates no object for its results.
   */
  #place = 0

  get size(): number {
    return this.#table.size
  }

  get isEmpty(): boolean {
    return this.#table.size === 0
  }

  score(member: Bytes): number | undefined {
    return this.#table.get(member)
  }

  has(member: Bytes): boolean {
    return this.#table.has(member)
  }

  /** Adds or moves a member; returns its previous score. The score must not be NaN. */
  set(member: Bytes, score: number): number | undefined {
    const before = this.#table.get(member)
    // Redis does not distinguish -0 from 0. Adding 0 converts -0 to 0.
    const wanted = score + 0
    if (before === wanted) return before
    this.#table.put(member, wanted)
    if (before === undefined) this.#insert(member, wanted)
    else this.#move(member, before, wanted)
    return before
  }

  delete(member: Bytes): boolean {
    const score = this.#table.get(member)
    if (score === undefined) return false
    this.#table.delete(member)
    this.#remove(this.#locate(score, member), this.#place)
    return true
  }

  /** Returns the number of members before this one in ascending order. */
  rank(member: Bytes): number | undefined {
    const score = this.#table.get(member)
    if (score === undefined) return undefined
    const block = this.#locate(score, member)
    return this.#sizeBefore(block) + this.#place
  }

  /** Returns the ranks of the members whose score is in the range. */
  scoreRanks(range: ScoreRange): IndexRange {
    const from = this.#countBelow(range.min, range.minExclusive)
    const to = this.#countBelow(range.max, !range.maxExclusive)
    return { from, to: Math.max(from, to) }
  }

  /** Returns the ranks of the members in a range of bytes. Meaningful only if all scores are equal. */
  lexRanks(range: LexRange): IndexRange {
    const from = this.#countBefore(range.min, false)
    const to = this.#countBefore(range.max, true)
    return { from, to: Math.max(from, to) }
  }

  /**
   * Visits the members in an interval of ranks, in ascending or descending order. The interval includes `from` and
   * excludes `to`.
   */
  walk(from: number, to: number, descending: boolean, visit: (member: Bytes, score: number) => void): void {
    let left = Math.min(to, this.size) - from
    if (left <= 0) return
    let index = this.#blockOfRank(descending ? from + left - 1 : from)
    let place = this.#place
    while (left > 0) {
      const block = this.#blocks[index]!
      const { scores, members } = block
      if (descending) {
        for (; place >= 0 && left > 0; place--, left--) visit(members[place]!, scores[place]!)
        index--
        place = (this.#blocks[index]?.members.length ?? 0) - 1
      } else {
        for (; place < members.length && left > 0; place++, left--) visit(members[place]!, scores[place]!)
        index++
        place = 0
      }
    }
  }

  /**
   * Removes the members in an interval of ranks, and returns how many there were. The interval includes `from` and
   * excludes `to`.
   */
  removeRanks(from: number, to: number): number {
    const members: Bytes[] = []
    this.walk(from, to, false, (member) => members.push(member))
    for (const member of members) this.delete(member)
    return members.length
  }

  /** Returns a random member, each with the same probability. The set must not be empty. */
  random(random: Random): Bytes {
    return this.#table.random(random)
  }

  /** Returns members in order of first insertion, page by page; see `OrderedTable.scan`. */
  scan(cursor: number, count: number): ScanPage {
    return this.#table.scan(cursor, count)
  }

  forEach(visit: (member: Bytes, score: number) => void): void {
    this.walk(0, this.size, false, visit)
  }

  /** Iterates over the members in ascending order. */
  *members(): Generator<Bytes> {
    for (const block of this.#blocks) yield* block.members
  }

  copy(): SortedSet {
    const copy = new SortedSet()
    this.forEach((member, score) => {
      copy.set(member, score)
    })
    return copy
  }

  #insert(member: Bytes, score: number): void {
    if (this.#blocks.length === 0) {
      this.#addBlock(0, { scores: [score], members: [member] })
      return
    }
    const index = this.#locate(score, member)
    const { scores, members } = this.#blocks[index]!
    const place = this.#place
    const length = members.length
    scores.push(score)
    members.push(member)
    for (let at = length; at > place; at--) {
      scores[at] = scores[at - 1]!
      members[at] = members[at - 1]!
    }
    scores[place] = score
    members[place] = member
    if (length < blockRoom) this.#resize(index, 1)
    else this.#split(index, place === length)
  }

  /**
   * Splits a full block. If an entry was appended to the last block, the block stays full and only the new entry goes
   * to the next one. Growing scores, such as times, are common.
   */
  #split(index: number, appended: boolean): void {
    const { scores, members } = this.#blocks[index]!
    const at = appended && index === this.#blocks.length - 1 ? members.length - 1 : members.length >>> 1
    this.#addBlock(index + 1, { scores: scores.splice(at), members: members.splice(at) })
  }

  #addBlock(index: number, block: Block): void {
    this.#blocks.splice(index, 0, block)
    this.#fenceScores.splice(index, 0, block.scores[0]!)
    this.#fenceMembers.splice(index, 0, block.members[0]!)
    this.#sizesStale = true
  }

  #dropBlock(index: number): void {
    this.#blocks.splice(index, 1)
    this.#fenceScores.splice(index, 1)
    this.#fenceMembers.splice(index, 1)
    this.#sizesStale = true
  }

  #remove(index: number, place: number): void {
    const { scores, members } = this.#blocks[index]!
    const last = members.length - 1
    for (let at = place; at < last; at++) {
      scores[at] = scores[at + 1]!
      members[at] = members[at + 1]!
    }
    scores.pop()
    members.pop()
    if (last === 0) {
      this.#dropBlock(index)
      return
    }
    this.#resize(index, -1)
    const next = this.#blocks[index + 1]
    if (last < sparseBlock && next !== undefined && last + next.members.length <= joinedBlock) {
      for (let at = 0; at < next.members.length; at++) {
        scores.push(next.scores[at]!)
        members.push(next.members[at]!)
      }
      this.#dropBlock(index + 1)
    }
  }

  /**
   * Moves an entry after its score has changed. If the entry is still between its two neighbors, it keeps its position.
   * This is the case for most small increments.
   */
  #move(member: Bytes, before: number, after: number): void {
    const index = this.#locate(before, member)
    const place = this.#place
    const { scores, members } = this.#blocks[index]!
    const inner = place > 0 && place < members.length - 1
    if (
      inner &&
      isBefore(scores[place - 1]!, members[place - 1]!, after, member) &&
      isBefore(after, member, scores[place + 1]!, members[place + 1]!)
    ) {
      scores[place] = after
      return
    }
    this.#remove(index, place)
    this.#insert(member, after)
  }

  // ---- searching ----

  /**
   * Returns the block that contains the entry, or into which the entry must be inserted. Sets `#place` to its position
   * in the block.
   */
  #locate(score: number, member: Bytes): number {
    const fenceScores = this.#fenceScores
    let low = 1
    let high = fenceScores.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const fence = fenceScores[middle]!
      if (fence < score || (fence === score && this.#fenceMembers[middle]! <= member)) low = middle + 1
      else high = middle
    }
    const index = low - 1
    const { scores, members } = this.#blocks[index]!
    let from = 0
    let to = members.length
    while (from < to) {
      const middle = (from + to) >>> 1
      const here = scores[middle]!
      if (here < score || (here === score && members[middle]! < member)) from = middle + 1
      else to = middle
    }
    this.#place = from
    return index
  }

  /**
   * Returns the number of entries that satisfy a condition. These entries must come before all entries that do not
   * satisfy it.
   */
  #countWhile(holds: (score: number, member: Bytes) => boolean): number {
    if (this.#blocks.length === 0) return 0
    let low = 1
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (holds(this.#fenceScores[middle]!, this.#fenceMembers[middle]!)) low = middle + 1
      else high = middle
    }
    const index = low - 1
    const { scores, members } = this.#blocks[index]!
    let from = 0
    let to = members.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (holds(scores[middle]!, members[middle]!)) from = middle + 1
      else to = middle
    }
    return this.#sizeBefore(index) + from
  }

  #countBelow(bound: number, inclusive: boolean): number {
    return this.#countWhile(inclusive ? (score) => score <= bound : (score) => score < bound)
  }

  /**
   * Returns the number of members before a bound. A member that equals the bound counts in two cases: the bound is an
   * exclusive lower bound or an inclusive upper bound.
   */
  #countBefore(bound: LexBound, upper: boolean): number {
    if (bound === '-') return 0
    if (bound === '+') return this.size
    const { member: limit, exclusive } = bound
    return this.#countWhile(exclusive === upper ? (_, member) => member < limit : (_, member) => member <= limit)
  }

  // ---- ranks ----

  #resize(index: number, by: number): void {
    if (this.#sizesStale) return
    const sizes = this.#sizes
    const count = this.#blocks.length
    for (let node = index + 1; node <= count; node += node & -node) sizes[node]! += by
  }

  #rebuildSizes(): void {
    const count = this.#blocks.length
    if (this.#sizes.length <= count) this.#sizes = new Int32Array(2 * count + 1)
    const sizes = this.#sizes
    for (let node = 1; node <= count; node++) sizes[node] = this.#blocks[node - 1]!.members.length
    for (let node = 1; node <= count; node++) {
      const parent = node + (node & -node)
      if (parent <= count) sizes[parent]! += sizes[node]!
    }
    this.#sizesStale = false
  }

  #sizeBefore(index: number): number {
    if (index === 0) return 0
    if (this.#sizesStale) this.#rebuildSizes()
    let sum = 0
    for (let node = index; node > 0; node &= node - 1) sum += this.#sizes[node]!
    return sum
  }

  /** Returns the block that contains the rank. Sets `#place` to the position of the rank in the block. */
  #blockOfRank(rank: number): number {
    const count = this.#blocks.length
    let index = 0
    let rest = rank
    if (count > 1) {
      if (this.#sizesStale) this.#rebuildSizes()
      for (let step = 1 << (31 - Math.clz32(count)); step > 0; step >>= 1) {
        if (index + step <= count && this.#sizes[index + step]! <= rest) {
          index += step
          rest -= this.#sizes[index]!
        }
      }
    }
    this.#place = rest
    return index
  }
}

function isBefore(score: number, member: Bytes, otherScore: number, otherMember: Bytes): boolean {
  return score < otherScore || (score === otherScore && member < otherMember)
}
