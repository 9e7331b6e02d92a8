import fc from 'fast-check'
import { commandTable } from '../../src/store/commands/index.js'
import { type Choose, parseUsage, type Usage, writeCommand } from './usage.js'

/** A command, or milliseconds that pass. */
export type Row = { readonly argv: readonly string[] } | { readonly advance: number }

const keys = ['k', 'l', 'm', '', '\xff\x00']
/** Keys of the group's own, so that most commands meet values they can work on. */
const letters: Readonly<Record<string, string>> = {
  hash: 'h',
  list: 'l',
  set: 's',
  'sorted-set': 'z',
  geo: 'g',
  hyperloglog: 'p',
  stream: 'x',
  bitmap: 'k',
}
const texts = ['a', 'b', '1', '', 'c', '10', '-3', 'ab', '3.5', '\xff\x00', 'hello world', '0', 'x'.repeat(70)]
const integers = [
  '0',
  '1',
  '2',
  '-1',
  '3',
  '-2',
  '10',
  '-100',
  '7',
  '9223372036854775807',
  '-9223372036854775808',
  'x',
  '1.5',
]
const scores = ['1', '2', '0', '-1', '3', '1.5', '-2.5', 'inf', '-inf', '1e3', '0.25', 'nan', 'x']
const bounds = ['-inf', '+inf', '1', '(1', '2', '(2', '0', '[a', '(b', '-', '+', '[', '3', '-1', '(-1', 'x']
const ids = ['1-1', '2-0', '0', '1', '2-3', '5-5', '3-*', '0-0', 'x']
/** An even number of seconds that is no multiple of four, while time moves in multiples of four: never a close call. */
const seconds = ['10', '50', '98', '2', '10', '50', '0', '-1', 'x', '9223372036854775807']
const milliseconds = seconds.map((each) => (/^\d{1,2}$/.test(each) ? `${each}000`.replace(/^0000$/, '0') : each))

const pools: Readonly<Record<string, readonly string[]>> = {
  seconds,
  milliseconds,
  ms: milliseconds,
  pattern: ['*', 'a*', '?', '[a-c]*', '\\*', '[^a]', ''],
  offset: ['0', '1', '7', '8', '100', '-1', '#1', '4294967296', 'x'],
  bit: ['0', '1', '2'],
  operation: ['AND', 'OR', 'XOR', 'NOT'],
  encoding: ['u8', 'i8', 'u4', 'i64', 'u63', 'i5', 'u64', 'x'],
  longitude: ['13.361389', '15.087269', '2.35', '-122.4', '180', '181', 'x'],
  latitude: ['38.115556', '37.502669', '48.85', '37.77', '86', 'x'],
  radius: ['200', '0', '10', '5000', '25000', '-1', 'x'],
  width: ['400', '10', '5000', '-1'],
  height: ['400', '10', '5000', 'x'],
  member: ['a', 'b', 'c', 'd', 'e', '', 'aa', '\xff', '1'],
  field: ['a', 'b', 'c', '', '1', '\xff\x00'],
  element: ['a', 'b', 'c', '', '1', '\xff\x00', 'a', 'b'],
  score: scores,
  weight: scores,
  min: bounds,
  max: bounds,
  count: ['1', '2', '3', '0', '10', '-1', '-3', 'x'],
  limit: ['0', '1', '2', '-1', 'x'],
  cursor: ['0'],
  type: ['string', 'list', 'zset'],
  id: ids,
  threshold: ['1', '2', '0', '5', '1-1', '-1'],
  group: ['g', 'h'],
  consumer: ['c', 'd'],
  increment: [...integers, '0.5', '2.25', '-1.5'],
}
const numbers = new Set(
  'start end stop index decrement rank num-matches len entries-added entries-read min-idle-time integer numreplicas timeout'.split(
    ' ',
  ),
)
const keyNames = new Set(['key', 'source', 'destination', 'destkey', 'newkey'])

function wordOf(group: string): (name: string, choose: Choose) => string {
  const own = letters[group] ?? 'k'
  return (name, choose) => {
    const pick = (pool: readonly string[]) => pool[choose(pool.length)]!
    if (keyNames.has(name))
      return choose(8) === 7 ? pick([...keys, ...Object.values(letters)]) : pick([own, `${own}2`, own, `${own}\xff`])
    if (numbers.has(name)) return pick(integers)
    return pick(pools[name] ?? texts)
  }
}

interface Form {
  readonly name: string
  readonly group: string
  readonly usage: Usage
}

/** The forms of the commands that are wanted, by name. */
export function formsOf(wanted: (name: string, group: string) => boolean): readonly Form[] {
  return commandTable.commands
    .filter(({ name, group }) => wanted(name, group))
    .map(({ name, group, usage }) => ({ name, group, usage: parseUsage(usage) }))
}

/** Draws of one command. They shrink to nothing, which is the simplest way to write it. */
const entropy = fc.array(fc.nat({ max: 0xffff }), { minLength: 16, maxLength: 24, size: 'max' })

export function rowOf(forms: readonly Form[], options: { readonly mistakes: boolean }): fc.Arbitrary<Row> {
  const command = fc.tuple(fc.nat({ max: forms.length - 1 }), entropy).map(([index, draws]): Row => {
    const { group, usage } = forms[index]!
    let at = 0
    const choose: Choose = (count) => (draws[at++] ?? 0) % count
    const argv = writeCommand(usage, choose, wordOf(group))
    if (options.mistakes && choose(20) === 19)
      argv.splice(1 + choose(argv.length), choose(2), ...(choose(2) ? [texts[choose(texts.length)]!] : []))
    return { argv }
  })
  const wait = fc.constantFrom(4000, 8000, 40_000).map((advance): Row => ({ advance }))
  return fc.oneof({ weight: 19, arbitrary: command }, { weight: 1, arbitrary: wait })
}

/** Rows as text that can be pasted into a transcript. */
export function showRows(rows: readonly Row[]): string {
  return rows
    .map((row) =>
      'advance' in row ? `@advance ${row.advance}` : row.argv.map((word) => JSON.stringify(word)).join(' '),
    )
    .join('\n')
}
