// A skip list with spans, the structure of sorted sets in redis-server, as simple as possible.

interface Node {
  member: string
  score: number
  readonly next: (Node | undefined)[]
  /** Number of positions that the link of each level passes. */
  readonly span: number[]
}

const highest = 32

export class SkipList {
  readonly #scores = new Map<string, number>()
  readonly #head: Node = newNode('', Number.NEGATIVE_INFINITY, highest)
  readonly #before: Node[] = new Array(highest).fill(this.#head)
  readonly #rank: number[] = new Array(highest).fill(0)
  #level = 1
  #dice = 1

  get size(): number {
    return this.#scores.size
  }

  set(member: string, score: number): void {
    const before = this.#scores.get(member)
    if (before === score) return
    if (before !== undefined) this.#remove(member, before)
    this.#scores.set(member, score)
    this.#insert(member, score)
  }

  rank(member: string): number | undefined {
    const score = this.#scores.get(member)
    if (score === undefined) return undefined
    let node = this.#head
    let rank = 0
    for (let level = this.#level - 1; level >= 0; level--) {
      for (let next = node.next[level]; next !== undefined && isBefore(next, score, member); next = node.next[level]) {
        rank += node.span[level]!
        node = next
      }
    }
    return rank
  }

  range(from: number, count: number): string[] {
    let node = this.#head
    let passed = 0
    for (let level = this.#level - 1; level >= 0; level--) {
      while (node.next[level] !== undefined && passed + node.span[level]! <= from) {
        passed += node.span[level]!
        node = node.next[level]!
      }
    }
    const members: string[] = []
    for (let next = node.next[0]; next !== undefined && members.length < count; next = next.next[0]) {
      members.push(next.member)
    }
    return members
  }

  /** Finds the last node before the position on each level, and its rank. */
  #seek(member: string, score: number): void {
    let node = this.#head
    let rank = 0
    for (let level = this.#level - 1; level >= 0; level--) {
      for (let next = node.next[level]; next !== undefined && isBefore(next, score, member); next = node.next[level]) {
        rank += node.span[level]!
        node = next
      }
      this.#before[level] = node
      this.#rank[level] = rank
    }
  }

  #insert(member: string, score: number): void {
    this.#seek(member, score)
    const levels = this.#randomLevels()
    for (; this.#level < levels; this.#level++) {
      this.#before[this.#level] = this.#head
      this.#rank[this.#level] = 0
      this.#head.span[this.#level] = this.#scores.size - 1
    }
    const node = newNode(member, score, levels)
    const place = this.#rank[0]!
    for (let level = 0; level < this.#level; level++) {
      const before = this.#before[level]!
      if (level >= levels) {
        before.span[level]!++
        continue
      }
      const passed = place - this.#rank[level]!
      node.next[level] = before.next[level]
      before.next[level] = node
      node.span[level] = before.span[level]! - passed
      before.span[level] = passed + 1
    }
  }

  #remove(member: string, score: number): void {
    this.#seek(member, score)
    const node = this.#before[0]!.next[0]!
    for (let level = 0; level < this.#level; level++) {
      const before = this.#before[level]!
      if (before.next[level] === node) {
        before.span[level]! += node.span[level]! - 1
        before.next[level] = node.next[level]
      } else before.span[level]!--
    }
    while (this.#level > 1 && this.#head.next[this.#level - 1] === undefined) this.#level--
  }

  /** Adds one more level with a probability of a quarter each. */
  #randomLevels(): number {
    let levels = 1
    for (;;) {
      this.#dice = (Math.imul(this.#dice, 1_664_525) + 1_013_904_223) >>> 0
      if (this.#dice >>> 30 !== 0 || levels === highest) return levels
      levels++
    }
  }
}

function newNode(member: string, score: number, levels: number): Node {
  return { member, score, next: new Array(levels).fill(undefined), span: new Array(levels).fill(0) }
}

function isBefore(node: Node, score: number, member: string): boolean {
  return node.score < score || (node.score === score && node.member < member)
}
