import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs, seedOr } from '../support/effort.js'
import { createEngine } from '../support/engine.js'
import { type Row, rows as rowsOf, showRows } from '../support/random-rows.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { commands, NaiveError, type NaiveReply, NaiveStore } from './naive.js'

// Compares replies to sequences of random commands, which follow the usage in the command table, with those of the
// naive store.

const known = {
  only: (name: string) => name in commands,
  // Most forms of SET have an option that the naive store does not support, so SET is tried more often.
  weight: (name: string) => (name === 'SET' ? 9 : 1),
}

/** Options that the naive store does not support, and arguments with which it would need gigabytes. */
function isKnown(row: Row): boolean {
  if ('advance' in row) return true
  const [name, ...words] = row.argv
  if (words.some((word) => /^(IF(D)?(EQ|NE)|EXAT|PXAT)$/.test(word))) return false
  // Scores, some of which only C's strtod can read.
  if (name === 'ZCOUNT' && words.slice(1).some((word) => /^[[+-]$|^\[|^\(?$/.test(word))) return false
  return !(name === 'SETRANGE' && Number(words[1]) > 1e6) && !(name === 'SETBIT' && Number(words[1]) > 1e6)
}

const unordered = /^(SMEMBERS|SINTER|SUNION|SDIFF|HGETALL|HKEYS|HVALS)$/

function ofNaive(reply: NaiveReply, name: string): string {
  if (reply === null) return 'nil'
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply)
  if (typeof reply === 'string') return JSON.stringify(reply)
  if ('status' in reply) return `+${reply.status}`
  const items = reply.map((item) => ofNaive(item, ''))
  return `[${(unordered.test(name) ? items.sort() : items).join(', ')}]`
}

function ofOurs(reply: RespReply, name: string): string {
  if ('error' in reply) return `-${reply.error.split(' ')[0]}`
  if ('status' in reply) return `+${reply.status}`
  if ('integer' in reply) return reply.integer
  if ('nil' in reply) return 'nil'
  if ('bulk' in reply) return JSON.stringify(reply.bulk)
  let items = reply.array.map((item) => ofOurs(item, ''))
  if (name === 'HGETALL')
    items = items.flatMap((item, at) => (at % 2 ? [] : [`${item.slice(0, -1)}: ${items[at + 1]!.slice(1)}`]))
  return `[${(unordered.test(name) ? items.sort() : items).join(', ')}]`
}

function naiveAnswer(store: NaiveStore, argv: readonly string[]): string {
  try {
    return ofNaive(store.execute(argv), argv[0]!)
  } catch (error) {
    if (error instanceof NaiveError) return `-${error.message}`
    throw error
  }
}

it('the store replies to sequences of 50 commands on average as the naive store does', () => {
  const sequences = fc.array(rowsOf(known).filter(isKnown), {
    minLength: 1,
    maxLength: 99,
    size: 'max',
  })
  fc.assert(
    fc.property(sequences, (rows) => {
      const engine = createEngine()
      const naive = new NaiveStore()
      naive.now = engine.now()
      rows.forEach((row, at) => {
        if ('advance' in row) {
          engine.advance(row.advance)
          naive.now += row.advance
          return
        }
        const got = ofOurs(decodeReply(engine.execute(row.argv)), row.argv[0]!)
        const expected = naiveAnswer(naive, row.argv)
        if (got !== expected)
          expect.fail(`${showRows(rows.slice(0, at + 1))}\n= ${got}, but the naive store says ${expected}`)
      })
    }),
    { numRuns: runs(1000, 1000, 10_000), seed: seedOr(20_300_101) },
  )
})
