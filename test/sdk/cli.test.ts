import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usage } from 'stuntdouble/stats'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

// The vendor's command line has its base URL in its code. Its commands run in this process, where `fetch` is replaced.

interface Program {
  command(name: string): Program
  option(flags: string): Program
  parseAsync(argv: readonly string[]): Promise<unknown>
}

const cli = new URL('../../node_modules/@upstash/cli/', import.meta.url).href
const { Command } = (await import(`${cli}node_modules/commander/esm.mjs`)) as { Command: new () => Program }
const families = ['redis', 'qstash', 'vector', 'search', 'team'] as const

let sandbox: Sandbox

beforeEach(() => {
  sandbox = createSandbox({ startAt: '2030-01-15T12:00:00Z' })
  replaceFetch(sandbox)
  for (const [name, value] of Object.entries(sandbox.env)) vi.stubEnv(name, value)
})
afterEach(() => {
  sandbox.dispose()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Runs `upstash …` and returns the JSON that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: responses are compared field by field
async function upstash(...words: readonly string[]): Promise<any> {
  const program = new Command().option('--email <email>').option('--api-key <key>')
  for (const family of families) {
    const module = (await import(`${cli}dist/commands/${family}/index.js`)) as Record<string, (to: Program) => void>
    for (const register of Object.values(module)) register(program)
  }
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await program.parseAsync(['node', 'upstash', ...words])
  return JSON.parse(String(printed.mock.lastCall![0]))
}

async function traffic(): Promise<void> {
  const { fetch, urls, tokens } = sandbox
  const body = JSON.stringify([
    ['SET', 'a', '1'],
    ['GET', 'a'],
    ['GET', 'b'],
  ])
  await fetch(`${urls.store}/pipeline`, { method: 'POST', headers: { authorization: `Bearer ${tokens.store}` }, body })
  sandbox.stats.search('products').script([usage.steady({ queries: 10, vectors: 3 })])
  sandbox.stats.vector('embeddings').script([usage.steady({ queries: 20, vectors: 4 })])
}

describe('stats of @upstash/cli', () => {
  test.each([
    ['redis stats --db-id DB', () => sandbox.stats.store.report()],
    ['qstash stats --qstash-id USER', () => sandbox.stats.queue.report()],
    ['qstash stats --qstash-id USER --period 7d', () => sandbox.stats.queue.report('7d')],
    ['search index-stats --index-id products', () => sandbox.stats.search('products').report()],
    ['search index-stats --index-id products --period 3h', () => sandbox.stats.search('products').report('3h')],
    ['vector index-stats --index-id embeddings --period 30d', () => sandbox.stats.vector('embeddings').report('30d')],
    ['search stats', () => ({ record_count: 3 })],
    ['vector stats', () => ({ record_count: 4 })],
  ])('upstash %s', async (line, expected) => {
    await traffic()
    const { database, user } = sandbox.stats
    const words = line.replace('DB', database.id).replace('USER', user.uuid).split(' ')
    expect(await upstash(...words)).toMatchObject(expected())
  })
})

describe('lists of @upstash/cli', () => {
  test.each([
    ['redis list', [{ database_name: 'main' }]],
    ['redis get --db-id DB', { database_name: 'main', rest_token: 'TOKEN' }],
    ['redis get --db-id DB --hide-credentials', { database_name: 'main' }],
    ['redis backup list --db-id DB', []],
    ['qstash list', [{ id: '99a4c327-31f0-490f-a594-043ade84085a' }]],
    ['qstash get --qstash-id USER', { state: 'active' }],
    ['qstash ipv4', ['3.125.136.186/32']],
    ['vector list', [{ id: 'embeddings' }]],
    ['vector get --index-id embeddings', { index_type: 'DENSE' }],
    ['search list', [{ id: 'products' }]],
    ['search get --index-id products', { region: 'eu-west-1' }],
    ['team list', []],
  ])('upstash %s', async (line, expected) => {
    await traffic()
    const { database, user } = sandbox.stats
    const words = line.replace('DB', database.id).replace('USER', user.uuid).split(' ')
    const text = JSON.stringify(expected).replace('TOKEN', sandbox.tokens.store)
    expect(await upstash(...words)).toMatchObject(JSON.parse(text))
  })

  test('upstash team members: no team exists', async () => {
    await expect(upstash('team', 'members', '--team-id', 't')).rejects.toThrow('not found')
  })
})

test('every GET in the code of the command line has a response', async () => {
  await traffic()
  const { stats, tokens, fetch } = sandbox
  const folder = join(fileURLToPath(cli), 'dist/commands')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  const found = files.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').matchAll(/request\([^"]*"GET", ["`]([^"`]+)["`]\)/g),
  ])
  const ids: Readonly<Record<string, string>> = { dbId: stats.database.id, qstashId: stats.user.uuid, teamId: 't' }
  const authorization = `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`
  const answers = await Promise.all(
    found.map(async ([, template = '']) => {
      const index = template.includes('/vector/') ? 'embeddings' : 'products'
      const path = template.replace(/\$\{qs\}/, '').replaceAll(/\$\{flags\.(\w+)\}/g, (_, name) => ids[name] ?? index)
      const { status } = await fetch(`https://api.upstash.com${path}`, { headers: { authorization } })
      return [template, status] as const
    }),
  )
  expect(answers.length).toBeGreaterThanOrEqual(18)
  expect(answers.filter(([, status]) => status !== 200)).toEqual([[expect.stringMatching(/^.v2.teams/), 404]])
})

test('upstash reports wrong credentials, unknown IDs and operations that change something', async () => {
  await expect(upstash('redis', 'list', '--email', 'a@shop.test', '--api-key', 'k')).rejects.toThrow('unauthorized')
  await expect(upstash('redis', 'stats', '--db-id', 'none')).rejects.toThrow('not found')
  await expect(upstash('redis', 'rename', '--db-id', 'x', '--name', 'y')).rejects.toThrow('method not allowed')
  const regions = ['--name', 'n', '--region', 'eu-west-1']
  await expect(upstash('redis', 'create', ...regions)).rejects.toThrow('method not allowed')
  expect(sandbox.realHostRequests).toEqual([])
})
