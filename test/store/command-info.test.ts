import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.js'

// COMMAND INFO compared with redis-server 7.0 (recorded by test/support/record-acl.ts).

interface Recorded {
  readonly arity: number
  readonly at: readonly number[]
  readonly flags: readonly string[]
}

type Row = readonly [
  name: string,
  arity: number,
  flags: { text: string }[],
  ...at: [number, number, number],
  ...unknown[],
]

const { commands } = JSON.parse(readFileSync(new URL('../transcripts/permissions.json', import.meta.url), 'utf8')) as {
  readonly commands: Readonly<Record<string, Recorded>>
}
const { store } = createSandbox({ onWarning: () => undefined })

const withSubcommands = (row: Row): Row[] => [row, ...(row[9] as Row[]).flatMap(withSubcommands)]
const rows = (store.run('COMMAND', 'INFO') as unknown as Row[]).flatMap(withSubcommands)
const flagsOf = ([, , flags]: Row): readonly string[] => flags.map((flag) => flag.text ?? String(flag))
const shared = rows.flatMap((row) => {
  const redis = commands[row[0]]
  return redis === undefined ? [] : [[row[0], row, redis] as const]
})

/**
 * The service accepts other numbers of arguments: UNLINK none (store.md, deviations), the ranks WITHSCORE of redis 7.2.
 */
const otherLength: Readonly<Record<string, number>> = { unlink: -1, zrank: -3, zrevrank: -3 }
/** Flags that this table uses as a category and redis-server keeps separate. */
const otherFlags = new Set('eval_ro evalsha_ro fcall_ro lastsave role blmpop bzmpop'.split(' '))

describe('COMMAND INFO', () => {
  it('has the commands that both have', () => {
    expect(shared.length).toBeGreaterThan(250)
  })

  it('has the arity of each', () => {
    const found = shared.filter(([, row, redis]) => row[1] !== redis.arity).map(([name, row]) => [name, row[1]])
    expect(Object.fromEntries(found)).toEqual(otherLength)
  })

  it('has the positions of the keys of each', () => {
    for (const [name, row, redis] of shared) expect([name, ...row.slice(3, 6)]).toEqual([name, ...redis.at])
  })

  it.each(['write', 'readonly', 'denyoom', 'movablekeys', 'blocking', 'noscript', 'admin', 'fast', 'no_multi'])(
    'lists the commands that are %s',
    (flag) => {
      const said = (flags: readonly string[]): boolean => flags.includes(flag)
      const compared = shared.filter(([name]) => !otherFlags.has(name))
      expect(compared.filter(([, row]) => said(flagsOf(row))).map(([name]) => name)).toEqual(
        compared.filter(([, , { flags }]) => said(flags)).map(([name]) => name),
      )
    },
  )

  // Length and keys are derived from the arguments on their pages, flags from those of similar commands.
  it.each([
    ['msetex', -4, [0, 0, 0], ['denyoom', 'movablekeys', 'write']],
    ['delex', -2, [1, 1, 1], ['fast', 'write']],
    ['hgetdel', -5, [1, 1, 1], ['fast', 'write']],
    ['hsetex', -6, [1, 1, 1], ['denyoom', 'fast', 'write']],
  ])('describes %s of a newer version', (name, arity, at, flags) => {
    const [row] = store.run('COMMAND', 'INFO', name) as unknown as Row[]
    expect([row![1], row!.slice(3, 6), flagsOf(row!).toSorted()]).toEqual([arity, at, flags])
  })

  it('finds keys between other arguments', () => {
    const [row] = store.run('COMMAND', 'INFO', 'json.mset') as unknown as Row[]
    expect(row!.slice(3, 6)).toEqual([1, -1, 3])
  })

  it('does not count the channel of a shard as a key', () => {
    expect(() => store.run('COMMAND', 'GETKEYS', 'SPUBLISH', 'c', 'm')).toThrow('The command has no key arguments')
  })
})
