import { describe, expect, it } from 'vitest'
import { compareReplies } from './compare-replies.js'
import { asService } from './deviations.js'
import { decodeReply } from './resp.js'
import { newerSection, parseReply, section, showReply, splitWords, wordsAt } from './steps.js'

describe('the written form of transcripts', () => {
  it('splits arguments like a shell', () => {
    expect(splitWords(String.raw`SET  a "b c" 'd\n' "\x00\"\\\n" "" é {ab*3}`)).toEqual([
      'SET',
      'a',
      'b c',
      String.raw`d\n`,
      '\0"\\\n',
      '',
      '\xc3\xa9',
      'ababab',
    ])
    expect(() => splitWords('SET "open')).toThrow('cannot split')
  })

  it('fills in the time', () => {
    const [step] = section('t', 'EXPIREAT k {now+5} {ms-1} {now}').steps
    expect(wordsAt(step!, 1_700_000_000_999)).toEqual(['EXPIREAT', 'k', '1700000005', '1700000000998', '1700000000'])
  })

  it('reads flags, waits, comments and replies of the double', () => {
    const { steps } = section(
      't',
      '# a remark\n~unordered,near SMEMBERS s\n@advance 20\nPING\n  = [1, "a", nil] because y',
    )
    expect(steps.map(({ text }) => text)).toEqual(['~unordered,near SMEMBERS s', '@advance 20', 'PING'])
    expect([...steps[0]!.loose]).toEqual(['unordered', 'near'])
    expect(steps[1]!.advance).toBe(20)
    expect(steps[2]!.ours?.because).toBe('y')
    expect(() => section('t', '~typo PING')).toThrow('unknown flag')
    expect(() => newerSection('t', 'a source', 'PING')).toThrow('no expected reply')
  })

  it.each([
    '12',
    '-3',
    '"a\\"b\\x00"',
    '+OK',
    '-ERR no, [no]',
    'nil',
    'nilarray',
    '[]',
    '[1, "a, b", nil, [2, ["x"]]]',
  ])('reads the reply %s', (text) => {
    expect(showReply(parseReply(text))).toBe(text)
  })

  it('reads raw replies', () => {
    const raw = '*5\r\n$3\r\na\r\n\r\n:-1\r\n*-1\r\n$-1\r\n*1\r\n+OK\r\n'
    expect(showReply(decodeReply(raw))).toBe('["a\\x0d\\x0a", -1, nilarray, nil, [+OK]]')
    expect(() => decodeReply(`${raw}:1\r\n`)).toThrow('follow the reply')
  })
})

describe('comparison of replies', () => {
  const differ = (one: string, other: string, ...flags: never[]) =>
    compareReplies(parseReply(one), parseReply(other), new Set(flags))

  it('is exact without a flag', () => {
    expect(differ('["a", "b"]', '["b", "a"]')).toBe(true)
    expect(differ('nil', 'nilarray')).toBe(true)
    expect(differ('1', '"1"')).toBe(true)
    expect(differ('["a", ["b"]]', '["a", ["b"]]')).toBe(false)
  })

  it('follows the flags', () => {
    const flag = (name: string) => name as never
    expect(differ('["a", "b"]', '["b", "a"]', flag('unordered'))).toBe(false)
    expect(differ('["a", "a"]', '["a", "b"]', flag('unordered'))).toBe(true)
    expect(differ('["a", "1", "b", "2"]', '["b", "2", "a", "1"]', flag('pairs'))).toBe(false)
    expect(differ('["a", "1", "b", "2"]', '["a", "2", "b", "1"]', flag('pairs'))).toBe(true)
    expect(differ('["0", ["a", "b"]]', '["0", ["b", "a"]]', flag('scan'))).toBe(false)
    expect(differ('["0", ["a", "b"]]', '["7", ["b", "a"]]', flag('scan'))).toBe(true)
    expect(differ('["a", 1]', '["b", 2]', flag('shape'))).toBe(false)
    expect(differ('["a", 1]', '[1, "a"]', flag('shape'))).toBe(true)
    expect(differ('-ERR a', '-ERR b', flag('shape'))).toBe(true)
    expect(differ('1000', '1050', flag('near'))).toBe(false)
    expect(differ('1000', '1051', flag('near'))).toBe(true)
  })

  it('applies the deviations of the service', () => {
    const translated = (reply: string, ...argv: string[]) => showReply(asService(parseReply(reply), argv))
    expect(translated('-ERR value is not an integer or out of range', 'INCR')).toBe(
      '-ERR value is not an int or out of range',
    )
    expect(translated('-ERR hash value is not an integer', 'HINCRBY')).toBe('-ERR hash value is not an integer')
    expect(translated('["0.10000000000000001", "1e+20", "1e-05", "2.5", "m"]', 'ZRANGE')).toBe(
      '["0.1", "100000000000000000000", "0.00001", "2.5", "m"]',
    )
    expect(translated('"0.10000000000000001"', 'GET')).toBe('"0.10000000000000001"')
  })
})
