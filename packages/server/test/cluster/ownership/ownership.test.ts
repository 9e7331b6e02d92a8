import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../../../src/kernel/random.js'
import { StoreUnreachable } from '../../../src/cluster/cluster-store.js'
import { CannotOpen, Ownership } from '../../../src/cluster/ownership.js'
import { NotOwner } from '../../../src/cluster/tenant-lease.js'
import { ListWorld } from './simulation/list-world.js'
import { SimClock } from './simulation/sim-clock.js'
import { SimEngine } from './simulation/sim-engine.js'
import { SimProcess } from './simulation/sim-process.js'

// Single cases of ownership, with the clock and the Redis of the simulation, which is fast and loses nothing here.

const lease = 1_500

class Cluster {
  readonly clock: SimClock = new SimClock()
  readonly engine: SimEngine = new SimEngine({
    clock: this.clock,
    random: createRandom('ownership'),
    tell: () => {},
    breach: (what) => {
      throw new Error(what)
    },
    mutate: (_, source) => source,
  })
  readonly reports: string[] = []
  readonly dropped: string[] = []

  constructor() {
    this.engine.isCalm = true
  }

  node(id: string) {
    const process = new SimProcess(this.clock, createRandom(id))
    const ownership = new Ownership<ListWorld>({
      ...{ engine: this.engine.of(process), node: { id, address: `http://${id}:1` }, lease, host: process },
      report: (sentence) => this.reports.push(`${id}: ${sentence}`),
      dropped: (tenant) => this.dropped.push(`${id}: ${tenant}`),
      open: async (_, kept) => new ListWorld({ node: id, host: process, outside: () => true }, kept),
    })
    return { id, process, ownership }
  }

  /** Returns the result of a promise while time advances, and how long it took. Fails if it takes longer than given. */
  async within<T>(ms: number, promise: Promise<T>): Promise<{ readonly value: T; readonly took: number }> {
    let settled: { readonly value: T } | { readonly error: unknown } | undefined
    promise.then(
      (value) => {
        settled = { value }
      },
      (error: unknown) => {
        settled = { error }
      },
    )
    const start = this.clock.now
    await this.pass(0)
    while (settled === undefined && this.clock.now < start + ms) await this.pass(10)
    if (settled === undefined) throw new Error(`not within ${ms} ms`)
    if ('error' in settled) throw settled.error
    return { value: settled.value, took: this.clock.now - start }
  }

  /** Only waits. */
  async pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    await this.clock.runUntil(this.clock.now + ms)
  }

  async own(node: ReturnType<Cluster['node']>, tenant: string) {
    const { value } = await this.within(200, node.ownership.where(tenant))
    if (value.own === undefined) throw new Error(`${tenant} is at ${value.node.id}`)
    return value.own
  }
}

describe('a tenant moves to another node', () => {
  test('within its lease when its node is killed', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    const own = await cluster.own(a, 't')
    own.world.write('w1', false)
    await cluster.within(100, own.commit())
    expect((await cluster.within(100, b.ownership.where('t'))).value).toEqual({
      node: { id: 'a', address: 'http://a:1' },
    })
    a.process.die()
    const { value, took } = await cluster.within(2_000, b.ownership.where('t', { again: true }))
    expect(value.own?.world.stand.length).toBe(1)
    expect(took).toBeGreaterThan(lease / 2)
  })

  test('with one call to the Redis for a hundred waiting requests', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    await cluster.own(a, 't')
    await cluster.within(100, b.ownership.where('t'))
    a.process.die()
    const asked = cluster.engine.counts['acquire held']!
    const all = Array.from({ length: 100 }, () => b.ownership.where('t', { again: true }))
    const { value } = await cluster.within(2_000, Promise.all(all))
    expect(new Set(value.map(({ own }) => own?.fence))).toEqual(new Set([2]))
    expect(cluster.engine.counts['acquire held']! - asked).toBeLessThan(20)
  })

  test('within two leases when its node is killed and no request arrives', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    await cluster.own(a, 't')
    await cluster.own(b, 'u')
    a.process.die()
    await cluster.pass(2 * lease + 500)
    const { tenants, nodes } = (await cluster.within(100, b.ownership.describe())).value
    expect(tenants).toEqual([
      { name: 't', owner: 'b' },
      { name: 'u', owner: 'b' },
    ])
    expect(nodes).toEqual([
      { id: 'a', address: 'http://a:1', isAlive: false },
      { id: 'b', address: 'http://b:1', isAlive: true },
    ])
  })

  test('immediately when its node stops, with its pending changes', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    const own = await cluster.own(a, 't')
    await cluster.pass(100)
    own.world.write('w1', false)
    const closed = a.ownership.close()
    await cluster.within(50, closed)
    expect((await cluster.own(b, 't')).world.stand.length).toBe(1)
    expect(own.signal.aborted).toBe(true)
    expect(cluster.dropped).toEqual(['a: t'])
    await expect(cluster.within(100, a.ownership.where('t'))).rejects.toThrow(NotOwner)
    await expect(cluster.within(100, own.commit())).rejects.toThrow(NotOwner)
  })

  test('not while it is idle for minutes', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    const own = await cluster.own(a, 't')
    await cluster.pass(180_000)
    expect(own.signal.aborted).toBe(false)
    const asked = await cluster.within(lease, b.ownership.where('t', { again: true }))
    expect(asked.value.node?.id).toBe('a')
    expect(own.fence).toBe(1)
  })

  test('when its node hangs: as soon as its lease has expired, at any time of the last request', async () => {
    for (let asked = 10; asked < lease - 150; asked += 70) {
      const cluster = new Cluster()
      const [one, two] = [cluster.node('one'), cluster.node('two')]
      await cluster.own(one, 'w1')
      one.process.freeze()
      await cluster.pass(asked)
      expect(await cluster.within(100, two.ownership.where('w1'))).toMatchObject({ value: { node: { id: 'one' } } })
      const whoHasIt = async () => (await two.ownership.where('w1')).node?.id ?? 'two'
      await cluster.pass(lease - asked - 100)
      expect((await cluster.within(100, whoHasIt())).value).toBe('one')
      await cluster.pass(110)
      expect((await cluster.within(100, whoHasIt())).value).toBe('two')
    }
  })

  test('when its node hung for too long, which then rejects all requests', async () => {
    const cluster = new Cluster()
    const [a, b] = [cluster.node('a'), cluster.node('b')]
    const own = await cluster.own(a, 't')
    await cluster.within(100, b.ownership.where('t'))
    a.process.freeze()
    const other = (await cluster.within(2_000, b.ownership.where('t', { again: true }))).value.own!
    other.world.write('w1', false)
    await cluster.within(100, other.commit())
    a.process.resume()
    own.world.write('w2', false)
    await expect(cluster.within(500, own.commit())).rejects.toThrow(NotOwner)
    expect(own.signal.aborted).toBe(true)
    expect((await cluster.within(500, a.ownership.where('t'))).value.node?.id).toBe('b')
    expect(other.world.stand.length).toBe(1)
  })
})

describe('an unavailable Redis', () => {
  test('rejects requests soon, and costs no sandbox if it comes back', async () => {
    const cluster = new Cluster()
    const a = cluster.node('a')
    const own = await cluster.own(a, 't')
    await cluster.pass(100)
    cluster.engine.isDown = true
    own.world.write('w1', false)
    await expect(cluster.within(2_500, own.commit())).rejects.toThrow(StoreUnreachable)
    // The failure is known by now.
    await expect(cluster.within(0, a.ownership.where('t'))).rejects.toThrow(StoreUnreachable)
    await expect(cluster.within(2_500, a.ownership.where('u'))).rejects.toThrow(StoreUnreachable)
    await cluster.pass(5_000)
    cluster.engine.isDown = false
    await cluster.pass(500)
    expect((await cluster.own(a, 't')).world).toBe(own.world)
    expect(cluster.engine.journals.get('t')!.at(-1)!.text).toContain('w1')
    expect(cluster.reports).toEqual([])
  })

  test('costs the sandbox after a long time, which then continues from its saved state', async () => {
    const cluster = new Cluster()
    const a = cluster.node('a')
    const own = await cluster.own(a, 't')
    await cluster.pass(100)
    cluster.engine.isDown = true
    own.world.write('w1', false)
    await cluster.pass(40_000)
    expect(own.signal.aborted).toBe(true)
    expect(cluster.reports).toEqual([expect.stringMatching(/^a: tenant t: .*may be lost.*unavailable/)])
    cluster.engine.isDown = false
    expect((await cluster.own(a, 't')).world.stand.length).toBe(0)
  })
})

test('costs nothing for a tenant without changes, and reports nothing', async () => {
  const cluster = new Cluster()
  const a = cluster.node('a')
  const own = await cluster.own(a, 't')
  await cluster.pass(100)
  cluster.engine.isDown = true
  await cluster.pass(40_000)
  expect(own.signal.aborted).toBe(true)
  expect(cluster.reports).toEqual([])
})

test('a journal that cannot be replayed is reported once, and no node opens it', async () => {
  const cluster = new Cluster()
  const a = cluster.node('a')
  await cluster.own(a, 't')
  await cluster.pass(100)
  await cluster.within(100, a.ownership.close())
  cluster.engine.store.command('RPUSH', 'stuntdouble:{t}:journal', '1:{"write":"x","before":99}')
  const b = cluster.node('b')
  await expect(cluster.within(200, b.ownership.where('t'))).rejects.toThrow(CannotOpen)
  await cluster.pass(120_000)
  await expect(cluster.within(200, b.ownership.where('t'))).rejects.toThrow(/^tenant t cannot be opened .* strays/)
  expect(cluster.reports).toEqual([expect.stringMatching(/^b: tenant t cannot be opened .*strays/)])
  expect(cluster.engine.counts['acquire mine']).toBeLessThan(12)
  await cluster.within(200, b.ownership.drop('t'))
  expect((await cluster.own(b, 't')).world.stand.length).toBe(0)
  expect((await cluster.within(100, b.ownership.describe())).value.tenants).toEqual([{ name: 't', owner: 'b' }])
})

test('a commit during an append is checked by the next append', async () => {
  const cluster = new Cluster()
  const a = cluster.node('a')
  const own = await cluster.own(a, 't')
  await cluster.pass(100)
  const appends = (): number => cluster.engine.counts['append kept']!
  const before = appends()
  const settled: string[] = []
  own.world.write('w1', false)
  const first = own.commit().then(() => settled.push(`first after ${appends() - before}`))
  const second = own.commit().then(() => settled.push(`second after ${appends() - before}`))
  own.world.write('w2', false)
  const third = own.commit().then(() => settled.push(`third after ${appends() - before}`))
  await cluster.within(100, Promise.all([first, second, third]))
  expect(settled).toEqual(['first after 1', 'second after 2', 'third after 2'])
})

test('a thousand writes need few appends, in order', async () => {
  const cluster = new Cluster()
  const a = cluster.node('a')
  const own = await cluster.own(a, 't')
  await cluster.pass(100)
  const before = cluster.engine.counts['append kept']!
  const commits = Array.from({ length: 2_500 }, (_, at) => {
    own.world.write(`w${at}`, false)
    return own.commit()
  })
  await cluster.within(1_000, Promise.all(commits))
  expect(cluster.engine.counts['append kept']! - before).toBe(4)
  const texts = cluster.engine.journals.get('t')!.map(({ text }) => text)
  expect(texts.flatMap((text) => /"write":"w(\d+)"/.exec(text)?.[1] ?? []).map(Number)).toEqual(
    Array.from({ length: 2_500 }, (_, at) => at),
  )
})

test('a dropped tenant has no owner, and is new afterwards', async () => {
  const cluster = new Cluster()
  const [a, b] = [cluster.node('a'), cluster.node('b')]
  const own = await cluster.own(a, 't')
  own.world.write('w1', false)
  await cluster.within(100, own.commit())
  await expect(cluster.within(100, b.ownership.drop('t'))).rejects.toThrow(NotOwner)
  await cluster.within(100, a.ownership.drop('t'))
  expect((await cluster.within(100, b.ownership.describe())).value.tenants).toEqual([])
  await cluster.pass(5_000)
  expect((await cluster.within(100, b.ownership.describe())).value.tenants).toEqual([])
  await expect(cluster.within(100, own.commit())).rejects.toThrow('deleted')
  expect((await cluster.own(b, 't')).world.stand.length).toBe(0)
})

test('a tenant still exists if dropping it failed', async () => {
  const cluster = new Cluster()
  const a = cluster.node('a')
  const own = await cluster.own(a, 't')
  own.world.write('w1', false)
  await cluster.within(100, own.commit())
  cluster.engine.isDown = true
  await expect(cluster.within(2_000, a.ownership.drop('t'))).rejects.toThrow(StoreUnreachable)
  cluster.engine.isDown = false
  await cluster.pass(2_000)
  expect((await cluster.within(100, a.ownership.describe())).value.tenants).toEqual([{ name: 't', owner: 'a' }])
  expect((await cluster.own(a, 't')).world.stand.length).toBe(1)
})
