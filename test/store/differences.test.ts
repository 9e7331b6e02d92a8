import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type ComparedSystem, namedDifference, namedDifferences } from '../../src/store/differences.js'
import { deviations } from '../support/deviations.js'
import type { RespReply } from '../support/resp.js'

const error = (text: string): { error: string } => ({ error: text })
const notAvailable = error(
  "ERR Command is not available: 'X'. See https://docs.test/redis/overall/rediscompatibility for details",
)
const unknown = (name: string): { error: string } => error(`ERR unknown command '${name}', with args beginning with: `)
const wrongNumber = (name: string): { error: string } => error(`ERR wrong number of arguments for '${name}' command`)
const scriptError = (line: string): { error: string } =>
  error(`ERR Error running script: ${line}\nstack traceback:\n\t[G]: ?`)
const notInt = error('ERR value is not an int or out of range')
const notInteger = error('ERR value is not an integer or out of range')
const badPayload = error('ERR DUMP payload version or checksum are wrong')

type Row = readonly [name: string, argv: string, double: unknown, other: unknown]

/** Replies recorded from redis-server 7.0.15 that differ from the double. */
const seenOfRedis: readonly Row[] = [
  ['int or integer', 'INCR k', notInt, notInteger],
  ['int or integer', 'INCR k', `-${notInt.error}\r\n`, `-${notInteger.error}\r\n`],
  ['unknown commands', 'NOSUCH', notAvailable, unknown('NOSUCH')],
  ['unknown commands', 'PUBSUB NOSUCH', notAvailable, error("ERR unknown subcommand 'NOSUCH'. Try PUBSUB HELP.")],
  ['commands without a page', 'SORT l', notAvailable, ['1', '2']],
  ['one database', 'MOVE k 1', error('ERR DB index is out of range'), 1],
  ['one database', 'SWAPDB 0 1', error('ERR DB index is out of range'), 'OK'],
  ['newer commands', 'JSON.GET k', null, unknown('JSON.GET')],
  ['newer commands', 'HTTL h FIELDS 1 f', [-2], unknown('HTTL')],
  ['newer commands', 'DIGEST l', error('WRONGTYPE Operation'), unknown('DIGEST')],
  ['newer options', 'SET k v IFEQ w', 'OK', error('ERR syntax error')],
  ['newer options', 'BITOP DIFF r a b', 1, error('ERR syntax error')],
  ['newer options', 'ZRANK z a WITHSCORE', [0, '1'], wrongNumber('zrank')],
  ['newer options', 'SCAN 0 WITHTYPE', ['0', []], error('ERR syntax error')],
  ['newer options', 'XREAD STREAMS x +', null, error('ERR Invalid stream ID specified as stream command argument')],
  ['about the server', 'XGROUP HELP', ['XGROUP <subcommand>', 'HELP'], ['XGROUP <subcommand>']],
  ['flag allow-key-locking', 'EVAL x 0', 1, error('ERR Unexpected flag in script shebang: allow-key-locking')],
  ['passed over', 'UNLINK', 0, wrongNumber('unlink')],
  ['passed over', 'COPY a a', 0, error('ERR source and destination objects are the same')],
  ['passed over', 'XINFO CONSUMERS k g', [], error("NOGROUP No such consumer group 'g' for key name 'k'")],
  [
    'LIMIT with ranks',
    'ZRANGE z 0 -1 LIMIT 0 1',
    ['a'],
    error('ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX'),
  ],
  ['one database', 'COPY a b DB 1', error('ERR DB index is out of range'), 1],
  [
    'FCALL_RO without no-writes',
    'FCALL_RO f 0',
    'v',
    error('ERR Can not execute a script with write flag using *_ro command.'),
  ],
  ['shortest digits', 'ZSCORE z a', '0.1', '0.10000000000000001'],
  ['shortest digits', 'ZRANGE z 0 -1 WITHSCORES', ['a', '0.1', 'b', '0'], ['a', '0.10000000000000001', 'b', '-0']],
  ['shortest digits', 'EVAL x 0', '3.7', '3.7000000000000002'],
  ['double precision', 'INCRBYFLOAT f 0.2', '0.30000000000000004', '0.3'],
  [
    'frame of script errors',
    'EVAL x 0',
    scriptError('@user_script:1: value is not an int or out of range'),
    error('ERR value is not an integer or out of range script: 61636018, on @user_script:1.'),
  ],
  [
    'frame of script errors',
    'EVAL ( 0',
    error("ERR Error running script: @user_script line:1(column:9) near ')': syntax error (unexpected symbol)"),
    error("ERR Error compiling script (new function): user_script:1: unexpected symbol near ')'"),
  ],
  ['client address in MONITOR', '', '1.5 [0 0.0.0.0:0] "get" "k"', '1.5 [0 127.0.0.1:47664] "get" "k"'],
  ['approximate trimming of streams', 'XTRIM x MAXLEN ~ 1', 0, 99],
  ['payloads of DUMP', 'DUMP k', 'a', 'b'],
  ['payloads of DUMP', 'RESTORE k 0 a', badPayload, 'OK'],
  ['about the server', 'OBJECT ENCODING k', 'listpack', 'hashtable'],
  ['about the server', 'MEMORY USAGE k', 60, 56],
  ['about the server', 'COMMAND', [], [['get', 2]]],
  ['about the server', 'LASTSAVE', 1767225600, 1795713495],
  ['about the server', 'SLOWLOG GET', [], [[0, 1]]],
  ['about the server', 'XINFO STREAM x', ['length', 1, 'radix-tree-keys', 1], ['length', 1, 'radix-tree-keys', 2]],
]

/** Replies of the service according to the fact sheet that differ from the double. */
const seenOfTheService: readonly Row[] = [
  [
    'traceback of script errors',
    'EVAL x 0',
    scriptError('@user_script:1: boom'),
    error("ERR Error running script: @user_script:1: boom\nstack traceback:\n\t[G]: in function 'call'\n\t[G]: ?"),
  ],
  [
    'traceback of script errors',
    'EVAL x 0',
    error("ERR Error running script: @user_script line:2(column:3) near 'local': syntax error (unexpected symbol)"),
    error("ERR Error running script: @user_script line:2(column:7) near 'local': syntax error"),
  ],
  ['commands without a page', 'SORT l', ['1', '2'], notAvailable],
  ['approximate trimming of streams', 'XTRIM x MAXLEN ~ 1', 0, 10],
  ['about the server', 'INFO server', 'redis_version:8.2.0', 'redis_version:6.2.6'],
  ['about the server', 'JSON.DEBUG MEMORY j', 100, 120],
  ['payloads of DUMP', 'DUMP k', 'a', 'b'],
  ['arrays and vectors', 'ARGET a 1', 'x', notAvailable],
  ['arrays and vectors', 'VECTOR.COUNT v', 0, notAvailable],
  ['wording of JSON errors', 'JSON.SET j $.a 1', error('ERR new objects must be created at the root'), error('ERR no')],
]

const wordsOf = (line: string): string[] => line.split(' ').filter(Boolean)
const nameOf = (argv: string, double: unknown, other: unknown, of: ComparedSystem): string | undefined =>
  namedDifference({ argv: wordsOf(argv), double, other }, of)?.name

test.each(seenOfRedis)('recognizes %s of redis-server: %s', (name, argv, double, other) => {
  expect(nameOf(argv, double, other, 'redis')).toBe(name)
})

test.each(seenOfTheService)('recognizes %s of the service: %s', (name, argv, double, other) => {
  expect(nameOf(argv, double, other, 'service')).toBe(name)
})

test('has an example for every row and each of its systems', () => {
  const seen = { redis: seenOfRedis, service: seenOfTheService }
  const rows = namedDifferences.flatMap(({ name, of }) => of.map((other) => [name, other] as const))
  expect(rows.filter(([name, other]) => !seen[other].some(([one]) => one === name))).toEqual([])
})

test.each([
  ['GET k', 'a', 'b'],
  ['GET k', null, 'b'],
  ['GET k', '0.1', '0.10000000000000001'],
  ['INCR k', 2, 3],
  ['INCRBYFLOAT f 1', '1.5', '2.5'],
  ['INCRBYFLOAT f 1', '1.5', error('ERR value is not a valid float')],
  ['ZRANGE z 0 -1 WITHSCORES', ['a', '1'], ['a', '2']],
  ['ZRANGE z 0 -1', ['a'], ['a', 'b']],
  ['ZRANGE z 0 -1', ['1'], ['1.0']],
  ['ZRANGE z 0 -1 LIMIT 0 1', ['a'], error('WRONGTYPE Operation')],
  ['UNLINK', 1, wrongNumber('unlink')],
  ['COPY a b', 0, 1],
  ['LPUSH k a', error('WRONGTYPE Operation against a key holding the wrong kind of value'), 1],
  ['SET k v', error('ERR syntax error'), notInteger],
  ['SET IFEQ v', 'OK', error('ERR syntax error')],
  ['GET k', 'v', unknown('GET')],
  ['GET k', notAvailable, 'v'],
  ['GET k', 'v', notAvailable],
  ['SORT l', ['1', '2'], ['2', '1']],
  ['GET k', error('ERR DB index is out of range'), 'v'],
  ['XTRIM x MAXLEN ~ 1', 0, error('ERR syntax error')],
  ['XADD x MAXLEN ~ 1 1-1 f v', '1-1', '1-2'],
  ['EVAL x 0', scriptError('@user_script:1: boom'), error('ERR user_script:1: bang script: 6163, on @user_script:1.')],
  ['EVAL x 0', scriptError('@user_script:1: boom'), 1],
  ['EVAL x 0', 1, scriptError('@user_script:1: boom')],
  ['INFO', 'a', error('ERR no')],
  ['MEMORY USAGE k', null, 56],
  ['XINFO STREAM x', ['length', 1], ['length', 2]],
  ['XINFO GROUPS x', ['a'], ['b']],
  ['DUMP k', null, 'b'],
  ['RESTORE k 0 a', 'OK', error('BUSYKEY Target key name already exists.')],
  ['JSON.GET k', error('ERR Path does not exist'), wrongNumber('json.get')],
  ['JSON.GET k', error('ERR Path does not exist'), null],
  ['JSON.GET k', error('ERR syntax error'), error('ERR Path does not exist')],
  ['', '1.5 [0 0.0.0.0:0] "get" "k"', '1.5 [0 127.0.0.1:47664] "get" "other"'],
])('does not excuse other replies: %s with %j and %j', (argv, double, other) => {
  expect([nameOf(argv, double, other, 'redis'), nameOf(argv, double, other, 'service')]).toEqual([undefined, undefined])
})

test.each(namedDifferences.map(({ name, where }) => [name, where]))(
  '%s refers to the published page %s',
  (_, where) => {
    const [, page, section] = /^(docs\/\S+\.md)(?: ([\d.]+))?$/.exec(where)!
    const file = new URL(`../../${page}`, import.meta.url)
    expect(existsSync(file)).toBe(true)
    if (section !== undefined) {
      expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^#+ ${section.replace('.', '\\.')}\\.? `, 'm'))
    }
  },
)

/** Returns a reply of redis-server in the form of the tests in `test/twin`; lists are omitted. */
function asReply(other: unknown): RespReply | undefined {
  if (typeof other === 'string') return { bulk: other }
  return typeof other === 'object' && other !== null && 'error' in other ? (other as RespReply) : undefined
}

// There is no second list of known differences: every translation in `test/twin` has a row.
test('has a row for each rule of the comparison with redis-server', () => {
  const changes = (rule: (typeof deviations)[number]): boolean =>
    seenOfRedis.some(([, argv, , other]) => {
      const reply = asReply(other)
      return reply !== undefined && rule.translate(reply, wordsOf(argv)) !== reply
    })
  expect(deviations.filter((rule) => !changes(rule)).map(({ because }) => because)).toEqual([])
})
