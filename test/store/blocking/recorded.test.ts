import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Row } from './programs.js'
import { replayProgram } from './replayed.js'

const programs = JSON.parse(
  readFileSync(new URL('../../transcripts/waiting.json', import.meta.url), 'utf8'),
) as readonly (readonly Row[])[]

test('recorded programs are long enough and serve blocked clients in many ways', () => {
  const served = programs.flatMap((rows) =>
    rows.flatMap(([step, replies]) => {
      const [name = ''] = step.split(' ')
      return Object.keys(replies).filter((other) => other !== name && name === 'main')
    }),
  )
  expect(served.length).toBeGreaterThan(100)
})

test.each(programs.map((rows, at) => [at + 1, rows] as const))(
  'program %i gives every connection the replies of redis-server',
  async (_, rows) => {
    expect(await replayProgram(rows)).toEqual([])
  },
)

test('replayProgram() detects a client that is served in another order', async () => {
  const rows: Row[] = [
    ['c1 BLPOP a 0', {}],
    ['c2 BLPOP a 0', {}],
    ['main RPUSH a x', { c2: '*2\r\n$1\r\na\r\n$1\r\nx\r\n', main: ':1\r\n' }],
  ]
  expect(await replayProgram(rows)).toHaveLength(1)
})
