import { fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { createRandom, type Random } from '../../../../src/kernel/random.js'
import { acts, appsIn, course, traceOf } from '../../../../test/sandbox/random-world.js'
import { runs } from '../../../../test/support/effort.js'
import { type Network, Nodes } from './shelf.js'

/** Connections end with their node, and are not part of a tenant of a cluster. */
const lasting = acts.filter((act) => act.name !== 'wait' && !String(act).includes('connectionsOf'))

/** Apps behind a network that change the sandbox that delivers to them. */
function appsOf(nodes: () => Nodes): Network {
  const handlers = appsIn(() => nodes().sandbox)
  const task = { label: 'app', sleep: async () => {} }
  return (request) => handlers[request.url]!(request, task)
}

/** Apps whose responses depend only on the delivery, and take time. */
const pure: Network = async (request) => {
  const { length } = await request.text()
  await new Promise((resolve) => setImmediate(resolve))
  return new Response(`got ${length}`, { status: [200, 500, 200, 503][length % 4]! })
}

const worlds = Array.from({ length: runs(3, 6, 60) }, (_, index) => index + 1)

test.each(worlds)(
  'sandbox %i is the same whether it stays or moves from node to node, with snapshots',
  async (seed) => {
    const run = async (between: (nodes: Nodes, random: Random) => Promise<void>): Promise<Nodes> => {
      const nodes: Nodes = new Nodes(
        appsOf(() => nodes),
        { seed },
      )
      await nodes.open()
      const [random, cuts] = [createRandom(`kept ${seed}`), createRandom(`cuts ${seed}`)]
      // The random inputs may be too few for a snapshot.
      nodes.sandbox.store.run('SET', 'much', 'm'.repeat(20_000))
      await between(nodes, createRandom('first'))
      for (let step = 0; step < 30; step++) {
        await lasting[random.int(lasting.length)]!(nodes.sandbox, random)
        await nodes.sandbox.clock.settle()
        await between(nodes, cuts)
      }
      await nodes.sandbox.clock.advance('10m')
      return nodes
    }
    const staying = await run(async () => {})
    let moves = 0
    const moving = await run(async (nodes, random) => {
      nodes.shelf.put(nodes.world)
      if (nodes.shelf.snapshot === undefined || random.chance(1, 4)) await nodes.shelf.compact(nodes.world)
      if (!random.chance(1, 4)) return
      moves++
      await nodes.move()
    })
    expect(moves).toBeGreaterThan(0)
    expect(moving.shelf.snapshot).toBeDefined()
    expect(traceOf(moving.sandbox)).toBe(traceOf(staying.sandbox))
    expect(moving.sandbox.dump()).toEqual(staying.sandbox.dump())
    expect(moving.sandbox.faults.rules).toEqual(staying.sandbox.faults.rules)
    for (const { world } of [staying, moving]) world.dispose()
  },
)

/** Requests that wait in virtual time, and requests that wait for an element. */
const waiting: readonly ((sandbox: Sandbox, random: Random) => unknown)[] = [
  ({ store, faults }) => {
    faults.add({ on: 'store.request', times: 1, fault: fault.latency('7s') })
    store.run('SET', 'slow', '1')
  },
  (sandbox) => void request(sandbox, 'incr/slow').catch(() => {}),
  (sandbox) => void request(sandbox, 'subscribe/news').catch(() => {}),
  (sandbox) => void sandbox.store.run('PUBLISH', 'news', 'hello'),
]

function request({ fetch, urls, tokens }: Sandbox, path: string): Promise<Response> {
  return fetch(`${urls.store}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.store}`, accept: 'text/event-stream' },
  })
}

/** The state of a sandbox after an act. */
interface Mark {
  readonly records: number
  readonly now: number
  readonly isMove: boolean
  readonly course: readonly string[]
  readonly dump: unknown
}

async function marked(nodes: Nodes, seed: number): Promise<readonly Mark[]> {
  const { sandbox, shelf } = nodes
  const random = createRandom(`cut ${seed}`)
  const all = [...lasting, ...lasting, ...waiting]
  const marks: Mark[] = []
  for (let step = 0; step < 30; step++) {
    const act = all[random.int(all.length)]!
    const isMove = String(act).includes('clock.advance')
    const over = Promise.resolve(act(sandbox, random)).catch(() => {})
    // A request that sleeps gets its response when time advances.
    await (isMove ? over : Promise.race([over, sandbox.clock.settle()]))
    await sandbox.clock.settle()
    await new Promise((resolve) => setTimeout(resolve, 1))
    const { length: records } = shelf.records
    marks.push({ records, now: sandbox.clock.now(), isMove, course: course(sandbox), dump: sandbox.dump() })
  }
  return marks
}

test.each(worlds)('sandbox %i continues identically after a crash behind any record', async (seed) => {
  const nodes = new Nodes(pure, { seed })
  await nodes.open()
  nodes.keepAtOnce()
  const marks = await marked(nodes, seed)
  const { records } = nodes.shelf
  const random = createRandom(`places ${seed}`)
  const places = records.map((_, index) => index + 1)
  const withinMoves = places.filter((cut) => marks.find((mark) => mark.records >= cut)!.isMove)
  for (let count = 0; count < 8; count++) {
    const among = random.chance(1, 2) && withinMoves.length > 0 ? withinMoves : places
    const cut = among[random.int(among.length)]!
    const first = new Nodes(pure, { seed })
    first.shelf.records = records.slice(0, cut)
    await first.open()
    // A clock that it interrupted reaches the same instant when the next owner continues.
    const mark = marks.find((one) => one.records >= cut)!
    if (mark.isMove) {
      await first.sandbox.clock.advanceTo(Math.max(mark.now, first.sandbox.clock.now()))
      expect(course(first.sandbox)).toEqual(mark.course)
      expect(first.sandbox.dump()).toEqual(mark.dump)
    }
    // The next owner after that one has the same state.
    await first.sandbox.clock.settle()
    first.shelf.put(first.world)
    const second = new Nodes(pure, { seed })
    await second.open(first.shelf.kept)
    for (const { sandbox } of [first, second]) await sandbox.clock.advance('10m')
    expect(traceOf(second.sandbox)).toBe(traceOf(first.sandbox))
    expect(second.sandbox.dump()).toEqual(first.sandbox.dump())
    for (const { world } of [first, second]) world.dispose()
  }
  nodes.world.dispose()
})

test('a delivery to the sandbox itself is repeated after a crash, and remains one attempt', async () => {
  const whole = new Nodes(pure)
  await whole.open()
  whole.keepAtOnce()
  const { queue, urls, tokens, clock } = whole.sandbox
  for (const name of ['a', 'b']) queue.publish({ to: `${urls.store}/incr/${name}?_token=${tokens.store}` })
  await clock.advance('1s')
  const { records } = whole.shelf
  expect(whole.sandbox.store.get('a')).toBe('1')
  const counts = new Set<string | null>()
  for (let cut = 1; cut <= records.length; cut++) {
    const nodes = new Nodes(pure)
    nodes.shelf.records = records.slice(0, cut)
    await nodes.open()
    await nodes.sandbox.clock.advance('1s')
    counts.add(nodes.sandbox.store.get('a'))
    const trace = traceOf(nodes.sandbox)
    expect(nodes.sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([200, 200])
    await nodes.move()
    expect(traceOf(nodes.sandbox)).toBe(trace)
    nodes.world.dispose()
  }
  // A crash between a command and its reply repeats the command.
  expect(counts).toEqual(new Set(['1', '2']))
  whole.world.dispose()
})
