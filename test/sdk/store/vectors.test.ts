import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'

let sandbox: Sandbox
let redis: Redis

beforeEach(() => {
  sandbox = createSandbox()
  replaceFetch(sandbox)
  redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, retry: false })
})

afterEach(() => sandbox.dispose())

// Every method of `redis.vector`. Facts: vector.md.
describe('redis.vector', () => {
  it('creates an index', async () => {
    const index = await redis.vector.createIndex({ name: 'i', dimension: 3, metric: 'COSINE' })
    expect(await index.info()).toEqual({ dimension: 3, metric: 'COSINE' })
    await expect(redis.vector.createIndex({ name: 'i', dimension: 3, metric: 'COSINE' })).rejects.toThrow(
      'already exists',
    )
    const again = await redis.vector.createIndex({ name: 'i', dimension: 3, metric: 'COSINE', existsOk: true })
    expect(await again.count()).toBe(0)
    await expect(
      redis.vector.createIndex({ name: 'i', dimension: 4, metric: 'COSINE', existsOk: true }),
    ).rejects.toThrow('different configuration')
  })

  it('adds, reads, counts and deletes vectors in every form', async () => {
    await redis.vector.createIndex({ name: 'i', dimension: 3, metric: 'EUCLIDEAN' })
    const index = redis.vector.index('i')
    expect(await index.add('a', [1, 0, 0])).toBe(1)
    expect(await index.add('b', new Float32Array([0, 1, 0]))).toBe(1)
    expect(await index.add('c', { base64: 'AACAPwAAAAAAAAAA' })).toBe(1)
    expect(await index.add('a', [0.1, 0.2, 1e-7])).toBe(0)
    expect(await index.count()).toBe(3)
    expect(await index.get('a')).toEqual([0.1, 0.2, 1e-7])
    expect(await index.get('b')).toEqual([0, 1, 0])
    expect(await index.get('c')).toEqual([1, 0, 0])
    expect(await index.get('none')).toBeNull()
    expect(await index.delete('a')).toBe(1)
    expect(await index.delete('a')).toBe(0)
    expect(await index.count()).toBe(2)
  })

  it('queries with every form and profile', async () => {
    const index = await redis.vector.createIndex({ name: 'i', dimension: 2, metric: 'COSINE' })
    await index.add('123', [1, 0])
    await index.add('true', [0, 1])
    const both = [
      { id: '123', score: 1 },
      { id: 'true', score: 0.5 },
    ]
    expect(await index.query({ vector: [1, 0], topK: 5 })).toEqual(both)
    expect(await index.query({ vector: new Float32Array([1, 0]), topK: 5 })).toEqual(both)
    expect(await index.query({ vector: { base64: 'AACAPwAAAAA=' }, topK: 1 })).toEqual(both.slice(0, 1))
    for (const profile of ['FAST', 'BALANCED', 'PRECISE'] as const)
      expect(await index.query({ vector: [1, 0], topK: 2, profile })).toEqual(both)
    await expect(index.query({ vector: [1], topK: 2 })).rejects.toThrow('vector dimension mismatch: expected 2, got 1')
  })

  it('drops an index', async () => {
    const index = await redis.vector.createIndex({ name: 'i', dimension: 2, metric: 'DOT' })
    expect(await index.drop()).toBe(1)
    expect(await index.drop()).toBe(0)
    expect(await index.info()).toBeNull()
    expect(await index.count()).toBe(0)
    await expect(index.get('a')).rejects.toThrow('Index i is not found')
    await expect(index.add('a', [1, 2])).rejects.toThrow('Index i is not found')
  })
})
