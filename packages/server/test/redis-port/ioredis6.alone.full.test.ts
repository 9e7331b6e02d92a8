import { describe, vi } from 'vitest'

// The tests of ioredis 5, with ioredis 6, which uses RESP3 by default.
vi.mock('ioredis', () => import('ioredis6'))

describe('ioredis 6', () => {
  describe('clients', async () => void (await import('./clients.test.js')))
  describe('disposed', async () => void (await import('./disposed.test.js')))
  describe('in-process', async () => void (await import('./in-process.test.js')))
})
