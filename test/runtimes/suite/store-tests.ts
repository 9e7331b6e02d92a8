import { messageOf, type SuiteTest } from './suite-test.ts'

/** Commands over the SDK, Lua, search and expiration. */
export const storeTests: readonly SuiteTest[] = [
  {
    name: 'Redis: a key expires with virtual time',
    async run({ expect, redis, sandbox: { clock } }) {
      await redis.set('session:7', { name: 'Ada' }, { ex: 3600 })
      expect(await redis.get('session:7')).toEqual({ name: 'Ada' })
      await clock.advance('59m59s')
      expect(await redis.ttl('session:7')).toBe(1)
      await clock.advance('1s')
      expect(await redis.get('session:7')).toBe(null)
    },
  },
  {
    name: 'Redis: text of every plane of Unicode comes back unchanged',
    async run({ expect, redis, sandbox: { store } }) {
      const text = 'ä € 𝄞 \u0000 日本 🦄'
      await redis.set('text', text)
      expect(await redis.get('text')).toBe(text)
      // STRLEN counts bytes: 2 + 3 + 4 + 1 + 2 × 3 + 4, and five spaces.
      expect(store.run('STRLEN', 'text')).toBe(25)
    },
  },
  {
    name: 'Redis: a pipeline continues after an error, and a transaction counts as one',
    async run({ expect, redis, sandbox: { store } }) {
      const pipeline = redis.pipeline().set('name', 'Ada').incr('name').incr('visits')
      const [, failed, visits] = (await pipeline.exec({ keepErrors: true })) as { error?: string; result?: unknown }[]
      expect(failed?.error).toContain('not an int')
      expect(visits?.result).toBe(1)
      await redis.set('seats', 3)
      expect(await redis.multi().decr('seats').incr('tickets').exec()).toEqual([2, 1])
      expect(store.get('seats')).toBe('2')
    },
  },
  {
    name: 'Redis: hashes, lists, sets, sorted sets and streams keep their order',
    async run({ expect, redis }) {
      await redis.hset('hash', { b: 1, a: 'two' })
      expect(await redis.hgetall('hash')).toEqual({ b: 1, a: 'two' })
      await redis.rpush('list', 'x', 'y', 'z')
      expect(await redis.lrange('list', -2, -1)).toEqual(['y', 'z'])
      await redis.zadd('scores', { score: 2, member: 'b' }, { score: 1.5, member: 'a' })
      expect(await redis.zrange('scores', 0, -1, { withScores: true })).toEqual(['a', 1.5, 'b', 2])
      await redis.sadd('left', 1, 2, 3)
      await redis.sadd('right', 2, 3, 4)
      expect(((await redis.sinter('left', 'right')) as unknown as number[]).sort()).toEqual([2, 3])
      const id = await redis.xadd('events', '*', { type: 'paid' })
      // The ID of an entry begins with the time in milliseconds.
      expect(id).toBe(`${Date.UTC(2030, 0, 1, 9)}-0`)
    },
  },
  {
    name: 'Redis: JSON values change by path',
    async run({ expect, redis }) {
      await redis.json.set('doc', '$', { tags: ['a'], stock: { count: 1.5 } })
      await redis.json.numincrby('doc', '$.stock.count', 2)
      await redis.json.arrappend('doc', '$.tags', '"b"')
      expect(await redis.json.get('doc', '$')).toEqual([{ tags: ['a', 'b'], stock: { count: 3.5 } }])
    },
  },
  {
    name: 'Redis: positions and distances are those of redis-server',
    async run({ expect, redis }) {
      // The example of the page of GEODIST.
      await redis.geoadd(
        'Sicily',
        { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' },
        { longitude: 15.087269, latitude: 37.502669, member: 'Catania' },
      )
      expect(Number(await redis.geodist('Sicily', 'Palermo', 'Catania'))).toBe(166274.1516)
      expect(await redis.geohash('Sicily', 'Palermo', 'Catania')).toEqual(['sqc8b49rny0', 'sqdtr74hyu0'])
    },
  },
  {
    name: 'Redis: wrong types are rejected with the text of Redis',
    async run({ expect, redis }) {
      await redis.set('text', 'a')
      expect(await messageOf(() => redis.lpush('text', 'b'))).toContain(
        'WRONGTYPE Operation against a key holding the wrong kind of value',
      )
    },
  },
  {
    name: 'Lua: a script checks and takes',
    async run({ expect, redis, sandbox: { store } }) {
      const sell = redis.createScript<number>(`
        if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then return 0 end
        redis.call('DECRBY', KEYS[1], ARGV[1])
        return 1
      `)
      await redis.set('stock:7', 3)
      expect(await sell.exec(['stock:7'], ['2'])).toBe(1)
      expect(await sell.exec(['stock:7'], ['2'])).toBe(0)
      expect(store.get('stock:7')).toBe('1')
    },
  },
  {
    name: 'Lua: numbers, patterns, tables and cjson',
    async run({ expect, redis }) {
      const script = `
        local words = {}
        for word in string.gmatch(ARGV[1], '%a+') do table.insert(words, string.upper(word)) end
        table.sort(words)
        return { table.concat(words, ','), tostring(10 / 4), string.format('%.3f', 2 / 3), cjson.encode({ id = 42 }) }
      `
      expect(await redis.eval(script, [], ['to be or not'])).toEqual(['BE,NOT,OR,TO', 2.5, 0.667, { id: 42 }])
    },
  },
  {
    name: 'Lua: an endless script ends with an error',
    options: { policy: { maxScriptSteps: 10_000 } },
    async run({ expect, redis }) {
      expect(await messageOf(() => redis.eval('while true do end', [], []))).toContain('ERR')
      expect(await redis.ping()).toBe('PONG')
    },
  },
  {
    name: 'Redis: BLPOP waits in virtual time',
    async run({ expect, sandbox: { clock, store } }) {
      const job = store.connect().run('BLPOP', 'jobs', 30)
      await clock.advance('30s')
      expect(await job).toBe(null)
      expect(clock.now()).toBe(Date.UTC(2030, 0, 1, 9, 0, 30))
    },
  },
]
