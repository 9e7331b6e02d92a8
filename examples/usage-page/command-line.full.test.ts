import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'

const cli = fileURLToPath(new URL('../../node_modules/@upstash/cli/dist/cli.js', import.meta.url))
const preload = new URL('to-stuntdouble.mjs', import.meta.url).href
const page = fileURLToPath(new URL('usage.ts', import.meta.url))

test("the vendor's command line and the page read the same values from a server", async () => {
  await using server = await startServer({ port: 0, clock: 'manual', startAt: '2030-01-15T12:00:00Z' })
  await using sandbox = await connect(server.origin)
  const { urls, tokens, env } = sandbox
  const headers = { authorization: `Bearer ${tokens.store}` }
  for (const path of ['/set/greeting/hello', '/get/greeting']) await fetch(urls.store + path, { headers })
  const run = async (...args: readonly string[]): Promise<string> => {
    const options = { env: { ...process.env, ...env } }
    return (await promisify(execFile)(process.execPath, ['--import', preload, ...args], options)).stdout
  }
  const [database] = JSON.parse(await run(cli, 'redis', 'list'))
  const stats = JSON.parse(await run(cli, 'redis', 'stats', '--db-id', database.database_id))
  expect(stats).toEqual(await sandbox.stats.store.report())
  const account = JSON.stringify({ email: env.UPSTASH_EMAIL, apiKey: env.UPSTASH_API_KEY, budget: 10 })
  const code = `import(${JSON.stringify(page)}).then(async (m) => console.log(JSON.stringify(await m.readUsage(${account}))))`
  const usage = JSON.parse(await run('-e', code))
  expect(usage).toMatchObject({ commands: 2, dollars: stats.total_monthly_billing })
  await expect(run(cli, 'redis', 'list', '--email', 'a@shop.test', '--api-key', 'k')).rejects.toThrow('unauthorized')
})
