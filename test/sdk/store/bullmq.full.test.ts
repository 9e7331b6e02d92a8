import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { describe } from 'vitest'
import { expect, test } from '../../../fixtures/vitest.js'
import { ioredisConnector } from '../../../packages/server/src/redis-port/in-process.js'
import type { Sandbox } from '../../../src/index.js'

// BullMQ keeps its jobs in the store and uses the clock and the timers of its process.

function connection(sandbox: Sandbox): Redis {
  const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: null })
  redis.on('error', () => undefined)
  return redis
}

describe('BullMQ', () => {
  test.override('sandboxOptions', { timers: 'follow' })

  test('runs jobs, delayed jobs when they are due, and failed jobs again', async ({ sandbox }) => {
    const done: string[] = []
    const failed: string[] = []
    const queue = new Queue('mails', { connection: connection(sandbox) })
    const worker = new Worker(
      'mails',
      async ({ name, attemptsMade }) => {
        if (name === 'shaky' && attemptsMade < 2) throw new Error('not yet')
        done.push(`${name} ${new Date().toISOString().slice(11, 19)}`)
      },
      { connection: connection(sandbox) },
    )
    worker.on('failed', (job) => failed.push(`${job?.name} ${job?.attemptsMade}`))
    worker.on('error', () => undefined)
    await worker.waitUntilReady()
    await queue.add('now', {})
    await queue.add('later', {}, { delay: 60_000 })
    await queue.add('shaky', {}, { attempts: 3, backoff: { type: 'fixed', delay: 10_000 } })
    for (let minute = 0; minute < 9; minute++) await sandbox.clock.advance('10s')
    expect(done).toEqual(['now 00:00:00', 'shaky 00:00:20', 'later 00:01:00'])
    expect(failed).toEqual(['shaky 1', 'shaky 2'])
    await worker.close(true)
    await queue.close()
  })

  test('closes without an error while its worker waits', async ({ sandbox }) => {
    const errors: string[] = []
    const done: string[] = []
    const [first, second] = [0, 1].map(() => {
      const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: null })
      redis.on('error', ({ message }) => errors.push(message))
      return redis
    })
    const queue = new Queue('mails', { connection: first! })
    const worker = new Worker('mails', async ({ name }) => void done.push(name), { connection: second! })
    worker.on('error', ({ message }) => errors.push(message))
    await worker.waitUntilReady()
    await queue.add('now', {})
    await sandbox.clock.advance('1s')
    await worker.close()
    await queue.close()
    // BullMQ does not close connections that the app passes to it.
    expect(await Promise.all([first!.quit(), second!.quit()])).toEqual(['OK', 'OK'])
    expect(done).toEqual(['now'])
    expect(errors).toEqual([])
  })

  // Six hours only: while a job is delayed, a worker looks for another one every ten seconds.
  test('repeats an hourly job with retries', async ({ sandbox }) => {
    const runs: number[] = []
    let attempts = 0
    const queue = new Queue('reports', { connection: connection(sandbox) })
    const worker = new Worker(
      'reports',
      async () => {
        attempts++
        // Each fifth run needs a second attempt.
        if (attempts % 6 === 5) throw new Error('the database is away')
        runs.push(Date.now())
      },
      { connection: connection(sandbox) },
    )
    worker.on('error', () => undefined)
    await worker.waitUntilReady()
    const start = sandbox.clock.now()
    await queue.upsertJobScheduler(
      'hourly',
      { every: 3_600_000 },
      { opts: { attempts: 2, backoff: { type: 'fixed', delay: 60_000 }, removeOnComplete: true } },
    )
    await sandbox.clock.advance('330m')
    expect(runs.length).toBe(6)
    expect(attempts).toBe(7)
    const hours = runs.map((at) => Math.floor((at - start) / 3_600_000))
    expect(hours).toEqual(Array.from({ length: 6 }, (_, hour) => hour))
    await worker.close(true)
    await queue.close()
  })
})
