import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { JournaledSandbox } from '../../src/cluster/journaled-sandbox.js'
import { Nodes } from './shelf.js'

const pause = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 5))

/** Returns a sandbox whose deliveries are counted, and a gate that a test controls. */
async function gated(): Promise<{ nodes: Nodes; sent: string[]; open: () => void; refuse: () => void }> {
  const sent: string[] = []
  const nodes = new Nodes((request) => {
    sent.push(request.url)
    return new Response('ok')
  })
  await nodes.open()
  let [open, refuse] = [(): void => {}, (): void => {}]
  const gate = new Promise<void>((resolve, reject) => {
    open = resolve
    refuse = () => reject(new Error('another node has it'))
  })
  nodes.world.gate = () => gate
  return { nodes, sent, open, refuse }
}

test('a delivery starts when the gate opens, after its attempt was recorded', async () => {
  const { nodes, sent, open } = await gated()
  nodes.shelf.put(nodes.world)
  nodes.sandbox.queue.publish({ to: 'https://shop.test/orders' })
  const moved = nodes.sandbox.clock.advance('1s')
  await pause()
  expect(sent).toEqual([])
  const noted = nodes.shelf.records.length
  nodes.shelf.put(nodes.world)
  expect(nodes.shelf.records.length).toBeGreaterThan(noted)
  open()
  await moved
  expect(sent).toEqual(['https://shop.test/orders'])
  expect(nodes.sandbox.traffic.ofType('attempt')[0]?.outcome?.status).toBe(200)
  nodes.world.dispose()
})

test('a delivery that the gate rejects is never sent, and the next owner continues the sandbox', async () => {
  const { nodes, sent, refuse } = await gated()
  nodes.sandbox.queue.publish({ to: 'https://shop.test/orders' })
  void nodes.sandbox.clock.advance('1s').catch(() => {})
  await pause()
  refuse()
  await pause()
  expect(sent).toEqual([])
  await nodes.move()
  await nodes.sandbox.clock.settle()
  expect(sent).toEqual(['https://shop.test/orders'])
  expect(nodes.sandbox.traffic.ofType('attempt')).toHaveLength(1)
  expect(nodes.sandbox.traffic.ofType('attempt')[0]?.outcome?.status).toBe(200)
  nodes.world.dispose()
})

test('a disposed sandbox starts no delivery, even if the gate opens', async () => {
  const { nodes, sent, open } = await gated()
  nodes.sandbox.queue.publish({ to: 'https://shop.test/orders' })
  void nodes.sandbox.clock.advance('1s').catch(() => {})
  await pause()
  nodes.world.dispose()
  open()
  await pause()
  expect(sent).toEqual([])
  expect(nodes.world.take().length).toBeGreaterThan(0)
})

test('deliveries in flight wait until the next owner sets a gate', async () => {
  const { nodes, sent } = await gated()
  nodes.sandbox.queue.publish({ to: 'https://shop.test/orders' })
  void nodes.sandbox.clock.advance('1s').catch(() => {})
  await pause()
  nodes.shelf.put(nodes.world)
  nodes.world.dispose()
  const fetch = async (): Promise<Response> => {
    sent.push('again')
    return new Response('ok')
  }
  const options = { fetch, deliverTo: 'any' } as const
  const world = await JournaledSandbox.open(() => createSandbox(options), nodes.shelf.kept)
  await pause()
  expect(sent).toEqual([])
  let asked = 0
  world.gate = async () => void asked++
  await world.sandbox.clock.settle()
  expect([asked, sent]).toEqual([1, ['again']])
  world.dispose()
})

test('onRecords is called once for new records, and for existing ones', async () => {
  const nodes = new Nodes(() => new Response('ok'))
  await nodes.open()
  const { world, sandbox } = nodes
  let calls = 0
  world.onRecords = () => void calls++
  await undefined
  expect(calls).toBe(1)
  sandbox.store.run('SET', 'a', '1')
  await undefined
  expect(calls).toBe(1)
  expect(world.take()).toHaveLength(1)
  expect(world.take()).toHaveLength(0)
  sandbox.store.run('SET', 'a', '2')
  sandbox.store.run('SET', 'a', '3')
  expect(calls).toBe(1)
  await undefined
  expect(calls).toBe(2)
  expect(world.take()).toHaveLength(1)
  world.dispose()
})

test('records before a reset or load are forgotten', async () => {
  const nodes = new Nodes(() => new Response('ok'))
  await nodes.open()
  nodes.sandbox.store.run('SET', 'a', 'x'.repeat(10_000))
  const { queue } = nodes.sandbox
  nodes.sandbox.reset()
  nodes.sandbox.store.run('SET', 'b', '1')
  // This input belongs to the replaced sandbox and is ignored.
  queue.publish({ to: 'https://shop.test/orders' })
  await nodes.move()
  expect(nodes.sandbox.store.run('KEYS', '*')).toEqual(['b'])
  expect(nodes.sandbox.queue.messages).toEqual([])
  nodes.sandbox.store.run('SET', 'b', 'y'.repeat(20_000))
  await nodes.shelf.compact(nodes.world)
  expect(nodes.shelf.snapshot!.length).toBeLessThan(1000)
  nodes.sandbox.load(nodes.sandbox.dump())
  nodes.sandbox.store.run('SET', 'c', '1')
  await nodes.move()
  expect(nodes.sandbox.store.run('KEYS', '*')).toEqual(['b', 'c'])
  nodes.world.dispose()
})

test('records that are damaged, of another version or of another sandbox are rejected', async () => {
  const nodes = new Nodes(() => new Response('ok'))
  await nodes.open()
  nodes.shelf.put(nodes.world)
  nodes.sandbox.queue.publish({ to: 'https://shop.test/orders' })
  nodes.shelf.put(nodes.world)
  await nodes.sandbox.clock.advance('1s')
  nodes.shelf.put(nodes.world)
  const { records } = nodes.shelf
  const open = (given: readonly Uint8Array[], snapshot?: Uint8Array): Promise<unknown> =>
    new Nodes(() => new Response('ok')).open({ snapshot, records: given })
  await expect(open([records[0]!.slice(0, -3)])).rejects.toThrow(/record.*damaged/)
  await expect(open([Buffer.from('null')])).rejects.toThrow(/record.*damaged/)
  await expect(open([Buffer.from('[2,[]]')])).rejects.toThrow('same version')
  await expect(open(records.slice(1))).rejects.toThrow('do not contain its creation')
  await expect(open([records[0]!, ...records.slice(2)])).rejects.toThrow('the replay of this sandbox differs')
  await expect(open([], Buffer.from('none'))).rejects.toThrow(/snapshot.*damaged/)
  nodes.world.dispose()
})

test('a sandbox reports when it has too many inputs, and a load of its state starts again', async () => {
  const make = (): Sandbox => createSandbox()
  const world = await JournaledSandbox.open(make, { snapshot: undefined, records: [] }, { inputs: 10, bytes: 1e6 })
  for (let count = 0; count < 8; count++) world.sandbox.store.run('INCR', 'count')
  world.take()
  expect(world.full).toBeUndefined()
  for (let count = 0; count < 8; count++) world.sandbox.store.run('INCR', 'count')
  const records = world.take()
  expect(world.full).toMatch(/inputs.*\b17 requests/)
  world.sandbox.load(world.sandbox.dump())
  const again = await JournaledSandbox.open(make, { snapshot: undefined, records: [...records, ...world.take()] })
  expect(world.full).toBeUndefined()
  expect(again.sandbox.store.get('count')).toBe('16')
  for (const one of [world, again]) one.dispose()
})

test('snapshots are taken while the sandbox runs, and contain the records taken before', async () => {
  const nodes = new Nodes(() => new Response('ok'))
  await nodes.open()
  const { world, shelf, sandbox } = nodes
  for (let round = 0; round < 5; round++) {
    sandbox.store.run('APPEND', 'text', String(round).repeat(20_000))
    shelf.put(world)
    const count = shelf.records.length
    const asked = world.snapshot()
    sandbox.store.run('APPEND', 'text', '-')
    shelf.put(world)
    expect(await world.snapshot()).toBeUndefined()
    shelf.snapshot = (await asked)?.bytes
    shelf.records = shelf.records.slice(count)
  }
  expect(shelf.snapshot!.length).toBeLessThan(5000)
  const text = sandbox.store.get('text')
  await nodes.move()
  expect(nodes.sandbox.store.get('text')).toBe(text)
  nodes.sandbox.store.run('APPEND', 'text', 'z'.repeat(20_000))
  await shelf.compact(nodes.world)
  expect(shelf.records).toEqual([])
  await nodes.move()
  expect(nodes.sandbox.store.get('text')).toBe(`${text}${'z'.repeat(20_000)}`)
  nodes.world.dispose()
})
