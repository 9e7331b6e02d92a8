// Sorted sets over a skip list with spans, value by value; and the whole command, including its arguments and its
// reply.
import { each, type Figure } from '../harness.ts'
import { SkipList } from '../skip-list.ts'
import { type Argv, executing, loneStore, type StoreEngine, shuffled, words } from '../store.ts'

interface Filled {
  readonly list: SkipList
  readonly set: SortedSet
  readonly store: StoreEngine
  /** Some of the members, unordered. */
  readonly some: readonly number[]
}

/** The part of the store's value that these figures use. */
interface SortedSet {
  set(member: string, score: number): unknown
  rank(member: string): number | undefined
  walk(from: number, to: number, descending: boolean, visit: (member: string) => void): void
}

const name = (index: number): string => `player:${index}`

const sizes = [1000, 100_000, 1_000_000]
const made = new Map<number, Filled>()

/** Scores have gaps, so that a member can move between its neighbors. */
function filled(size: number): Filled {
  const known = made.get(size)
  if (known !== undefined) return known
  made.clear()
  const list = new SkipList()
  const store = loneStore()
  // Ascending order is fast, and places neighbors of the skip list next to each other in memory.
  for (let index = 0; index < size; index++) {
    list.set(name(index), index * 10)
    store.execute(words('ZADD', 'key', index * 10, name(index)))
  }
  const some = shuffled(Array.from({ length: size }, (_, index) => index)).slice(0, 10_000)
  const set = store.db.find('key' as never)!.value as unknown as SortedSet
  const fresh = { list, set, store, some }
  made.set(size, fresh)
  return fresh
}

interface Case {
  readonly command: string
  readonly rows: (some: readonly number[], size: number) => readonly Argv[]
  readonly inList: (list: SkipList, row: Argv) => unknown
  readonly inSet: (set: SortedSet, row: Argv) => unknown
}

const cases: readonly Case[] = [
  {
    command: 'ZADD',
    // Moves each member far away; the commands of the next round move them back.
    rows: (some, size) =>
      [1, 0].flatMap((away) =>
        some.map((index) => words('ZADD', 'key', ((index + (away * size) / 3) % size) * 10 + away, name(index))),
      ),
    inList: (list, row) => list.set(row[3]!, Number(row[2])),
    inSet: (set, row) => set.set(row[3]!, Number(row[2])),
  },
  {
    command: 'ZRANK',
    rows: (some) => some.map((index) => words('ZRANK', 'key', name(index))),
    inList: (list, row) => list.rank(row[2]!),
    inSet: (set, row) => set.rank(row[2]!),
  },
  {
    command: 'ZRANGE',
    rows: (some, size) =>
      some.map((index) => words('ZRANGE', 'key', Math.min(index, size - 10), Math.min(index, size - 10) + 9)),
    inList: (list, row) => list.range(Number(row[2]), 10),
    inSet(set, row) {
      const from = Number(row[2])
      const members: string[] = []
      set.walk(from, from + 10, false, (member) => members.push(member))
      return members
    },
  },
]

export const figures = sizes.flatMap((size) =>
  cases.map(({ command, rows, inList, inSet }) => (): Figure => {
    const { list, set, store, some } = filled(size)
    const argv = rows(some, size)
    return {
      name: `${command} among ${size.toLocaleString('en')} members over a skip list with spans`,
      baseline: each('skip list', argv, (row) => inList(list, row)),
      variants: [each('sorted set', argv, (row) => inSet(set, row)), executing(command, store, argv)],
      atMost: { 'sorted set': 1 / 1.5 },
      rounds: 9,
    }
  }),
)
