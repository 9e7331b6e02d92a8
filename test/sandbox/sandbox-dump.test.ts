import { createSandbox, fault, type Sandbox, type SandboxDump } from 'stuntdouble'
import { describe, expect, test } from 'vitest'

const shop = 'https://shop.test/orders'
const copied = (dump: SandboxDump): SandboxDump => JSON.parse(JSON.stringify(dump)) as SandboxDump

const send = async (sandbox: Sandbox, ...command: string[]): Promise<unknown> => {
  const answer = await sandbox.fetch(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(command),
  })
  return answer.json()
}

/** A sandbox with at least one of everything that a dump contains. */
async function lived(): Promise<Sandbox> {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z', dialect: 'upstash' })
  const { store, queue, destinations, clock } = sandbox
  store.run('SET', 'cache', 'warm', 'EX', 3600)
  store.run('HSET', 'hash', 'a', '1')
  store.run('XADD', 'events', '*', 'n', '1')
  store.run('FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('five', function() return 5 end)")
  const token = store.run('ACL', 'GENTOKEN', 'bob', 'a password that is long') as string
  store.run('ACL', 'SETUSER', 'bob', 'on', `>${token}`, '~public:*', '+@read')
  store.resetPassword()
  destinations.script(shop, [fault.status(500), fault.status(503), fault.status(503), fault.status(503)])
  queue.publish({ to: shop, body: { id: 42 }, retries: 1 })
  queue.publish({ to: 'https://shop.test/later', body: 'later', delay: '2h' })
  queue.signingKeys.rotate()
  await clock.advance('10m')
  return sandbox
}

describe('a sandbox as JSON', () => {
  test('continues where it was: data, TTLs, tokens, users, functions, messages, dead letters, keys, statistics', async () => {
    using before = await lived()
    using after = createSandbox({ seed: 7, dialect: 'upstash' })
    after.load(copied(before.dump()))
    expect(after.clock.now()).toBe(before.clock.now())
    expect(after.store.dump()).toEqual(before.store.dump())
    expect(after.store.run('TTL', 'cache')).toBe(3000)
    expect(after.tokens).toEqual(before.tokens)
    expect(await send(after, 'FCALL', 'five', '0')).toEqual({ result: 5 })
    expect(after.store.run('ACL', 'LIST')).toEqual(before.store.run('ACL', 'LIST'))
    const bob = before.store.run('ACL', 'RESTTOKEN', 'bob', 'a password that is long')
    expect(after.store.run('ACL', 'RESTTOKEN', 'bob', 'a password that is long')).toBe(bob)
    expect(after.queue.deadLetters.map(({ id, message }) => [id, message.id])).toEqual(
      before.queue.deadLetters.map(({ id, message }) => [id, message.id]),
    )
    expect(after.env).toEqual(before.env)
    expect(after.stats.queue.report('1d')).toEqual(before.stats.queue.report('1d'))
    expect(after.stats.queue.report('30d').total_monthly_billing).toBeGreaterThan(0)
    const arrived = after.destinations.record('https://shop.test/later')
    await after.clock.advance('2h')
    expect(arrived.last().text()).toBe('later')
  })

  test('stays the same after a second load', async () => {
    using before = await lived()
    using after = createSandbox({ dialect: 'upstash' })
    const dump = copied(before.dump())
    after.load(dump)
    expect(copied(after.dump())).toEqual({ ...dump, loads: 1 })
  })

  test('gives new messages IDs that differ from the loaded ones', async () => {
    using before = createSandbox({ dialect: 'upstash' })
    const publish = async (sandbox: Sandbox): Promise<string> => {
      const answer = await sandbox.fetch(`${sandbox.urls.queue}/v2/publish/${shop}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'upstash-delay': '1d' },
      })
      return ((await answer.json()) as { messageId: string }).messageId
    }
    const first = await publish(before)
    using after = createSandbox({ dialect: 'upstash' })
    after.load(before.dump())
    const second = await publish(after)
    using third = createSandbox({ dialect: 'upstash' })
    third.load(after.dump())
    expect(new Set([first, second, await publish(third)]).size).toBe(3)
  })

  test('can be loaded at a later time, at which everything due in between is due', async () => {
    using before = await lived()
    using after = createSandbox({ dialect: 'upstash' })
    after.load(before.dump(), { at: '2030-01-01T12:00:00Z' })
    expect(after.store.get('cache')).toBeNull()
    const recorder = after.destinations.record('https://shop.test/later')
    await after.clock.advance(0)
    expect(recorder.count).toBe(1)
  })

  test.each([
    ['nothing', undefined],
    ['another format', { format: 'stuntdouble/store', version: 1, keys: [] }],
    ['a version of the future', { version: 2 }],
    ['a broken part', { queue: { format: 'stuntdouble/queue' } }],
    ['a broken store', { store: { format: 'stuntdouble/store', version: 1, keys: 'none' } }],
  ])('throws for an invalid dump and changes nothing: %s', async (_, change) => {
    using sandbox = await lived()
    const before = copied(sandbox.dump())
    const wrong = change === undefined ? undefined : { ...before, ...change }
    expect(() => sandbox.load(wrong as SandboxDump)).toThrow(TypeError)
    expect(copied(sandbox.dump())).toEqual(before)
  })
})
