import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { wireReply, wordOfWire } from '../../../../src/client/portable-reply.js'
import { controlOperations } from '../../../server/src/control/control.js'
import { type CommandHelp, completions, isStatus, replyText, rowOf, wordsOf } from '../../src/models/console.js'

// Output of redis-cli 7.0.15 with --no-raw for these lines.
const transcript: readonly (readonly [line: string, printed: string])[] = [
  [String.raw`SET greeting "hello \"you\"\n\x01 \xc3\xa9"`, 'OK'],
  ['GET greeting', String.raw`"hello \"you\"\n\x01 \xc3\xa9"`],
  ['GET nothing', '(nil)'],
  [String.raw`RPUSH list a "b c" 'it\'s'`, '(integer) 3'],
  ['LRANGE list 0 -1', '1) "a"\n2) "b c"\n3) "it\'s"'],
  ['LRANGE none 0 -1', '(empty array)'],
  [
    `EVAL "return {1,{2,{'x','y'}},'z',{}}" 0`,
    '1) (integer) 1\n2) 1) (integer) 2\n   2) 1) "x"\n      2) "y"\n3) "z"\n4) (empty array)',
  ],
  ['INCR n', '(integer) 1'],
  ['TYPE list', 'list'],
  ['PING', 'PONG'],
  ['PING hello', '"hello"'],
  [
    `EVAL "local t={} for i=1,11 do t[i]={i,'v'} end return t" 0`,
    Array.from({ length: 11 }, (_, n) => `${String(n + 1).padStart(2)}) 1) (integer) ${n + 1}\n    2) "v"`).join('\n'),
  ],
  ['SET k OK', 'OK'],
  ['GET k', '"OK"'],
  [String.raw`SET bell "\a\b\t\\"`, 'OK'],
  ['GET bell', String.raw`"\a\b\t\\"`],
]

const rows = controlOperations
  .find(({ path }) => path === '/store/commands')!
  .run(createSandbox(), undefined, { query: new URLSearchParams() } as never) as readonly CommandHelp[]

test('wordsOf() and replyText() read arguments and show replies as redis-cli does', () => {
  const { store } = createSandbox()
  for (const [line, printed] of transcript) {
    const words = wordsOf(line)!
    const reply = wireReply(store.run(...words.map(wordOfWire)))
    expect(replyText(reply, isStatus(reply, words, rowOf(rows, line))), line).toBe(printed)
  }
})

test.each(['GET "a', "GET 'a", 'GET "a"b', "GET 'a'b"])('wordsOf() rejects %s, which has an open quote', (line) => {
  expect(wordsOf(line)).toBeUndefined()
})

/** All characters below the surrogates, especially control characters. */
const characters = fc.oneof(fc.nat(0xff), fc.nat(0xd7ff)).map((code) => String.fromCharCode(code))

test('replyText() quotes values that wordsOf() reads as the same bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: characters }), (value) => {
      expect(wordsOf(`SET k ${replyText(value)}`)).toEqual(['SET', 'k', value])
    }),
  )
})

test('wordsOf() returns arguments or undefined for any line, and never hangs', () => {
  fc.assert(fc.property(fc.string(), (line) => void wordsOf(line)))
})

test('completions() and rowOf() find the commands of a line, and the row of the longest name', () => {
  expect(completions(rows, 'getd').map(({ name }) => name)).toEqual(['GETDEL'])
  expect(completions(rows, 'g', 3)).toHaveLength(3)
  expect(completions(rows, 'xgroup c').map(({ name }) => name)).toEqual(['XGROUP CREATE', 'XGROUP CREATECONSUMER'])
  expect(completions(rows, '')).toEqual([])
  expect(rowOf(rows, 'xgroup  create k g $')?.name).toBe('XGROUP CREATE')
  expect(rowOf(rows, 'getx')).toBeUndefined()
})
