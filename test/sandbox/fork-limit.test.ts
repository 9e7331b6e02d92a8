import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/index.js'

const write = (sandbox: Sandbox, count = 200): void => {
  for (let index = 0; index < count; index++) sandbox.store.run('SET', `key ${index}`, `value number ${index}`)
}

/** Forks until an error, at most twenty times. */
async function forked(origin: Sandbox): Promise<{ readonly forks: Sandbox[]; readonly told: string }> {
  const forks: Sandbox[] = []
  for (let count = 0; count < 20; count++) {
    try {
      forks.push(await origin.fork())
    } catch (error) {
      return { forks, told: (error as Error).message }
    }
  }
  return { forks, told: '' }
}

const dispose = (forks: readonly Sandbox[]): void => {
  for (const fork of forks) fork.dispose()
}

test('fork() throws if all forks together would exceed maxForkBytes, and works again after one was disposed', async () => {
  using sandbox = createSandbox({ policy: { maxForkBytes: 1_000_000 } })
  write(sandbox)
  const { forks, told } = await forked(sandbox)
  expect(forks.length).toBeGreaterThan(1)
  expect(forks.length).toBeLessThan(20)
  expect(told).toContain('policy.maxForkBytes')
  expect(told).toContain('dispose')
  await expect(sandbox.asOf('-0s').fork()).rejects.toThrow('policy.maxForkBytes')
  forks.pop()!.dispose()
  forks.push(await sandbox.fork())
  await expect(sandbox.fork()).rejects.toThrow('policy.maxForkBytes')
  dispose(forks)
  const again = await forked(sandbox)
  expect(again.forks.length).toBe(forks.length)
  dispose(again.forks)
})

test('forks of forks count for the first origin', async () => {
  using sandbox = createSandbox({ policy: { maxForkBytes: 1_000_000 } })
  write(sandbox)
  using first = await sandbox.fork()
  const { forks } = await forked(first)
  await expect(sandbox.fork()).rejects.toThrow('policy.maxForkBytes')
  dispose(forks)
  using _ = await sandbox.fork()
})

test('a fork that is reset releases its bytes', async () => {
  using sandbox = createSandbox({ policy: { maxForkBytes: 1_000_000 } })
  write(sandbox)
  const { forks } = await forked(sandbox)
  forks[0]!.reset()
  forks.push(await sandbox.fork())
  dispose(forks)
})

test('a fork of an early instant counts only the inputs before it', async () => {
  using sandbox = createSandbox({ policy: { maxForkBytes: 60_000 } })
  write(sandbox, 20)
  await sandbox.clock.advance('1s')
  write(sandbox, 300)
  await expect(sandbox.fork()).rejects.toThrow('policy.maxForkBytes')
  using early = await sandbox.fork({ at: '-1s' })
  expect(early.store.run('DBSIZE')).toBe(20)
})

test('growing forks drop the older halves of their logs, and their origin does not', async () => {
  using sandbox = createSandbox({ policy: { maxForkBytes: 500_000 } })
  write(sandbox, 50)
  using one = await sandbox.fork()
  using other = await sandbox.fork()
  write(one, 200)
  write(other, 600)
  expect(other.traffic.entries[0]).toMatchObject({ type: 'dropped', unit: 'bytes' })
  expect(sandbox.traffic.dropped).toBe(0)
  write(sandbox, 2_000)
  expect(sandbox.traffic.dropped).toBe(0)
})

test('a fork shares immutable data with its origin, and equals it', async () => {
  using sandbox = createSandbox()
  write(sandbox, 5)
  await sandbox.fetch(`${sandbox.urls.store}/get/key%201`, {
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
  })
  using fork = await sandbox.fork()
  for (const type of ['command', 'keyspace', 'request'] as const) {
    const [there, here] = [sandbox.traffic.ofType(type), fork.traffic.ofType(type)]
    expect(here.length).toBe(there.length)
    for (const [index, entry] of here.entries()) expect(entry).toBe(there[index])
  }
  fork.store.run('SET', 'key 1', 'another')
  fork.reset()
  expect(sandbox.store.get('key 1')).toBe('value number 1')
  expect(sandbox.traffic.ofType('command').at(-1)?.argv).toEqual(['get', 'key 1'])
})

test('a chain of forks of forks has its whole past', async () => {
  using sandbox = createSandbox()
  const chain: Sandbox[] = [sandbox]
  for (let count = 0; count < 30; count++) {
    const last = chain.at(-1)!
    last.store.run('RPUSH', 'list', count)
    await last.clock.advance('1s')
    chain.push(await last.fork())
  }
  const last = chain.at(-1)!
  expect(last.store.run('LRANGE', 'list', 0, -1)).toEqual(Array.from({ length: 30 }, (_, count) => String(count)))
  using early = await last.fork({ at: '-20s' })
  expect(early.store.run('LLEN', 'list')).toBe(11)
  expect(sandbox.store.run('LLEN', 'list')).toBe(1)
  dispose(chain.slice(1))
})
