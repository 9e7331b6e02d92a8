import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Redis } from '@upstash/redis'
import { usage } from 'stuntdouble/stats'
import { expect, test } from 'stuntdouble/vitest'
import { usageServer } from './main.ts'
import { type Account, pageOf, readUsage } from './usage.ts'

test.override('sandboxOptions', { startAt: '2030-01-15T12:00:00Z' })

function accountOf(env: Readonly<Record<string, string>>, budget: number): Account {
  return { email: env.UPSTASH_EMAIL!, apiKey: env.UPSTASH_API_KEY!, budget }
}

test('shows the commands of this month, and their cost', async ({ sandbox }) => {
  const redis = Redis.fromEnv()
  await redis.set('greeting', 'hello')
  await redis.get('greeting')
  const shown = await readUsage(accountOf(sandbox.env, 10))
  expect(shown).toEqual({
    databases: [{ name: 'main', commands: 2, dollars: 0.000004, bytes: 13 }],
    commands: 2,
    dollars: 0.000004,
    warning: undefined,
  })
  await sandbox.clock.advanceTo('2030-02-01T00:00:00Z')
  expect(await readUsage(accountOf(sandbox.env, 10))).toMatchObject({ commands: 0, dollars: 0 })
  expect(sandbox).toHaveReceivedRequest({ service: 'stats', status: 200 }, { times: 4 })
})

test('warns when most of the budget is spent', async ({ sandbox }) => {
  const { clock, stats, env } = sandbox
  // A busy shop since the start of the month: 200 commands per second cost 34.56 dollars a day.
  stats.store.script([usage.steady({ reads: 10_000, writes: 2000, keys: 50_000 }, { from: '2030-01-01' })])
  const page = async (budget: number): Promise<string> => pageOf(await readUsage(accountOf(env, budget)))
  expect(await page(1000)).not.toContain('role="alert"')
  expect(await page(600)).toContain('<p role="alert">83 % of the budget of $600.00 are spent.</p>')
  await clock.advance('4d')
  expect(await page(600)).toContain('The budget of $600.00 is spent.')
  stats.store.override({ total_monthly_billing: 5.806 })
  expect(await page(600)).toContain('<td>$5.81</td>')
})

test('reports that the key is wrong', async ({ sandbox }) => {
  const server = usageServer({ ...accountOf(sandbox.env, 10), apiKey: 'wrong' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect([answer.status, await answer.text()]).toEqual([502, 'The usage could not be read. 401: unauthorized'])
  } finally {
    server.close()
  }
})
