import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createEngine } from '../support/engine.js'

// Virtual time does not move unless the test moves it, so the same expiration may be set many times.

it('expirations that are set to the same instant repeatedly end each key once and in time', () => {
  const events: string[] = []
  const engine = createEngine((event, key) => events.push(`${event} ${key}`))
  const rows = [
    ['PEXPIRE', 'a', '1000'],
    ['PEXPIRE', 'hash', '3000'],
    ['HPEXPIRE', 'hash', '2000', 'FIELDS', '1', 'f'],
    ['SET', 'b', 'v', 'PX', '1500'],
  ]
  engine.execute(['SET', 'a', 'v'])
  engine.execute(['HSET', 'hash', 'f', 'v', 'g', 'v'])
  for (let count = 0; count < 500; count++) for (const row of rows) engine.execute(row)
  events.length = 0
  const left = [999, 1, 500, 500, 1000].map((step) => {
    engine.advance(step)
    return engine.execute(['DBSIZE'])
  })
  expect(left).toEqual([':3\r\n', ':2\r\n', ':1\r\n', ':1\r\n', ':0\r\n'])
  expect(events).toEqual(['expired a', 'expired b', 'hexpired hash', 'expired hash'])
})

it('setting the expiration of one key costs the same however often it was set', () => {
  const engine = createEngine()
  engine.execute(['SET', 'key', 'v'])
  // If each call visited all earlier expirations, this test would not end.
  for (let count = 0; count < 300_000; count++) engine.execute(['PEXPIRE', 'key', '1000'])
  expect(engine.execute(['PTTL', 'key'])).toBe(':1000\r\n')
})

// A live server has lost a millisecond until the reply, so the exact half cannot be recorded reliably.
it('TTL rounds half a second up [redis 7.0]', () => {
  const engine = createEngine()
  engine.execute(['SET', 'k', 'v'])
  engine.execute(['PEXPIRE', 'k', '100500'])
  expect(engine.execute(['TTL', 'k'])).toBe(':101\r\n')
  engine.advance(1)
  expect(engine.execute(['TTL', 'k'])).toBe(':100\r\n')
})

it('OBJECT IDLETIME knows the last use of every key in every second', () => {
  const engine = createEngine()
  const idle = (key: string) => engine.execute(['OBJECT', 'IDLETIME', key])
  engine.execute(['SET', 'a', 'v'])
  engine.execute(['SET', 'b', 'v'])
  engine.advance(5000)
  engine.execute(['RPUSH', 'c', 'v'])
  engine.execute(['GET', 'b'])
  engine.advance(3000)
  expect([idle('a'), idle('b'), idle('c')]).toEqual([':8\r\n', ':3\r\n', ':3\r\n'])
  engine.execute(['SET', 'a', 'w'])
  expect(idle('a')).toBe(':0\r\n')
  engine.execute(['DEL', 'a', 'b', 'c'])
  engine.execute(['SET', 'd', 'v'])
  engine.advance(2000)
  expect(idle('d')).toBe(':2\r\n')
})

// Measured with redis-server 7.0.15, which needs a few seconds of waiting.
it.each([
  ['GET s', 0],
  ['STRLEN s', 0],
  ['BITCOUNT raw', 0],
  ['GETBIT raw 1', 0],
  ['MGET list', 0],
  ['DUMP s', 0],
  ['SETNX s w', 0],
  ['MSETNX new 1 s 2', 0],
  ['SET s w NX', 0],
  ['EXPIRE s 100', 0],
  ['EXPIRE s 100 XX', 0],
  ['PERSIST s', 0],
  ['RENAMENX list s', 0],
  ['COPY s new', 0],
  ['COPY list s', 0],
  ['SORT list ALPHA', 0],
  ['ZUNION 1 z', 0],
  ['TOUCH s', 0],
  ['EXISTS s', 5],
  ['TYPE s', 5],
  ['TTL s', 5],
  ['OBJECT ENCODING s', 5],
  ['MEMORY USAGE s', 5],
  ['SCAN 0', 5],
  ['KEYS *', 5],
] as const)('%s counts as a use or not: idle for %i s afterwards', (command, idle) => {
  const engine = createEngine()
  for (const row of ['SET s v', 'SET raw a', 'APPEND raw b', 'RPUSH list a', 'ZADD z 1 a'])
    engine.execute(row.split(' '))
  engine.advance(5000)
  const words = command.split(' ')
  engine.execute(words)
  const key = words.findLast((word) => ['s', 'raw', 'list', 'z'].includes(word)) ?? 's'
  expect(engine.execute(['OBJECT', 'IDLETIME', key])).toBe(`:${idle}\r\n`)
})

// "HEXPIREAT accepts times as far away as milliseconds given for seconds" [store.md, facts found later]
it('fields accept every expiration that keys accept, including milliseconds given as seconds', () => {
  const time = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n }),
    fc.bigInt({ min: 1_700_000_000_000n, max: 2_000_000_000_000n }),
    fc.constantFrom(2n ** 46n - 1n, 2n ** 46n, (2n ** 63n - 1n) / 1000n, (2n ** 63n - 1n) / 1000n + 1n, 2n ** 63n - 1n),
  )
  const kinds = ['EXPIREAT', 'PEXPIREAT', 'EXPIRE', 'PEXPIRE']
  fc.assert(
    fc.property(time, fc.constantFrom(...kinds), (at, name) => {
      const engine = createEngine()
      engine.execute(['SET', 'key', 'v'])
      engine.execute(['HSET', 'hash', 'f', 'v', 'g', 'v'])
      const ofKey = engine.execute([name, 'key', String(at)])
      const ofField = engine.execute([`H${name}`, 'hash', String(at), 'FIELDS', '1', 'f'])
      const isThere = engine.execute(['EXISTS', 'key']) === ':1\r\n'
      const expected = ofKey.startsWith('-')
        ? ofKey.replace(`'${name.toLowerCase()}'`, `'h${name.toLowerCase()}'`)
        : `*1\r\n:${isThere ? 1 : 2}\r\n`
      expect(ofField).toBe(expected)
      expect(engine.execute(['HEXISTS', 'hash', 'f'])).toBe(isThere ? ':1\r\n' : ':0\r\n')
      if (isThere) {
        const end = engine.execute(['PEXPIRETIME', 'key'])
        expect(engine.execute(['HPEXPIRETIME', 'hash', 'FIELDS', '1', 'f'])).toBe(`*1\r\n${end}`)
      }
    }),
  )
})
