import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { heardPrograms } from '../store/resp/heard-programs.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'

let redis: LiveRedis

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test.each(Object.entries(heardPrograms))('%s: redis-server sends what was recorded', async (_, rows) => {
  await redis.client.raw(['FLUSHALL'])
  await redis.client.raw(['CONFIG', 'SET', 'notify-keyspace-events', ''])
  const socket = connect(redis.port, '127.0.0.1')
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
  })
  for (const [command, expected] of rows) {
    got = ''
    socket.write(`${command}\r\n`)
    const isHello = command.startsWith('HELLO')
    for (let turn = 0; turn < 200 && (isHello ? got === '' : got.length < expected.length); turn++) await wait(10)
    // Nothing more may arrive, or nothing at all where nothing is expected.
    await wait(20)
    if (!isHello) expect([command, got]).toEqual([command, expected])
  }
  socket.destroy()
})
