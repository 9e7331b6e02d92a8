// Cost of one write or one read on a long value, over the same on a short one.
import { each, type Figure, type Variant } from '../harness.ts'
import { type Argv, executing, loneStore, type StoreEngine, shuffled, words } from '../store.ts'

/**
 * Number of elements that are used, at every length. The figure shows whether the algorithm grows; slow access to
 * distant memory affects any table and is excluded.
 */
const hot = 256

interface Case {
  readonly name: string
  /** Returns the command that adds one element. */
  readonly fill: (index: number) => Argv
  /** Returns the measured commands, on the used elements. */
  readonly rows: (hot: readonly number[]) => readonly Argv[]
}

const name = (index: number): string => `element:${index}`

const cases: readonly Case[] = [
  {
    name: 'HSET and HGET',
    fill: (index) => words('HSET', 'key', name(index), 'value'),
    rows: (hot) => hot.flatMap((at) => [words('HSET', 'key', name(at), 'other'), words('HGET', 'key', name(at))]),
  },
  {
    name: 'SADD and SISMEMBER',
    fill: (index) => words('SADD', 'key', name(index)),
    rows: (hot) => hot.flatMap((at) => [words('SADD', 'key', name(at)), words('SISMEMBER', 'key', name(at))]),
  },
  {
    name: 'LPUSH and LPOP',
    fill: (index) => words('RPUSH', 'key', name(index)),
    rows: (hot) => hot.flatMap((at) => [words('LPUSH', 'key', name(at)), words('LPOP', 'key')]),
  },
  {
    name: 'RPUSH and RPOP',
    fill: (index) => words('RPUSH', 'key', name(index)),
    rows: (hot) => hot.flatMap((at) => [words('RPUSH', 'key', name(at)), words('RPOP', 'key')]),
  },
  {
    name: 'ZADD and ZRANK',
    fill: (index) => words('ZADD', 'key', index, name(index)),
    rows: (hot) =>
      // There and back again, so that every ZADD moves its member.
      hot.flatMap((at) => [
        words('ZADD', 'key', at + 40.5, name(at)),
        words('ZRANK', 'key', name(at)),
        words('ZADD', 'key', at, name(at)),
      ]),
  },
]

function filled({ fill }: Case, length: number): StoreEngine {
  const store = loneStore()
  for (const index of shuffled(Array.from({ length }, (_, index) => index))) store.execute(fill(index))
  return store
}

const some = shuffled(Array.from({ length: hot }, (_, index) => 400 + index))

const growth = cases.map((one) => (): Figure => {
  const variant = (length: number): Variant => executing(`${length / 1000}k`, filled(one, length), one.rows(some))
  return {
    name: `${one.name} on 100k elements over 1k`,
    baseline: variant(1000),
    variants: [variant(100_000)],
    atMost: { '100k': 2 },
  }
})

/**
 * Adding and deleting elements makes JavaScript rebuild its tables regularly: a Set of 100k needs 30 times as long for
 * that as one of 1k. So the baseline is a Set of the same length.
 */
function comeAndGo(): Figure {
  const length = 100_000
  const set = new Set(shuffled(Array.from({ length }, (_, index) => name(index))))
  const store = filled(cases.find((one) => one.name.startsWith('SADD'))!, length)
  const pairs = some.map((at) => [words('SREM', 'key', name(at)), words('SADD', 'key', name(at))] as const)
  return {
    name: 'SREM and SADD on 100k elements over delete and add of a Set of 100k',
    baseline: each('Set', pairs, ([[, , member]]) => {
      set.delete(member!)
      set.add(member!)
    }),
    variants: [
      each('set', pairs, ([remove, add]) => {
        store.execute(remove)
        store.execute(add)
      }),
    ],
  }
}

export const figures = [...growth, comeAndGo]
