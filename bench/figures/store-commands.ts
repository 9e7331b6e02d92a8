// Cost of a command inside the store, over the plain operation that it performs.
import { each, type Figure } from '../harness.ts'
import { type Argv, executing, filled, keysOf, words } from '../store.ts'

const keys = keysOf(100_000)

interface Case {
  readonly name: string
  readonly row: (key: string) => Argv
  /** The same operation without a store. */
  readonly plain: () => (key: string) => unknown
}

const cases: readonly Case[] = [
  {
    name: 'GET',
    row: (key) => words('GET', key),
    plain() {
      const map = new Map(keys.map((key) => [key, 'value']))
      return (key) => map.get(key)
    },
  },
  {
    name: 'SET',
    row: (key) => words('SET', key, 'value'),
    plain() {
      const map = new Map<string, string>()
      return (key) => map.set(key, 'value')
    },
  },
  {
    name: 'INCR',
    row: (key) => words('INCR', key),
    plain() {
      const map = new Map<string, string>()
      return (key) => map.set(key, String(Number(map.get(key) ?? '0') + 1))
    },
  },
  {
    name: 'HSET',
    row: (key) => words('HSET', key, 'field', 'value'),
    plain() {
      const map = new Map<string, Map<string, string>>()
      return (key) => {
        const hash = map.get(key)
        if (hash) hash.set('field', 'value')
        else map.set(key, new Map([['field', 'value']]))
      }
    },
  },
  // A plain array is only fast at its end; adding at its beginning moves all elements.
  push('LPUSH', (list, value) => list.unshift(value)),
  push('RPUSH', (list, value) => list.push(value)),
]

function push(name: string, add: (list: string[], value: string) => void): Case {
  return {
    name,
    row: (key) => words(name, key, 'value'),
    plain() {
      const map = new Map<string, string[]>()
      return (key) => {
        const list = map.get(key)
        if (list) add(list, 'value')
        else map.set(key, ['value'])
      }
    },
  }
}

/** Both variants take the key from an array of arguments, as a request brings it. */
export const figures = cases.map((one) => (): Figure => {
  const plain = one.plain()
  const rows = keys.map(one.row)
  for (const row of rows) plain(row[1]!)
  return {
    name: `${one.name} of 100,000 keys over the same with a Map`,
    baseline: each('Map', rows, (row) => plain(row[1]!)),
    variants: [executing(one.name, filled(rows), rows)],
    atMost: { [one.name]: one.name.startsWith('RPUSH') ? 2 : 1.6 },
  }
})
