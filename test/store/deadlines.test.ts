import { expect, it } from 'vitest'
import { createEngine } from '../support/engine.js'

// Virtual time may stand still for as long as a test likes, so the same deadline may be set very often.

it('set to the same time again and again, deadlines end each key once and in time', () => {
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

it('the same deadline of one key costs the same however often it was set', () => {
  const engine = createEngine()
  engine.execute(['SET', 'key', 'v'])
  // With every earlier deadline looked at each time, this would not end while anybody waits.
  for (let count = 0; count < 300_000; count++) engine.execute(['PEXPIRE', 'key', '1000'])
  expect(engine.execute(['PTTL', 'key'])).toBe(':1000\r\n')
})

// A live server has lost a millisecond by the time it is asked, so the exact half cannot be recorded reliably.
it('TTL rounds half a second up [redis 7.0]', () => {
  const engine = createEngine()
  engine.execute(['SET', 'k', 'v'])
  engine.execute(['PEXPIRE', 'k', '100500'])
  expect(engine.execute(['TTL', 'k'])).toBe(':101\r\n')
  engine.advance(1)
  expect(engine.execute(['TTL', 'k'])).toBe(':100\r\n')
})

it('knows the last use of every key, whatever second it was in', () => {
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
