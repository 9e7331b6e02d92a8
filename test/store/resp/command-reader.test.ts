import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromArray } from '../../../src/kernel/bytes.js'
import {
  CommandReader,
  OversizedCommand,
  type ReaderLimits,
  strangersLimits,
} from '../../../src/store/resp/command-reader.js'
import { runs } from '../../support/effort.js'

const limits: ReaderLimits = { command: 1000, words: 1024, word: 5000, line: 65_536 }

function reader(): CommandReader {
  return new CommandReader((bytes, from, to) => fromArray(bytes.subarray(from, to)))
}

/** Returns the commands in bytes that arrive in these portions. */
function read(bytes: string, portions: readonly number[] = [], given: ReaderLimits = limits): unknown[] {
  const commands: unknown[] = []
  const own = reader()
  const array = Buffer.from(bytes, 'latin1')
  for (let at = 0, turn = 0; at < array.length; turn++) {
    const size = portions.length === 0 ? array.length : portions[turn % portions.length]!
    own.push(new Uint8Array(array.subarray(at, at + size)))
    at += size
    for (let argv = own.next(given); argv !== undefined; argv = own.next(given)) commands.push(argv)
  }
  return commands
}

function encoded(argv: readonly string[]): string {
  return `*${argv.length}\r\n${argv.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`
}

const word = fc.uint8Array({ maxLength: 60 }).map((bytes) => fromArray(bytes) as string)
const argv = fc.array(word, { minLength: 1, maxLength: 6 })
const portions = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })

describe('CommandReader', () => {
  test('returns the same commands for all chunk boundaries', () => {
    fc.assert(
      fc.property(fc.array(argv, { maxLength: 5 }), portions, (commands, cuts) => {
        expect(read(commands.map(encoded).join(''), cuts)).toEqual(commands)
      }),
    )
  })

  test('skips a command that is too large, and reads the next one completely', () => {
    fc.assert(
      fc.property(argv, portions, fc.integer({ min: 1001, max: 2000 }), (next, cuts, size) => {
        const [first, second] = read(encoded(['SET', 'k', 'x'.repeat(size)]) + encoded(next), cuts)
        expect(first).toEqual(new OversizedCommand(size + 4))
        expect(second).toEqual(next)
      }),
      { numRuns: runs(30, 30, 300) },
    )
  })

  // Inline lines as redis-server 7.0 splits them.
  test.each([
    ['PING\r\n', ['PING']],
    ['PING\n', ['PING']],
    ['  SET  a\t"b c"\r\n', ['SET', 'a', 'b c']],
    ['SET a "\\x41\\n\\"\\\\"\r\n', ['SET', 'a', 'A\n"\\']],
    ["SET a 'b\\'c\\n'\r\n", ['SET', 'a', "b'c\\n"]],
    ['SET a ""\r\n', ['SET', 'a', '']],
    ['\r\n', []],
    ['*0\r\n', []],
    ['*-1\r\n', []],
  ])('reads %j as %j', (line, words) => {
    expect(read(line, [1])).toEqual([words])
  })

  // Error texts of redis-server 7.0.
  test.each([
    ['*x\r\n', 'invalid multibulk length'],
    ['*99999999999\r\n', 'invalid multibulk length'],
    ['*1\r\n:1\r\n', "expected '$', got ':'"],
    ['*1\r\n$x\r\n', 'invalid bulk length'],
    ['*1\r\n$-1\r\n', 'invalid bulk length'],
    ['*1\r\n$999999999999\r\n', 'invalid bulk length'],
    ['SET a "b\r\n', 'unbalanced quotes in request'],
    ['SET a "b"c\r\n', 'unbalanced quotes in request'],
    ['x'.repeat(65_537), 'too big inline request'],
    [`*${'1'.repeat(70_000)}`, 'too big mbulk count string'],
    [`*1\r\n$${'1'.repeat(70_000)}`, 'too big bulk count string'],
  ])('rejects %j', (bytes, problem) => {
    expect(() => read(bytes)).toThrow(`ERR Protocol error: ${problem}`)
  })

  test('limits clients that have not signed in to short commands', () => {
    expect(() => read('*11\r\n', [], strangersLimits)).toThrow('unauthenticated multibulk length')
    expect(() => read('*2\r\n$4\r\nAUTH\r\n$16385\r\n', [], strangersLimits)).toThrow('unauthenticated bulk length')
  })

  test('keeps no memory for an announced argument that does not arrive', () => {
    const own = reader()
    own.push(new TextEncoder().encode('*1\r\n$5000\r\nabc'))
    expect(own.next(limits)).toBeUndefined()
    expect(own.pending).toBe(0)
  })
})
