import { describe, expect, test } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'

const places = [undefined, 'eu', 'us'] as const

/** Sends one command to a database, and returns its response, or `undefined` if the connection broke. */
async function ask(sandbox: Sandbox, database: string | undefined, path: string): Promise<Response | undefined> {
  const { urls, tokens } = sandbox
  const url = database === undefined ? urls.store : urls.databases[database]!
  const { store } = database === undefined ? tokens : tokens.databases[database]!
  return sandbox.fetch(`${url}/${path}`, { headers: { authorization: `Bearer ${store}` } }).catch(() => undefined)
}

/** Returns the status of a request to each database; 0 if the connection broke. */
const statuses = (sandbox: Sandbox): Promise<number[]> =>
  Promise.all(places.map(async (place) => (await ask(sandbox, place, 'incr/n'))?.status ?? 0))

const worldOf = () => createSandbox({ databases: ['eu', 'us'] })

describe('a rule with match: { database }', () => {
  test.each([
    ['store.request', fault.status(503), 503],
    ['store.command', fault.quotaExceeded(), 400],
  ] as const)('hits only this database at %s', async (on, fault, status) => {
    using sandbox = worldOf()
    sandbox.faults.add({ on, match: { database: 'us' }, fault } as never)
    expect(await statuses(sandbox)).toEqual([200, 200, status])
    expect(sandbox.traffic.ofType('fault').map(({ database }) => database)).toEqual(['us'])
  })

  test('lasts for its window as an outage', async () => {
    using sandbox = worldOf()
    sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, until: '1m', fault: fault.outage() })
    expect(await statuses(sandbox)).toEqual([200, 200, 0])
    await sandbox.clock.advance('1m')
    expect(await statuses(sandbox)).toEqual([200, 200, 200])
  })

  test('takes down only this database as a restart', async () => {
    using sandbox = worldOf()
    const rule = { on: 'store.request', times: 1, fault: fault.restart('1m') } as const
    sandbox.faults.add({ ...rule, match: { database: 'us' } })
    expect(await statuses(sandbox)).toEqual([200, 200, 0])
    expect(await statuses(sandbox)).toEqual([200, 200, 0])
    await sandbox.clock.advance('1m')
    expect(await statuses(sandbox)).toEqual([200, 200, 200])
    sandbox.faults.add(rule)
    expect(await statuses(sandbox)).toEqual([0, 200, 200])
    expect(await statuses(sandbox)).toEqual([0, 200, 200])
  })

  test('is in the message about an unused rule', async () => {
    using sandbox = worldOf()
    sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, fault: fault.status(503) })
    await ask(sandbox, 'eu', 'get/a')
    expect(sandbox.faults.unused[0]!.message).toContain('{"database":"us"}')
  })
})

test('a rule without a database hits all databases', async () => {
  using sandbox = worldOf()
  sandbox.faults.add({ on: 'store.request', fault: fault.status(503) })
  expect(await statuses(sandbox)).toEqual([503, 503, 503])
  expect(sandbox.traffic.ofType('fault').map(({ database }) => database)).toEqual([undefined, 'eu', 'us'])
})

test.each(places)('a stale read in database %s returns the earlier value of this database', async (place) => {
  using sandbox = worldOf()
  const match = { command: 'GET', ...(place !== undefined && { database: place }) }
  sandbox.faults.add({ on: 'store.command', match, fault: fault.staleRead() })
  for (const [index, store] of sandbox.stores.entries()) for (const n of [1, 2]) store.run('SET', 'a', `${index}-${n}`)
  const response = await ask(sandbox, place, 'get/a')
  expect(await response!.json()).toEqual({ result: `${places.indexOf(place)}-1` })
})

test('a rule must name a database that the sandbox has', () => {
  const rule = { on: 'store.request', match: { database: 'eurpe' }, fault: fault.outage() } as const
  using sandbox = createSandbox({ databases: ['europe', 'us'] })
  expect(() => sandbox.faults.add(rule)).toThrow(
    'faults.add(): match.database: There is no database "eurpe". Did you mean "europe"? The added databases are europe, us.',
  )
  using single = createSandbox()
  expect(() => single.faults.add(rule)).toThrow(
    "Pass the option databases: ['us'] to createSandbox() to add databases.",
  )
})

test('a sandbox with the name of a database has other URLs', () => {
  using sandbox = createSandbox({ databases: ['shop'] })
  using other = createSandbox({ name: 'shop' })
  expect(sandbox.owns(other.urls.store)).toBe(false)
})
