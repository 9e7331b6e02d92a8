import { describe, expect, test } from 'vitest'
import { type Bytes, utf8 } from '../../../src/kernel/bytes.js'
import { VirtualClock } from '../../../src/kernel/clock.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { Access } from '../../../src/store/access/access.js'
import { Blocked } from '../../../src/store/blocking/blocked.js'
import { NilArray, type Reply, Status } from '../../../src/store/command/reply.js'
import { Store } from '../../../src/store/store.js'

function world() {
  const clock = new VirtualClock({ startAt: Date.UTC(2026, 0, 1) })
  const store = new Store({
    clock,
    random: createRandom('waiting'),
    access: new Access({ standard: 'standard-token', readOnly: 'read-only-token' }),
    policy: defaultPolicy,
    docs: 'docs.test',
  })
  /** Who got what, in order. */
  const got: string[] = []
  const begin = (name: string, line: string): Blocked | undefined => {
    const begun = store.begin(line.split(' ').map((word): Bytes => utf8(word)))
    if (begun instanceof Blocked) {
      begun.onEnd((end) => {
        got.push(`${name}: ${'reply' in end ? shown(end.reply) : (end.error as Error).message}`)
      })
      return begun
    }
    got.push(`${name}: ${shown(begun)}`)
    return undefined
  }
  const run = (line: string): Reply => store.run(...line.split(' '))
  return { clock, store, got, begin, run }
}

function shown(reply: Reply): string {
  if (reply instanceof Status) return reply.text
  if (reply === null || reply instanceof NilArray) return 'nil'
  return Array.isArray(reply) ? `[${reply.map(shown).join(' ')}]` : typeof reply === 'string' ? reply : String(reply)
}

describe('who is served', () => {
  test('whoever has waited longest', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP jobs 0')
    begin('b', 'BRPOP jobs 0')
    begin('c', 'BLPOP jobs 0')
    expect(run('RPUSH jobs 1 2 3 4')).toBe(4)
    expect(got).toEqual(['a: [jobs 1]', 'b: [jobs 4]', 'c: [jobs 2]'])
    expect(run('LRANGE jobs 0 -1')).toEqual(['3'])
    expect(store.waiting.size).toBe(0)
  })

  test('at once where there is something, the keys in the order given', () => {
    const { got, begin, run } = world()
    run('RPUSH two x')
    run('RPUSH three y')
    begin('a', 'BLPOP one two three 0')
    expect(got).toEqual(['a: [two x]'])
  })

  test('after the whole transaction, first from the key that was filled first', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP one two 0')
    begin('b', 'BLPOP one 0')
    store.waiting.transaction(() => {
      run('RPUSH two y')
      run('RPUSH one x')
      run('RPUSH two z')
      expect(got).toEqual([])
    })
    expect(got).toEqual(['a: [two y]', 'b: [one x]'])
  })

  test('nobody from a key that a transaction filled and emptied, or that is of another type', () => {
    const { got, begin, run, store } = world()
    begin('a', 'BLPOP jobs 0')
    begin('z', 'BZPOPMIN jobs 0')
    store.waiting.transaction(() => {
      run('RPUSH jobs x')
      run('DEL jobs')
    })
    run('SET jobs x')
    run('DEL jobs')
    expect(got).toEqual([])
    run('ZADD jobs 1 m')
    expect(got).toEqual(['z: [jobs m 1]'])
    run('RPUSH jobs x')
    expect(got).toEqual(['z: [jobs m 1]', 'a: [jobs x]'])
  })

  test('a chain of moves', () => {
    const { got, begin, run } = world()
    begin('a', 'BLMOVE one two LEFT RIGHT 0')
    begin('b', 'BRPOPLPUSH two three 0')
    begin('c', 'BLPOP three 0')
    run('RPUSH one x')
    expect(got).toEqual(['a: x', 'b: x', 'c: [three x]'])
    expect(run('KEYS *')).toEqual([])
  })

  test.each([
    ['RPUSH other x', 'RENAME other jobs'],
    ['RPUSH other x', 'COPY other jobs'],
    ['RPUSH other x', 'SORT other ALPHA STORE jobs'],
    ['RPUSH other x', 'LMOVE other jobs LEFT LEFT'],
    ['RPUSH other x', 'EVAL return(redis.call("rpush","jobs","x")) 0'],
  ])('by whatever makes the key: %s, %s', (...lines) => {
    const { got, begin, run } = world()
    begin('a', 'BLMPOP 0 1 jobs LEFT COUNT 3')
    for (const line of lines) run(line)
    expect(got).toEqual(['a: [jobs [x]]'])
  })
})

describe('time', () => {
  test('ends a wait with nil, after a fraction of a second too', async () => {
    const { clock, got, begin } = world()
    begin('a', 'BLPOP jobs 0.1')
    begin('b', 'BZPOPMAX scores 0.05')
    begin('c', 'BLPOP jobs 0')
    expect(clock.pending().map(({ label }) => label)).toEqual([
      'BZPOPMAX scores waits until 2026-01-01T00:00:00.050Z',
      'BLPOP jobs waits until 2026-01-01T00:00:00.100Z',
    ])
    await clock.advance(99)
    expect(got).toEqual(['b: nil'])
    await clock.drain()
    expect(got).toHaveLength(2)
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 100))
  })
})
