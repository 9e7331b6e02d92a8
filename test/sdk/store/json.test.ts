import { Redis } from '@upstash/redis'
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

  // Every method of `redis.json`. Documents and replies: store.md 7.2, facts marked [SDK test] and [doc].
  describe('redis.json', () => {
    it('set() stores a document, with NX and XX', async () => {
      expect(await redis.json.set('k', '$', { a: 2 })).toBe('OK')
      expect(await redis.json.set('k', '$.a', 3)).toBe('OK')
      expect(await redis.json.set('k', '$.b', [1, 'x', true, { c: 1 }])).toBe('OK')
      expect(await redis.json.set('k', '$', { a: 1 }, { nx: true })).toBeNull()
      expect(await redis.json.set('other', '$', { a: 1 }, { xx: true })).toBeNull()
      expect(await redis.json.set('k', '$.a', '"text"', { xx: true })).toBe('OK')
      expect(await redis.json.get('k')).toEqual({ a: 'text', b: [1, 'x', true, { c: 1 }] })
      // The SDK sends texts unchanged, and a text without quotes is not JSON.
      await expect(redis.json.set('k', '$.a', 'text')).rejects.toThrow('ERR invalid JSON value')
      await expect(redis.json.set('none', '$.a', 1)).rejects.toThrow('ERR new objects must be created at the root')
    })

    it('get() returns documents and values at paths', async () => {
      await redis.json.set('k', '$', { a: 2, b: 3, nested: { a: 4, b: null } })
      expect(await redis.json.get('k', '$..b')).toEqual([null, 3])
      expect(await redis.json.get('k', '$..a', '$..b')).toEqual({ '$..a': [4, 2], '$..b': [null, 3] })
      expect(await redis.json.get('k', '.a')).toBe(2)
      expect(await redis.json.get('k', { indent: '  ', newline: '\n', space: ' ' }, '$.nested')).toEqual([
        { a: 4, b: null },
      ])
      expect(await redis.json.get('none')).toBeNull()
      expect(await redis.json.get('none', '$.a')).toBeNull()
      await expect(redis.json.get('k', '.x')).rejects.toThrow('ERR Path does not exist')
      await redis.set('text', 'x')
      await expect(redis.json.get('text')).rejects.toThrow('WRONGTYPE')
    })

    it('get() keeps the layout of a document that is not parsed', async () => {
      const raw = new Redis({
        url: sandbox.urls.store,
        token: sandbox.tokens.store,
        automaticDeserialization: false,
      })
      await raw.json.set('k', '$', { a: [1, { b: 'é' }] })
      expect(await raw.json.get('k', { indent: '\t', newline: '\n', space: ' ' })).toBe(
        JSON.stringify({ a: [1, { b: 'é' }] }, null, '\t'),
      )
    })

    it('mget() returns a value per key', async () => {
      await redis.json.set('one', '$', { a: 1, b: 2, nested: { a: 3 }, c: null })
      await redis.json.set('two', '$', { a: 4, b: 5, nested: { a: 6 }, c: null })
      expect(await redis.json.mget(['one', 'two'], '$..a')).toEqual([
        [3, 1],
        [6, 4],
      ])
      expect(await redis.json.mget(['one', 'none'], '$.a')).toEqual([[1], null])
    })

    it('mset() sets several keys or none', async () => {
      expect(
        await redis.json.mset(
          { key: 'one', path: '$', value: { a: 1 } },
          { key: 'two', path: '$', value: [1, 2] },
          { key: 'one', path: '$.b', value: true },
        ),
      ).toBe('OK')
      expect(await redis.json.mget(['one', 'two'], '$')).toEqual([[{ a: 1, b: true }], [[1, 2]]])
      await expect(
        redis.json.mset({ key: 'one', path: '$.a', value: 9 }, { key: 'new', path: '$.a', value: 9 }),
      ).rejects.toThrow('new objects must be created at the root')
      expect(await redis.json.get('one', '$.a')).toEqual([1])
    })

    it('merge() merges, deletes and creates values', async () => {
      await redis.json.set('k', '$', { a: { b: 1 }, c: [1, 2] })
      expect(await redis.json.merge('k', '$', { a: { b: null, d: 2 }, e: 'x' })).toBe('OK')
      expect(await redis.json.merge('k', '$.c', [3])).toBe('OK')
      expect(await redis.json.get('k')).toEqual({ a: { d: 2 }, c: [3], e: 'x' })
    })

    it('del() and forget() delete values', async () => {
      await redis.json.set('k', '$', { a: 1, nested: { a: 2, b: 3 } })
      expect(await redis.json.del('k', '$..a')).toBe(2)
      expect(await redis.json.get('k', '$')).toEqual([{ nested: { b: 3 } }])
      expect(await redis.json.forget('k', '$.nested.b')).toBe(1)
      expect(await redis.json.forget('k')).toBe(1)
      expect(await redis.json.del('k')).toBe(0)
    })

    it('type() returns the type at a path', async () => {
      await redis.json.set('k', '$', { a: 2, nested: { a: true }, foo: 'bar' })
      expect(await redis.json.type('k', '$..foo')).toEqual(['string'])
      expect(await redis.json.type('k', '$..a')).toEqual(['boolean', 'integer'])
      expect(await redis.json.type('k', '$..dummy')).toEqual([])
      expect(await redis.json.type('k')).toBe('object')
      expect(await redis.json.type('none', '$')).toBeNull()
    })

    it('clear() empties containers and zeroes numbers', async () => {
      await redis.json.set('k', '$', { obj: { a: 1 }, arr: [1, 2], str: 'foo', bool: true, int: 42, float: 3.14 })
      expect(await redis.json.clear('k', '$.*')).toBe(4)
      expect(await redis.json.get('k', '$')).toEqual([{ obj: {}, arr: [], str: 'foo', bool: true, int: 0, float: 0 }])
      expect(await redis.json.clear('k')).toBe(1)
    })

    it('numincrby() and nummultby() change numbers', async () => {
      await redis.json.set('k', '$', { a: 'b', b: [{ a: 2 }, { a: 5 }, { a: 'c' }] })
      expect(await redis.json.numincrby('k', '$.a', 2)).toEqual([null])
      expect(await redis.json.numincrby('k', '$..a', 2)).toEqual([4, 7, null, null])
      expect(await redis.json.nummultby('k', '$..a', 2)).toEqual([8, 14, null, null])
      expect(await redis.json.numincrby('k', '.b[0].a', 0.5)).toBe(8.5)
    })

    it('strappend() and strlen() use the text at a path', async () => {
      await redis.json.set('k', '$', { a: 'foo', nested: { a: 'hello' }, nested2: { a: 31 } })
      expect(await redis.json.strappend('k', '$..a', '"baz"')).toEqual([8, null, 6])
      expect(await redis.json.get('k', '$')).toEqual([{ a: 'foobaz', nested: { a: 'hellobaz' }, nested2: { a: 31 } }])
      expect(await redis.json.strlen('k', '$..a')).toEqual([8, null, 6])
      expect(await redis.json.strlen('k', '.a')).toBe(6)
      await expect(redis.json.strlen('none', '$')).rejects.toThrow(
        "could not perform this operation on a key that doesn't exist",
      )
      expect(await redis.json.strlen('none', '.')).toBeNull()
    })

    it('toggle() negates booleans', async () => {
      await redis.json.set('k', '$', { bool: true, nested: { bool: false } })
      expect(await redis.json.toggle('k', '$..bool')).toEqual([1, 0])
      expect(await redis.json.toggle('k', '$.bool')).toEqual([1])
      expect(await redis.json.get('k')).toEqual({ bool: true, nested: { bool: true } })
    })

    it('arrappend() appends to arrays', async () => {
      await redis.json.set('k', '$', { name: 'headphones', colors: ['black', 'silver'] })
      expect(await redis.json.arrappend('k', '$.colors', '"blue"')).toEqual([3])
      expect(await redis.json.arrappend('k', '$.*', 1, { deep: [true] }, null)).toEqual([null, 6])
      expect(await redis.json.get('k', '$.colors')).toEqual([['black', 'silver', 'blue', 1, { deep: [true] }, null]])
      await expect(redis.json.arrappend('k', '$.colors', 'blue')).rejects.toThrow('ERR invalid JSON value')
    })

    it('arrindex() finds a value', async () => {
      await redis.json.set('k', '$', { colors: ['black', 'silver', 'silver'], nested: { colors: 'black' } })
      expect(await redis.json.arrindex('k', '$..colors', '"silver"')).toEqual([null, 1])
      expect(await redis.json.arrindex('k', '$.colors', '"silver"', 2)).toEqual([2])
      expect(await redis.json.arrindex('k', '$.colors', '"silver"', 0, 1)).toEqual([-1])
    })

    it('arrinsert() inserts at an index', async () => {
      await redis.json.set('k', '$', { colors: ['black', 'silver', 'gold'] })
      expect(await redis.json.arrinsert('k', '$.colors', 2, '"yellow"', '"blue"')).toEqual([5])
      expect(await redis.json.get('k')).toEqual({ colors: ['black', 'silver', 'yellow', 'blue', 'gold'] })
      await expect(redis.json.arrinsert('k', '$.colors', 9, 1)).rejects.toThrow('ERR index out of bounds')
    })

    it('arrlen() returns the length', async () => {
      await redis.json.set('k', '$', { a: [3], nested: { a: [4, 5] }, x: { a: 1 } })
      expect(await redis.json.arrlen('k', '$..a')).toEqual([2, null, 1])
      // Without a path the SDK sends `$`.
      expect(await redis.json.arrlen('k')).toEqual([null])
      await expect(redis.json.arrlen('none')).rejects.toThrow("key that doesn't exist")
    })

    it('arrpop() removes an element', async () => {
      await redis.json.set('k', '$', { a: [3, 'x', { b: 1 }], nested: { a: [] } })
      expect(await redis.json.arrpop('k', '$..a')).toEqual([null, { b: 1 }])
      expect(await redis.json.arrpop('k', '$.a', 0)).toEqual([3])
      expect(await redis.json.arrpop('k', '.a')).toBe('x')
    })

    it('arrtrim() trims an array', async () => {
      await redis.json.set('k', '$', [1, 2, 3, 4])
      expect(await redis.json.arrtrim('k', '$', 1, 2)).toEqual([2])
      expect(await redis.json.get('k')).toEqual([2, 3])
      // The defaults of the SDK keep the first element.
      expect(await redis.json.arrtrim('k')).toEqual([1])
    })

    it('objkeys() and objlen() return keys and their number', async () => {
      await redis.json.set('k', '$', { a: [3], nested: { a: { b: 2, c: 1 } } })
      expect(await redis.json.objkeys('k', '$..a')).toEqual([['b', 'c'], null])
      expect(await redis.json.objlen('k', '$..a')).toEqual([2, null])
      expect(await redis.json.objkeys('k')).toEqual(['a', 'nested'])
      expect(await redis.json.objlen('k')).toBe(2)
    })

    it('resp() returns a document in RESP', async () => {
      await redis.json.set('k', '$', { name: 'x', wet: true, n: [1, 2.5, null] })
      expect(await redis.json.resp('k')).toEqual(['{', 'name', 'x', 'wet', true, 'n', ['[', 1, 2.5, null]])
      expect(await redis.json.resp('k', '$')).toEqual([['{', 'name', 'x', 'wet', true, 'n', ['[', 1, 2.5, null]]])
      expect(await redis.json.resp('none')).toBeNull()
    })

    it('runs in a pipeline and in a transaction', async () => {
      const pipeline = redis.pipeline()
      pipeline.json.set('k', '$', { n: 1 }).json.numincrby('k', '$.n', 4).json.get('k', '$.n').type('k')
      expect(await pipeline.exec()).toEqual(['OK', [5], [5], 'json'])
      const transaction = redis.multi()
      transaction.json.arrappend('k', '$.n', 1).json.toggle('k', '$.x').json.del('k')
      expect(await transaction.exec()).toEqual([[null], [], 1])
    })

    it('keeps texts of every script and integer-like keys', async () => {
      const document = { text: 'naïve 日本 😀 "quoted" \\ \n', 'key é': ['\u2028', ''], 10: 'ten', 2: 'two' }
      await redis.json.set('k', '$', document)
      expect(await redis.json.get('k')).toEqual(document)
      expect(await redis.json.get('k', "$['key é'][0]")).toEqual(['\u2028'])
    })
  })
})
