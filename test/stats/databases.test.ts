import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

async function api(sandbox: Sandbox, path: string): Promise<unknown> {
  const { urls, tokens } = sandbox
  const headers = { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` }
  const response = await sandbox.fetch(`${urls.mgmt}${path}`, { headers })
  return response.status === 200 ? response.json() : response.status
}

async function count(sandbox: Sandbox, database?: string): Promise<number> {
  const { urls, tokens } = sandbox
  const url = database === undefined ? urls.store : urls.databases[database]!
  const { store } = database === undefined ? tokens : tokens.databases[database]!
  const response = await sandbox.fetch(`${url}/incr/n`, { headers: { authorization: `Bearer ${store}` } })
  return response.status
}

test('the account lists each database with its own ID, URL and tokens', async () => {
  using sandbox = createSandbox({ databases: ['eu', 'us'], name: 'shop' })
  using same = createSandbox({ databases: ['eu', 'us'], name: 'shop', seed: 9 })
  using lone = createSandbox({ name: 'shop' })
  const { databases, database } = sandbox.stats
  expect(databases.map(({ name }) => name)).toEqual(['shop', 'eu', 'us'])
  expect([databases[0], lone.stats.database]).toEqual([database, database])
  expect(new Set(databases.map(({ id }) => id)).size).toBe(3)
  expect(same.stats.databases).toEqual(databases)
  const listed = (await api(sandbox, '/v2/redis/databases')) as Record<string, unknown>[]
  expect(listed.map((one) => [one.database_id, one.database_name, one.endpoint])).toEqual([
    [databases[0]!.id, 'shop', 'shop.store.test'],
    [databases[1]!.id, 'eu', 'shop.store-eu.test'],
    [databases[2]!.id, 'us', 'shop.store-us.test'],
  ])
  const { standard, readOnly } = sandbox.storeIn('us').resetPassword()
  expect(await api(sandbox, `/v2/redis/database/${databases[2]!.id}`)).toMatchObject({
    password: standard,
    rest_token: standard,
    read_only_rest_token: readOnly,
  })
  expect(await api(sandbox, '/v2/redis/database/unknown')).toBe(404)
})

test('each database has its own statistics and costs', async () => {
  using sandbox = createSandbox({ databases: ['us'] })
  const { stats } = sandbox
  await count(sandbox)
  for (let requests = 0; requests < 3; requests++) await count(sandbox, 'us')
  const us = stats.storeIn('us')
  expect([stats.store.report().daily_net_commands, us.report().daily_net_commands]).toEqual([1, 3])
  const [firstId, usId] = stats.databases.map(({ id }) => id)
  expect(await api(sandbox, `/v2/redis/stats/${firstId}`)).toMatchObject({ daily_net_commands: 1 })
  expect(await api(sandbox, `/v2/redis/stats/${usId!.toUpperCase()}`)).toMatchObject({ daily_net_commands: 3 })
  expect(await api(sandbox, `/start-redis/metrics/${usId}`)).toMatchObject({ commands_total: 3, keys: 1 })
  expect(sandbox.stores.map((store) => store.cost().commands)).toEqual([1, 3])
  us.override({ total_monthly_billing: 5 })
  expect(stats.store.report().total_monthly_billing).not.toBe(5)
  expect(us.report().total_monthly_billing).toBe(5)
  using fork = await sandbox.fork()
  expect(fork.stats.storeIn('us').report()).toEqual(us.report())
  using loaded = createSandbox({ databases: ['us'] })
  loaded.load(sandbox.dump())
  const counted = [loaded.stats.store, loaded.stats.storeIn('us')].map((one) => one.report().daily_net_commands)
  expect(counted).toEqual([1, 3])
  stats.clear()
  expect(us.report().total_monthly_billing).not.toBe(5)
})

test('limits of the plan apply to each database separately', async () => {
  using sandbox = createSandbox({ databases: ['us'], policy: { dailyRequestLimit: 2 } })
  const us = () => count(sandbox, 'us')
  expect([await us(), await us(), await us()]).toEqual([200, 200, 400])
  expect(await count(sandbox)).toBe(200)
})
