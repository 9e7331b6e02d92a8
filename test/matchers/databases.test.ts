import { describe, expect, test } from 'vitest'
import { evaluators } from '../../matchers/index.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

const ask = (sandbox: Sandbox, database: string | undefined, path: string): Promise<Response> => {
  const { urls, tokens } = sandbox
  const url = database === undefined ? urls.store : urls.databases[database]!
  const { store } = database === undefined ? tokens : tokens.databases[database]!
  return sandbox.fetch(`${url}/${path}`, { headers: { authorization: `Bearer ${store}` } })
}

async function world(): Promise<Sandbox> {
  const sandbox = createSandbox({ databases: ['eu', 'us'] })
  await ask(sandbox, 'us', 'set/cart/1')
  await ask(sandbox, undefined, 'set/stock/5')
  await ask(sandbox, 'us', 'del/stock')
  return sandbox
}

describe('matchers of a database', () => {
  test('read its keys and its entries', async () => {
    using sandbox = await world()
    const [first, us] = [sandbox.store, sandbox.storeIn('us')]
    const executed = (subject: unknown) => evaluators.toHaveExecuted(subject, 'SET' as never, 'cart' as never).pass
    expect(evaluators.toHaveKey(us, 'cart' as never, { value: '1' } as never).pass).toBe(true)
    expect(evaluators.toHaveKey(first, 'cart' as never).pass).toBe(false)
    expect(evaluators.toHaveKey(sandbox, 'stock' as never).pass).toBe(true)
    expect([us, first, sandbox].map(executed)).toEqual([true, false, true])
    const requests = (subject: unknown, pattern: object, times: number) =>
      evaluators.toHaveReceivedRequest(subject, pattern as never, { times } as never).pass
    expect(requests(us, {}, 2)).toBe(true)
    expect(requests(first, {}, 1)).toBe(true)
    expect(requests(sandbox, { database: 'us' }, 2)).toBe(true)
    expect(requests(sandbox, { database: undefined }, 1)).toBe(true)
    const steps = [
      { type: 'command', argv: ['set'], database: 'us' },
      { type: 'keyspace', key: 'stock', database: undefined },
    ]
    expect(evaluators.toFollowSequence(sandbox, steps as never).pass).toBe(true)
    expect(sandbox.traffic.filter({ type: 'command', database: 'us' })).toHaveLength(2)
  })

  test('count its costs, and the sum of all for the sandbox', async () => {
    using sandbox = await world()
    const mark = sandbox.traffic.mark()
    await ask(sandbox, 'us', 'get/cart')
    const costs = (subject: unknown, commands: number, options?: object) =>
      evaluators.toHaveCost(subject, { commands } as never, options as never)
    for (const [subject, all, later] of [
      [sandbox, 4, 1],
      [sandbox.store, 1, 0],
      [sandbox.storeIn('us'), 3, 1],
      [sandbox.storeIn('eu'), 0, 0],
    ] as const) {
      expect(costs(subject, all).pass).toBe(true)
      expect(costs(subject, later, { since: mark }).pass).toBe(true)
    }
    expect(costs(sandbox.storeIn('us'), 9).explain(false)).toContain('Expected these costs in database us')
  })

  test('name the database in failures', async () => {
    using sandbox = await world()
    const us = sandbox.storeIn('us')
    const told = evaluators.toHaveKey(us, 'crt' as never).explain(false)
    expect(told).toContain(`expect(storeIn('us')).toHaveKey('crt')`)
    expect(told).toContain(`Expected a key 'crt' in database us. It does not exist.`)
    expect(told).toContain(`Did you mean the key 'cart'?`)
    const executed = (key: string) => evaluators.toHaveExecuted(us, 'SET' as never, key as never)
    expect(executed('stock').explain(false)).toContain('Expected an executed command in database us.')
    expect(executed('cart').explain(true)).toContain('no executed command like this in database us')
    expect(sandbox.traffic.timeline()).toContain('(us)')
  })

  test('name the database of each command, if there are several', async () => {
    using sandbox = createSandbox({ databases: ['us'] })
    const { urls, tokens } = sandbox
    const set = (url: string, token: string) =>
      sandbox.fetch(`${url}/set/a/1`, { headers: { authorization: `Bearer ${token}` } })
    await set(urls.store, tokens.store)
    await set(urls.databases.us!, tokens.databases.us!.store)
    const linesOf = (subject: unknown) =>
      evaluators
        .toHaveExecuted(subject, 'set' as never, 'a' as never)
        .explain(true)
        .split('\n\n')
        .find((part) => part.startsWith('Expected'))!
    expect(linesOf(sandbox)).toMatch(/set a 1 → OK\n.*set a 1 → OK \(us\)\nReplay/)
    expect(linesOf(sandbox.storeIn('us'))).toMatch(/set a 1 → OK\nReplay/)
    expect(linesOf(sandbox.store)).toMatch(/set a 1 → OK\nReplay/)
  })

  test('use only entries of their database as causes', async () => {
    using sandbox = await world()
    const other = sandbox.traffic.ofType('command').find(({ argv }) => argv[0] === 'del')!
    sandbox.store.run('DEL', 'stock')
    const own = sandbox.traffic.last('command')!
    for (const subject of [sandbox, sandbox.store]) {
      const told = evaluators.toHaveKey(subject, 'stock' as never).explain(false)
      expect(told).toContain(`by #${own.seq} DEL stock`)
      expect(told).not.toContain(`#${other.seq} `)
    }
    const told = evaluators.toHaveKey(sandbox.storeIn('us'), 'stock' as never).explain(false)
    expect(told).not.toContain(`#${own.seq} `)
    expect(told).not.toContain('was deleted')
  })

  test('find a key that only another database has', async () => {
    using sandbox = await world()
    const told = evaluators.toHaveKey(sandbox, 'cart' as never).explain(false)
    expect(told).toContain(`Database us has this key. Write expect(sandbox.storeIn('us')).`)
  })
})
