import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { Rest } from '../support/ask.js'

// Limits of plans. Expectations: store.md 10.

const docs = 'https://docs.service.test'

describe('request size', () => {
  const tooLarge = (actual: number) => ({
    error: `ERR max request size exceeded. Limit: 100 bytes, Actual: ${actual} bytes. See ${docs}/redis/troubleshooting/max_request_size_exceeded for details`,
  })
  const open = () => Rest.open({ policy: { maxRequestSize: 100 } })

  it('limits the arguments of one command: 413', async () => {
    const rest = open()
    expect((await rest.post('/', ['SET', 'k', 'x'.repeat(96)])).json).toEqual({ result: 'OK' })
    expect(await rest.post('/', ['SET', 'k', 'x'.repeat(97)])).toMatchObject({ status: 413, json: tooLarge(101) })
    expect(await rest.post('/set/k', 'x'.repeat(97))).toMatchObject({ status: 413, json: tooLarge(101) })
    expect((await rest.get('/get/k')).json).toEqual({ result: 'x'.repeat(96) })
  })

  it('is an error of one item in a pipeline, which may be larger as a whole', async () => {
    const rest = open()
    const rows = [
      ['SET', 'a', 'x'.repeat(90)],
      ['SET', 'b', 'x'.repeat(97)],
      ['SET', 'c', 'x'.repeat(90)],
    ]
    expect(await rest.post('/pipeline', rows)).toMatchObject({
      status: 200,
      json: [{ result: 'OK' }, tooLarge(101), { result: 'OK' }],
    })
  })

  it('discards a transaction', async () => {
    const rest = open()
    const rows = [
      ['SET', 'a', '1'],
      ['SET', 'b', 'x'.repeat(97)],
    ]
    expect(await rest.post('/multi-exec', rows)).toMatchObject({ status: 400, json: tooLarge(101) })
    expect(await rest.run('DBSIZE')).toBe(0)
  })

  it('also limits a result: 200 with an error', async () => {
    const rest = open()
    await rest.run('RPUSH', 'l', 'x'.repeat(60))
    await rest.run('RPUSH', 'l', 'y'.repeat(60))
    expect(await rest.get('/lrange/l/0/-1')).toMatchObject({ status: 200, json: tooLarge(120) })
    expect(
      (
        await rest.post('/pipeline', [
          ['LRANGE', 'l', '0', '-1'],
          ['LLEN', 'l'],
        ])
      ).json,
    ).toEqual([tooLarge(120), { result: 2 }])
    expect((await rest.post('/multi-exec', [['LRANGE', 'l', '0', '-1']])).json).toEqual([tooLarge(120)])
  })

  it('is 10 MB by default', async () => {
    const rest = Rest.open()
    expect((await rest.post('/set/k', 'x'.repeat(10_485_760 - 4))).status).toBe(200)
    expect((await rest.post('/set/k', 'x'.repeat(10_485_760 - 3))).status).toBe(413)
  })

  it('does not limit direct use', () => {
    const { store } = open().sandbox
    expect(store.run('SET', 'k', 'x'.repeat(200))).toBe('OK')
  })
})

describe('requests per day and month', () => {
  const daily = {
    error: `ERR max daily request limit exceeded. Limit: 3, Usage: 4. See ${docs}/redis/troubleshooting/max_daily_request_limit for details`,
  }
  const monthly = {
    error: `ERR max requests limit exceeded. Limit: 3, Usage: 3. See ${docs}/redis/troubleshooting/max_requests_limit for details`,
  }

  it('use days of the virtual clock', async () => {
    const rest = Rest.open({ policy: { dailyRequestLimit: 3 }, startAt: '2030-01-31T23:00:00Z' })
    for (let count = 0; count < 3; count++) expect((await rest.get('/ping')).status).toBe(200)
    expect(await rest.get('/ping')).toMatchObject({ status: 400, json: daily })
    await rest.sandbox.clock.advance('59m')
    expect((await rest.get('/ping')).json).toEqual(daily)
    await rest.sandbox.clock.advance('1m')
    expect((await rest.get('/ping')).status).toBe(200)
  })

  it('use months of the calendar', async () => {
    const rest = Rest.open({ policy: { monthlyRequestLimit: 3 }, startAt: '2032-02-27T00:00:00Z' })
    for (let count = 0; count < 3; count++) expect((await rest.get('/ping')).status).toBe(200)
    expect(await rest.get('/ping')).toMatchObject({ status: 400, json: monthly })
    await rest.sandbox.clock.advanceTo('2032-02-29T23:59:59.999Z')
    expect((await rest.get('/ping')).json).toEqual(monthly)
    await rest.sandbox.clock.advanceTo('2032-03-01T00:00:00Z')
    expect((await rest.get('/ping')).status).toBe(200)
  })

  it('are an error of an item in a pipeline, and discard a transaction', async () => {
    const rest = Rest.open({ policy: { dailyRequestLimit: 3 } })
    const rows = [
      ['INCR', 'n'],
      ['INCR', 'n'],
      ['INCR', 'n'],
      ['INCR', 'n'],
    ]
    expect(await rest.post('/multi-exec', rows)).toMatchObject({ status: 400, json: daily })
    expect(await rest.post('/pipeline', rows)).toMatchObject({
      status: 200,
      json: [{ result: 1 }, { result: 2 }, { result: 3 }, daily],
    })
  })

  // store.md 4: MULTI and EXEC also count, and service.md A: a transaction over the limit is discarded as a whole.
  it.each([
    [1, 200],
    [2, 400],
    [3, 400],
  ])('run or discard a transaction of %i commands as a whole', async (length, status) => {
    const rest = Rest.open({ policy: { dailyRequestLimit: 3 } })
    const rows = Array.from({ length }, () => ['INCR', 'n'])
    const answer = await rest.post('/multi-exec', rows)
    expect(answer).toMatchObject({ status, json: status === 200 ? [{ result: 1 }] : daily })
    expect(rest.sandbox.store.get('n')).toBe(status === 200 ? '1' : null)
    expect(rest.sandbox.store.cost().today).toBe(status === 200 ? 3 : 0)
  })
})

describe('storage', () => {
  it('rejects writes when full, but allows reads and deletes', async () => {
    const rest = Rest.open({ policy: { maxStorageSize: 10 } })
    await rest.run('SET', 'key', '12345678')
    expect(await rest.get('/set/a/b')).toMatchObject({
      status: 400,
      json: { error: `ERR DB capacity quota exceeded. Threshold: 10 bytes, Usage: 11 bytes. See ${docs} for details` },
    })
    expect((await rest.get('/get/key')).json).toEqual({ result: '12345678' })
    expect((await rest.get('/del/key')).json).toEqual({ result: 1 })
    expect((await rest.get('/set/a/b')).json).toEqual({ result: 'OK' })
  })

  it('counts every type', async () => {
    const rest = Rest.open({ policy: { maxStorageSize: 1 } })
    const { store } = rest.sandbox
    store.run('RPUSH', 'l', 'ab', 'c')
    store.run('SADD', 's', 'abc')
    store.run('HSET', 'h', 'a', 'bc')
    store.run('ZADD', 'z', 1, 'abc')
    store.run('XADD', 'x', '1-1', 'a', 'bc')
    store.run('JSON.SET', 'j', '$', '"abc"')
    const { error } = (await rest.get('/set/a/b')).json as { error: string }
    const usage = Number(/Usage: (\d+)/.exec(error)![1])
    // Six names of one byte, five times three bytes, a score, two halves of an ID, and some JSON.
    expect(usage).toBeGreaterThan(6 + 15 + 8 + 16)
  })

  it('limits one record', async () => {
    const rest = Rest.open({ policy: { maxRecordSize: 50 } })
    const refusal = { status: 400, json: { error: 'ERR max single record size exceeded' } }
    expect((await rest.post('/set/k', 'x'.repeat(40))).status).toBe(200)
    expect(await rest.post('/set/k', 'x'.repeat(60))).toMatchObject(refusal)
    expect((await rest.post('/set/k', 'y'.repeat(40))).status).toBe(200)
    expect(await rest.post('/append/k', 'x'.repeat(20))).toMatchObject(refusal)
    expect((await rest.post('/rpush/l', 'x'.repeat(30))).status).toBe(200)
    expect(await rest.post('/rpush/l', 'x'.repeat(30))).toMatchObject(refusal)
    expect((await rest.get('/lpop/l')).status).toBe(200)
  })

  it('limits keys to 32 KB', async () => {
    const rest = Rest.open()
    const longest = 'k'.repeat(32_768)
    expect((await rest.post('/', ['SET', longest, 'v'])).status).toBe(200)
    expect(await rest.post('/', ['SET', `${longest}k`, 'v'])).toMatchObject({
      status: 400,
      json: { error: 'ERR max key size exceeded. Limit: 32768 bytes, Actual: 32769 bytes' },
    })
    expect((await rest.post('/', ['SET', 'k', `${longest}v`])).status).toBe(200)
    const rows = [
      ['MSET', 'a', '1', `${longest}k`, '2'],
      ['GET', 'a'],
    ]
    expect((await rest.post('/pipeline', rows)).json).toEqual([
      { error: 'ERR max key size exceeded. Limit: 32768 bytes, Actual: 32769 bytes' },
      { result: null },
    ])
  })
})

describe('store.cost()', () => {
  it('counts what the service would bill', async () => {
    const rest = Rest.open()
    await rest.run('SET', 'key', 'value')
    await rest.run('GET', 'key')
    await rest.post('/pipeline', [['INCR', 'n'], ['GET', 'n'], ['NONSENSE']])
    await rest.post('/multi-exec', [
      ['INCR', 'n'],
      ['GET', 'n'],
    ])
    rest.sandbox.store.run('SET', 'not', 'billed')
    expect(rest.sandbox.store.cost()).toEqual({
      commands: 8,
      reads: 3,
      writes: 3,
      bytesIn: 'SETkeyvalue'.length + 'GETkey'.length + 2 * ('INCRn'.length + 'GETn'.length),
      bytesOut: 'OK'.length + 'value'.length + 4,
      today: 8,
      thisMonth: 8,
    })
  })
})

describe('log of rejected commands', () => {
  // Each of these is rejected under each policy, by the table or by the limit.
  const policies = {
    'no limit': {},
    maxStorageSize: { maxStorageSize: 3000 },
    maxRecordSize: { maxRecordSize: 1500 },
    maxKeySize: { maxKeySize: 100 },
    maxRequestSize: { maxRequestSize: 1400 },
    dailyRequestLimit: { dailyRequestLimit: 1 },
    monthlyRequestLimit: { monthlyRequestLimit: 1 },
  }
  const unknown = [['NOPE'], ['CLUSTER', 'INFO'], ['SHUTDOWN'], ['GET'], ['SORT'], ['NOPE', 'k'.repeat(200)]]
  const large = [['SET', 'k'.repeat(200), 'v'.repeat(1600)]]

  it.each(Object.entries(policies))('has every command with %s', async (name, policy) => {
    const rest = Rest.open({ policy, onWarning: () => undefined })
    const { store, traffic } = rest.sandbox
    store.run('SET', 'full', 'x'.repeat(5000))
    expect((await rest.get('/ping')).status).toBe(200)
    const rows = name === 'no limit' ? unknown : [...unknown, ...large]
    const Connector = ioredisConnector(rest.sandbox)
    const stream: Duplex = await new Connector({}).connect()
    let brought = ''
    stream.on('data', (chunk: Buffer) => {
      brought += chunk.toString('latin1')
    })
    for (const row of rows) {
      expect((await rest.post('/', row)).status).toBeGreaterThanOrEqual(400)
      expect((await rest.post('/pipeline', [row])).json).toEqual([{ error: expect.any(String) }])
      stream.write(`*${row.length}\r\n${row.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
    }
    await expect.poll(() => brought.match(/^-ERR/gm)?.length, { interval: 2 }).toBe(rows.length)
    stream.destroy()
    for (const via of ['request', 'pipeline', 'resp']) {
      const logged = traffic.ofType('command').filter((entry) => entry.via === via && entry.error !== undefined)
      // A connection skips a command that exceeds the maximum request, so its arguments are unknown.
      const kept = via === 'resp' && name === 'maxRequestSize' ? unknown : rows
      expect(logged.map(({ argv }) => argv)).toEqual(kept)
    }
  })

  it.each(['maxStorageSize', 'maxRecordSize'])('also has commands that wait on a connection under %s', async (name) => {
    const rest = Rest.open({ policy: { [name]: 3000 } })
    const { store } = rest.sandbox
    store.run('RPUSH', 'l', 'x'.repeat(5000))
    const Connector = ioredisConnector(rest.sandbox)
    const stream: Duplex = await new Connector({}).connect()
    let brought = ''
    stream.on('data', (chunk: Buffer) => {
      brought += chunk.toString('latin1')
    })
    stream.write('BLPOP l 0\r\n')
    await expect.poll(() => brought, { interval: 2 }).toContain('*2\r\n$1\r\nl\r\n$5000')
    stream.destroy()
  })
})
