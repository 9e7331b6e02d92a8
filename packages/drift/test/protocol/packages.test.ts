import { createSandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { documentedCommands } from '../../../../test/support/documented-commands.js'
import { compareItems, type Row } from '../../src/protocol/compare.js'
import { digestOf } from '../../src/protocol/items.js'
import { explain, knownDifferences } from '../../src/protocol/known-differences.js'
import { vendorPackages } from '../../src/protocol/npm-packages.js'
import { containersOf, knownIn, type OurTables, ourTables } from '../../src/protocol/our-tables.js'
import type { Extract } from '../../src/protocol/read-package.js'
import { readRecord } from '../../src/protocol/records.js'
import { methodsOfClass, readInstalled } from './installed.js'

const tables = ourTables()

function recorded(name: string, version: string): Extract {
  const extract = readRecord(name, version)
  if (extract === undefined) throw new Error(`${name} ${version} is not recorded`)
  return extract
}

function named(rows: readonly Row[], kind: Row['kind'], change: Row['change']): string[] {
  return rows.filter((row) => row.kind === kind && row.change === change).map(({ name }) => name)
}

describe('recorded extracts', () => {
  test('of redis 1.38.4 and 1.39.0 differ in arrays, vectors and indexes over streams', () => {
    const rows = compareItems(recorded('@upstash/redis', '1.38.4').items, recorded('@upstash/redis', '1.39.0').items)
    // The names are those of the fact sheets.
    const arrays = 'COUNT DEL DELRANGE GET GETRANGE GREP INFO INSERT LASTITEMS LEN MGET MSET NEXT OP RING SCAN SEEK SET'
    const vectors = 'ADD COUNT CREATE DEL DROP GET INFO QUERY'
    expect(named(rows, 'command', 'new')).toEqual([
      ...arrays.split(' ').map((name) => `AR${name}`),
      ...vectors.split(' ').map((name) => `VECTOR.${name}`),
    ])
    expect(named(rows, 'option', 'new')).toEqual(['SEARCH.CREATE ON STREAM'])
    expect(rows.filter(({ change, kind }) => change === 'gone' && kind !== 'field')).toEqual([])
    for (const { source } of rows) expect(source).toMatch(/^redis\/[\w.-]+\.(?:mjs|d\.ts):\d+$/)
  })

  test('of qstash 2.11.3 and 2.12.0 differ in canceling by filters', () => {
    const rows = compareItems(recorded('@upstash/qstash', '2.11.3').items, recorded('@upstash/qstash', '2.12.0').items)
    expect(named(rows, 'text', 'changed')).toEqual(
      expect.arrayContaining(['Messages.cancel', 'MessageCancelCount count']),
    )
    expect(named(rows, 'field', 'changed')).toEqual(['DLQResponseFields responseStatus', 'UpstashRequest query'])
    expect(rows.filter(({ kind }) => kind === 'endpoint' || kind === 'parameter' || kind === 'header')).toEqual([])
  })

  test('of the command line ask for statistics of a database, until the double has them', () => {
    const cli = recorded('@upstash/cli', '1.0.2')
    const without = { ...tables, endpoints: tables.endpoints.filter(({ path }) => !path.startsWith('/v2/redis/')) }
    const ask = (endpoints: OurTables['endpoints']): string[] =>
      named(compareItems(cli.items, cli.items, knownIn({ ...tables, endpoints })), 'endpoint', 'new')
    expect(ask(without.endpoints)).toContain('GET /v2/redis/stats/{}')
    expect(ask([...without.endpoints, { method: 'GET', path: '/v2/redis/stats/:id' }])).not.toContain(
      'GET /v2/redis/stats/{}',
    )
    expect(ask([...without.endpoints, { method: 'POST', path: '/v2/redis/stats/:id' }])).toContain(
      'GET /v2/redis/stats/{}',
    )
  })

  test('are reported as new commands, also if they are recorded, until the double has them', () => {
    const redis = recorded('@upstash/redis', '1.39.0')
    const without = new Map([...tables.commands].filter(([name]) => !/^AR[A-Z]+$|^VECTOR\./.test(name)))
    const rows = compareItems(redis.items, redis.items, knownIn({ ...tables, commands: without }))
    const commands = named(rows, 'command', 'new')
    expect(commands).toHaveLength(26)
    // Their options have no rows of their own.
    expect(named(rows, 'option', 'new').filter((name) => /^AR|^VECTOR/.test(name))).toEqual([])
  })

  test('contain no descriptions by the vendor', () => {
    for (const name of vendorPackages) {
      const { items } = readRecord(name)!
      const texts = items.filter(({ kind, name: own }) => kind === 'text' && !own.startsWith('recognized: '))
      for (const text of texts) expect(digestOf(text)).toMatch(/^#[0-9a-f]{8}$/)
    }
  })
})

describe('an installed package', () => {
  const containers = containersOf(tables)
  const installed = vendorPackages
    .map((name) => readInstalled(name, containers))
    .filter((extract) => extract !== undefined)

  test('of a recorded version has the recorded extract', () => {
    const same = installed.filter(({ name, version }) => readRecord(name, version) !== undefined)
    expect(same.length).toBeGreaterThan(0)
    for (const { name, version, items } of same) {
      const record = recorded(name, version)
      expect(compareItems(record.items, items)).toEqual([])
      expect(items.map(({ kind, name, source, owner }) => ({ kind, name, source, owner }))).toEqual(
        record.items.map(({ kind, name, source, owner }) => ({ kind, name, source, owner })),
      )
    }
  })

  test('has nothing that our tables and the known differences do not explain', () => {
    const rows = installed.flatMap(({ name, items }) =>
      compareItems(readRecord(name)?.items, items, knownIn(tables)).map((row) => ({
        from: name.replace('@upstash/', ''),
        ...row,
      })),
    )
    const result = explain(rows, new Set(installed.map(({ name }) => name.replace('@upstash/', ''))))
    expect(result.rows).toEqual([])
    expect(result.stale).toEqual([])
  })

  test('of redis has a command for each method of its class that is named like a documented command', () => {
    const redis = installed.find(({ name }) => name === '@upstash/redis')!
    const found = new Set(redis.items.filter(({ kind }) => kind === 'command').map(({ name }) => name))
    const methods = methodsOfClass('@upstash/redis', 'Redis')
    // The SDK sends these commands as endpoints of their own.
    const endpoints = ['EXEC', 'MULTI', 'PSUBSCRIBE', 'SUBSCRIBE']
    const documented = documentedCommands().filter(
      ({ name }) => methods.has(name.toLowerCase().replace('_', '')) && !endpoints.includes(name),
    )
    expect(documented.length).toBeGreaterThan(150)
    expect(documented.filter(({ name }) => !found.has(name)).map(({ name }) => name)).toEqual([])
  })
})

describe('known differences', () => {
  const row = { from: 'cli', change: 'new', kind: 'endpoint', source: 'cli/a.js:1' } as const
  const known = { from: 'cli', change: 'new', kind: 'endpoint', reason: 'none' } as const

  test('explain rows with the same name, or with names that begin like theirs', () => {
    const rows = ['GET /a', 'GET /ab', 'GET /b/c'].map((name) => ({ ...row, name }))
    const result = explain(rows, new Set(), [
      { ...known, name: 'GET /a' },
      { ...known, name: 'GET /b/*' },
    ])
    expect(result.rows.map(({ name }) => name)).toEqual(['GET /ab'])
    expect(result.explained.map(({ name }) => name)).toEqual(['GET /a', 'GET /b/c'])
  })

  test.each([
    ['source', { from: 'redis' }],
    ['change', { change: 'gone' }],
    ['kind', { kind: 'parameter' }],
  ] as const)('of another %s explain nothing', (_what, other) => {
    expect(
      explain([{ ...row, name: 'GET /a' }], new Set(), [{ ...known, name: 'GET /a', ...other }]).rows,
    ).toHaveLength(1)
  })

  test('of the management API are writes that the double rejects with 405, as docs/limits.md says', async () => {
    using sandbox = createSandbox()
    const { mgmtUser, mgmtKey } = sandbox.tokens
    const headers = { authorization: `Basic ${btoa(`${mgmtUser}:${mgmtKey}`)}` }
    const writes = knownDifferences.filter(({ from }) => from === 'cli')
    expect(writes.length).toBeGreaterThan(30)
    for (const { name, reason } of writes) {
      const [method, path] = name.replaceAll('{}', 'some-id').split(' ') as [string, string]
      const { status } = await sandbox.fetch(`${sandbox.urls.mgmt}${path}`, { method, headers })
      expect({ name, status }).toEqual({ name, status: 405 })
      expect(reason).toContain('405')
    }
  })

  test('that no longer occur are stale, if their source was read', () => {
    const table = [{ ...known, name: 'GET /gone' }]
    expect(explain([], new Set(['cli']), table).stale).toEqual(table)
    expect(explain([], new Set(['redis']), table).stale).toEqual([])
  })
})
