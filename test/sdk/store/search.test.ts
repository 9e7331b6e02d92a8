import { Redis, s } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'

let sandbox: Sandbox
let redis: Redis

describe.each(['base64', false] as const)('with responseEncoding %s', (responseEncoding) => {
  beforeEach(() => {
    sandbox = createSandbox()
    replaceFetch(sandbox)
    redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, retry: false, responseEncoding })
  })

  afterEach(() => sandbox.dispose())

  const product = s.object({
    name: s.string(),
    brand: s.string().noTokenize(),
    category: s.keyword(),
    shelf: s.facet(),
    price: s.number('F64'),
    stock: s.number('U64'),
    sold: s.boolean().fast(),
    made: s.date().fast(),
    maker: s.object({ city: s.string(), since: s.number('U64') }),
  })

  const products = {
    'product:1': {
      name: 'Gaming Laptop',
      brand: 'Acme Corp',
      category: 'computers',
      shelf: '/electronics/computers',
      price: 1299.5,
      stock: 4,
      sold: true,
      made: '2024-03-01T00:00:00.000Z',
      maker: { city: 'Oslo', since: 1990 },
      unindexed: ['kept'],
    },
    'product:2': {
      name: 'Wireless noise-cancelling headphones',
      brand: 'Acme',
      category: 'audio',
      shelf: '/electronics/audio',
      price: 199,
      stock: 40,
      sold: false,
      made: '2025-03-01T00:00:00.000Z',
      maker: { city: 'Rome', since: 2005 },
    },
    'product:3': {
      name: 'Laptop bag for running',
      brand: 'Bags & Co',
      category: 'accessories',
      shelf: '/bags',
      price: 49,
      stock: 0,
      sold: true,
      made: '2023-03-01T00:00:00.000Z',
      maker: { city: 'New Oslo', since: 2020 },
    },
  } as const

  // Every method of `redis.search`. Facts: search.md.
  describe('redis.search over JSON', () => {
    const index = () => redis.search.index({ name: 'products', schema: product })

    beforeEach(async () => {
      for (const [key, value] of Object.entries(products)) await redis.json.set(key, '$', value)
      await redis.search.createIndex({ name: 'products', dataType: 'json', prefix: 'product:', schema: product })
      expect(await index().waitIndexing()).toBe(1)
    })

    const keys = async (options: Parameters<ReturnType<typeof index>['query']>[0]) =>
      (await index().query(options)).map(({ key }) => key)

    it('createIndex() and describe() return the schema', async () => {
      expect(await index().describe()).toEqual({
        name: 'products',
        dataType: 'json',
        prefixes: ['product:'],
        language: 'english',
        schema: {
          name: { type: 'TEXT' },
          brand: { type: 'TEXT', noTokenize: true },
          category: { type: 'KEYWORD' },
          shelf: { type: 'FACET' },
          price: { type: 'F64', fast: true },
          stock: { type: 'U64', fast: true },
          sold: { type: 'BOOL', fast: true },
          made: { type: 'DATE', fast: true },
          'maker.city': { type: 'TEXT' },
          'maker.since': { type: 'U64', fast: true },
        },
      })
      const again = { name: 'products', dataType: 'json', prefix: 'product:', schema: product } as const
      await expect(redis.search.createIndex(again)).rejects.toThrow('ERR Index products already exists')
      await redis.search.createIndex({ ...again, existsOk: true })
      expect(await redis.search.index({ name: 'none', schema: product }).describe()).toBeNull()
      expect(await redis.scan(0, { type: 'search' })).toEqual(['0', ['products']])
      expect(await redis.type('products')).toBe('search')
    })

    it('query() returns keys, scores and whole documents', async () => {
      const [first, ...others] = await index().query({ filter: { name: { $eq: 'headphones' } } })
      expect(first).toEqual({ key: 'product:2', score: expect.any(Number), data: products['product:2'] })
      expect(others).toEqual([])
      expect(await index().query({ filter: { category: 'none' } })).toEqual([])
      expect(await redis.search.index({ name: 'none', schema: product }).query({ filter: {} })).toBeNull()
    })

    it('query() pages, sorts and selects fields', async () => {
      expect(await keys({ orderBy: { price: 'ASC' } })).toEqual(['product:3', 'product:2', 'product:1'])
      expect(await keys({ orderBy: { made: 'DESC' }, limit: 1, offset: 1 })).toEqual(['product:1'])
      expect(await index().query({ filter: { category: 'audio' }, select: {} })).toEqual([
        { key: 'product:2', score: expect.any(Number) },
      ])
      expect(
        await index().query({
          filter: { category: 'computers' },
          select: { name: true, 'maker.city': true, price: true, sold: true },
        }),
      ).toEqual([
        {
          key: 'product:1',
          score: expect.any(Number),
          data: { name: 'Gaming Laptop', maker: { city: 'Oslo' }, price: 1299.5, sold: true },
        },
      ])
      await expect(index().query({ limit: 1001 })).rejects.toThrow(
        'ERR limit should be a positive number less than 1000',
      )
    })

    it('query() highlights matches', async () => {
      const [found] = await index().query({
        filter: { name: 'laptop', category: 'computers' },
        highlight: { fields: ['name'], preTag: '<mark>', postTag: '</mark>' },
      })
      expect(found!.data.name).toBe('Gaming <mark>Laptop</mark>')
      const [whole] = await index().query({
        filter: { brand: 'Bags & Co' },
        select: { brand: true },
        highlight: { fields: ['brand'] },
      })
      expect(whole!.data).toEqual({ brand: '<em>Bags & Co</em>' })
    })

    it('query() computes scores from values', async () => {
      const scored = await index().query({ filter: {}, scoreFunc: { field: 'stock', scoreMode: 'replace' } })
      expect(scored.map(({ key, score }) => [key, score])).toEqual([
        ['product:2', 40],
        ['product:1', 4],
        ['product:3', 0],
      ])
      const several = (await index().query({
        filter: {},
        limit: 1,
        scoreFunc: {
          combineMode: 'sum',
          scoreMode: 'replace',
          fields: [{ field: 'price', modifier: 'log1p', factor: 2 }, 'stock'],
        },
      } as never)) as unknown as readonly { readonly score: number }[]
      expect(several[0]!.score).toBeCloseTo(2 * Math.log10(200) + 40)
    })

    it('query() applies filters of every kind', async () => {
      const found = async (filter: object) =>
        (await keys({ filter: filter as never, orderBy: { price: 'ASC' } })).map((key) => key.slice(-1)).join('')
      expect(await found({ name: 'latpop' })).toBe('31')
      expect(await found({ name: { $eq: 'gaming laptop' } })).toBe('1')
      expect(await found({ name: { $eq: 'run' } })).toBe('3')
      expect(await found({ name: { $in: ['bag', 'wireless'] } })).toBe('32')
      expect(await found({ name: { $phrase: { value: 'wireless headphones', slop: 2 } } })).toBe('2')
      expect(await found({ name: { $phrase: { value: 'laptop b', prefix: true } } })).toBe('3')
      expect(await found({ name: { $fuzzy: { value: 'gamign', distance: 1 } } })).toBe('')
      expect(await found({ name: { $fuzzy: { value: 'laptpo' } } })).toBe('31')
      expect(await found({ name: { $regex: 'Lap.*' } })).toBe('31')
      expect(await found({ brand: { $eq: 'Acme' } })).toBe('2')
      expect(await found({ category: { $gte: 'audio', $lt: 'computers' } })).toBe('2')
      expect(await found({ shelf: { $eq: '/electronics' } })).toBe('21')
      expect(await found({ price: { $gt: 49, $lte: 199 } })).toBe('2')
      expect(await found({ sold: true })).toBe('31')
      expect(await found({ made: { $gte: new Date('2024-01-01') } })).toBe('21')
      expect(await found({ 'maker.city': 'oslo' })).toBe('31')
      expect(await found({ $must: { sold: true, name: 'laptop' }, $mustNot: { category: 'accessories' } })).toBe('1')
      expect(await found({ $and: [{ sold: true }, { $or: [{ stock: 0 }, { stock: 40 }] }] })).toBe('3')
      expect(await found({ $should: [{ stock: 0 }, { stock: 40 }] })).toBe('32')
      await expect(found({ name: { $not: 'x' } })).rejects.toThrow('ERR Unknown field operator: $not')
    })

    it('count() returns the number of matches', async () => {
      expect(await index().count({ filter: { name: 'laptop' } })).toEqual({ count: 2 })
      expect(await redis.search.index({ name: 'none', schema: product }).count({ filter: {} as never })).toEqual({
        count: -1,
      })
    })

    it('aggregate() returns groups and metrics', async () => {
      const found = await index().aggregate({
        filter: { sold: true },
        aggregations: {
          mean: { $avg: { field: 'price' } },
          stats: { $stats: { field: 'stock' } },
          groups: {
            $terms: { field: 'category', order: { key: 'asc' } },
            $aggs: { dearest: { $max: { field: 'price' } } },
          },
          prices: { $range: { field: 'price', ranges: [{ to: 100 }, { from: 100, key: 'dear' }] } },
          middle: { $percentiles: { field: 'price', percents: [50] } },
          shelves: { $facet: { field: 'shelf', path: '/' } },
        },
      } as never)
      expect(found).toEqual({
        mean: { value: 674.25 },
        stats: { count: 2, min: 0, max: 4, sum: 4, avg: 2 },
        groups: {
          buckets: [
            { key: 'accessories', docCount: 1, dearest: { value: 49 } },
            { key: 'computers', docCount: 1, dearest: { value: 1299.5 } },
          ],
          sumOtherDocCount: 0,
          docCountErrorUpperBound: 0,
        },
        prices: {
          buckets: [
            { key: '*-100', docCount: 1, to: 100 },
            { key: 'dear', docCount: 1, from: 100 },
          ],
        },
        middle: { values: { '50.0': 674.25 } },
        shelves: {
          path: '/',
          sumOtherDocCount: 0,
          children: [
            { path: '/bags', docCount: 1, sumOtherDocCount: 0 },
            { path: '/electronics', docCount: 1, sumOtherDocCount: 0 },
          ],
        },
      })
    })

    it('aliases can be added, listed and deleted', async () => {
      expect(await redis.search.alias.list()).toEqual({})
      expect(await index().addAlias({ alias: 'shop' })).toBe(1)
      expect(await redis.search.alias.add({ indexName: 'products', alias: 'shop' })).toBe(2)
      expect(await redis.search.alias.add({ indexName: 'none', alias: 'other' })).toBe(1)
      expect(await redis.search.alias.list()).toEqual({ shop: 'products', other: 'none' })
      expect(await redis.search.index({ name: 'shop', schema: product }).count({ filter: { sold: false } })).toEqual({
        count: 1,
      })
      expect(await redis.search.alias.delete({ alias: 'shop' })).toBe(1)
      expect(await redis.search.alias.delete({ alias: 'shop' })).toBe(0)
    })

    it('drop() deletes the index', async () => {
      expect(await index().drop()).toBe(1)
      expect(await index().drop()).toBe(0)
      expect(await redis.exists('product:1')).toBe(1)
    })

    it('query() finds what was written after the index was created', async () => {
      await redis.json.set('product:1', '$.stock', 0)
      await redis.del('product:3')
      await index().waitIndexing()
      expect(await keys({ filter: { stock: 0 } })).toEqual(['product:1'])
    })
  })

  it('redis.search over hashes converts fields, which are texts, to the types they look like', async () => {
    const schema = s.object({ name: s.string(), age: s.number('I64'), member: s.boolean() })
    const users = await redis.search.createIndex({
      name: 'user-index',
      dataType: 'hash',
      prefix: ['user:', 'admin:'],
      schema,
    })
    await redis.hset('user:1', { name: 'Ada', age: 95, member: true })
    await redis.hset('admin:1', { name: 'Grace', age: '12' })
    await users.waitIndexing()
    expect(await users.query({ filter: { age: { $gt: 50 } } })).toEqual([
      { key: 'user:1', score: expect.any(Number), data: { name: 'Ada', age: 95, member: true } },
    ])
    expect(await users.query({ filter: { name: 'grace' }, select: { age: true } })).toEqual([
      { key: 'admin:1', score: expect.any(Number), data: { age: 12 } },
    ])
  })

  it('redis.search over strings finds documents that are JSON', async () => {
    const schema = s.object({ title: s.string(), meta: s.object({ year: s.number() }) })
    const posts = await redis.search.createIndex({
      name: 'posts',
      dataType: 'string',
      prefix: 'post:',
      language: 'german',
      schema,
    })
    await redis.set('post:1', { title: 'Die Häuser am See', meta: { year: 2020 } })
    await redis.set('post:2', 'no object')
    expect(await posts.query({ filter: { title: { $eq: 'häusern' } } })).toEqual([
      { key: 'post:1', score: expect.any(Number), data: { title: 'Die Häuser am See', meta: { year: 2020 } } },
    ])
    expect((await posts.describe())!.language).toBe('german')
  })

  it('SEARCH commands run through exec() and in a script', async () => {
    await redis.search.createIndex({ name: 'i', dataType: 'json', prefix: 'x:', schema: s.object({ t: s.string() }) })
    await redis.json.set('x:1', '$', { t: 'red' })
    expect(await redis.exec(['SEARCH.REINDEX', 'i'])).toBe(1)
    expect(await redis.exec(['SEARCH.LISTINDEXES'])).toEqual([['name', 'i', 'type', 'JSON']])
    expect(await redis.eval("return redis.call('SEARCH.QUERY', 'i', '{}', 'NOCONTENT')", [], [])).toEqual([['x:1', 1]])
  })

  describe('redis.search over a stream', () => {
    const schema = s.object({
      message: s.string(),
      service: s.keyword(),
      severity: s.number('U64'),
      at: s.date().fast(),
    })
    const definition = { name: 'log', dataType: 'stream', stream: 'events', schema } as const
    const entry = {
      message: 'Payment authorization failed',
      service: 'checkout',
      severity: 4,
      at: '2026-08-24T09:30:00Z',
    }

    const open = async () => {
      const log = await redis.search.createIndex(definition)
      await redis.xadd('events', '1-0', entry)
      await redis.xadd('events', '2-0', { ...entry, message: 'Order completed', severity: 1 })
      await redis.xadd('events', '3-0', { message: 'Order failed', service: ['shop', 'checkout'], severity: 3 })
      expect(await log.waitIndexing()).toBe(1)
      return log
    }

    it('createIndex(), describe() and query() have the entries as documents', async () => {
      const log = await open()
      expect(await log.describe()).toMatchObject({ name: 'log', dataType: 'stream', prefixes: ['events'] })
      await redis.search.createIndex({ ...definition, existsOk: true, skipInitialScan: true, language: 'english' })
      await expect(redis.search.createIndex(definition)).rejects.toThrow('ERR Index log already exists')
      await expect(redis.search.createIndex({ ...definition, name: 'second' })).rejects.toThrow(
        'ERR Stream events is already bound to index log',
      )
      const filter = { message: 'authorization', severity: { $gte: 3 } } as const
      expect(await log.query({ filter })).toEqual([{ key: '1-0', score: expect.any(Number), data: entry }])
      expect(await log.query({ filter, select: { severity: true } })).toEqual([
        { key: '1-0', score: expect.any(Number), data: { severity: 4 } },
      ])
      const [found] = await log.query({ filter: { service: 'shop' }, highlight: { fields: ['service'] } })
      expect(found).toMatchObject({ key: '3-0', data: { service: ['<em>shop</em>', 'checkout'] } })
      await redis.xdel('events', '1-0')
      await log.waitIndexing()
      expect(await log.query({ filter })).toEqual([])
      await redis.del('events')
      expect(await log.count({ filter: {} })).toEqual({ count: 0 })
    })

    it('aggregate() returns pages of $composite, whose afterKey it accepts', async () => {
      const log = await open()
      const sources = [
        { service: { $terms: { field: 'service' } } },
        { step: { $histogram: { field: 'severity', interval: 2 } } },
      ]
      const page = async (after?: unknown) =>
        (
          (await log.aggregate({
            aggregations: {
              by: { $composite: { sources, size: 2, after }, $aggs: { most: { $max: { field: 'severity' } } } },
            },
          } as never)) as { by: { buckets: object[]; afterKey?: unknown } }
        ).by
      const first = await page()
      expect(first.buckets).toEqual([
        { key: { service: 'checkout', step: 0 }, docCount: 1, most: { value: 1 } },
        { key: { service: 'checkout', step: 2 }, docCount: 1, most: { value: 3 } },
      ])
      const second = await page(first.afterKey)
      expect(second.buckets).toEqual([
        { key: { service: 'checkout', step: 4 }, docCount: 1, most: { value: 4 } },
        { key: { service: 'shop', step: 2 }, docCount: 1, most: { value: 3 } },
      ])
      expect(await page(second.afterKey)).toEqual({ buckets: [] })
    })
  })
})
