import { Redis } from '@upstash/redis'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { expect, test } from 'vitest'

test('writes a session to both databases', async () => {
  await using server = await startServer({ port: 0, databases: ['us'] })
  await using sandbox = await connect(server.origin)

  const { urls, tokens } = sandbox
  const first = new Redis({ url: urls.store, token: tokens.store })
  const us = new Redis({ url: urls.databases.us, token: tokens.databases.us?.store })
  await Promise.all([first.set('session:7', 'ann'), us.set('session:7', 'ann', { ex: 60 })])

  expect(await sandbox.store.snapshot()).toHaveKey('session:7')
  expect(await sandbox.storeIn('us').snapshot()).toHaveKey('session:7', { ttl: '1m' })
})
