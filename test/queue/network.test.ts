import { expect, test, vi } from 'vitest'
import { Account } from '../../src/kernel/account.js'
import { inProcess } from '../../src/kernel/hints.js'
import { leastParallel, Network, ResponseCutOff, type RoomForResponses } from '../../src/queue/destinations/network.js'
import { Sandbox } from '../../src/sandbox/sandbox.js'

const megabyte = 1_048_576
const url = 'http://localhost:3000/jobs'

function roomOf(bytes: number) {
  const all = new Account(bytes)
  const heap = { isFull: false, waiting: [] as (() => void)[] }
  const room: RoomForResponses = {
    all,
    large: new Account(bytes / 2, all),
    isFull: () => heap.isFull,
    whenRoom: (run) => void heap.waiting.push(run),
  }
  return { all, room, heap }
}

/** Returns deliveries that run until a function ends them. */
function deliveriesIn(network: Network) {
  const running: (() => void)[] = []
  const told: string[] = []
  const deliver = (name: string, abort = new AbortController()) => {
    const wait = () => {
      told.push(`${name} waits`)
      return () => void told.push(`${name} goes on`)
    }
    const over = network.run(abort.signal, wait, async () => {
      told.push(name)
      await new Promise<void>((resolve) => running.push(resolve))
      return name
    })
    return { abort, over }
  }
  return { running, told, deliver }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('Network runs the given number of deliveries, keeps the order of the others, and drops aborted ones', async () => {
  const network = new Network(roomOf(1000).room, 2)
  const { running, told, deliver } = deliveriesIn(network)
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => deliver(name))
  expect(told).toEqual(['a', 'b', 'c waits', 'd waits', 'e waits'])
  expect([network.running, network.waiting]).toEqual([2, 3])
  d!.abort.abort()
  expect(await d!.over).toBeUndefined()
  running[0]!()
  expect(await a!.over).toBe('a')
  await settle()
  expect(told.slice(5)).toEqual(['d goes on', 'c goes on', 'c'])
  running[1]!()
  running[2]!()
  await Promise.all([b!.over, c!.over])
  await settle()
  running[3]!()
  expect([await e!.over, network.running, network.waiting]).toEqual(['e', 0, 0])
})

test('Network starts nothing while memory is full, and continues afterwards', async () => {
  const { room, heap } = roomOf(1000)
  const network = new Network(room, 2)
  const { told, deliver } = deliveriesIn(network)
  heap.isFull = true
  for (const name of ['a', 'b', 'c']) deliver(name)
  expect([told, heap.waiting.length]).toEqual([['a waits', 'b waits', 'c waits'], 1])
  heap.isFull = false
  heap.waiting[0]!()
  await settle()
  expect(told.slice(3)).toEqual(['a goes on', 'a', 'b goes on', 'b'])
  network.end()
  expect(network.waiting).toBe(0)
})

test('HeldResponse counts bytes once and returns them, and large responses leave memory for small ones', () => {
  const { all, room } = roomOf(8 * megabyte)
  const network = new Network(room)
  const [large, second, small] = [network.answer(), network.answer(), network.answer()]
  for (let chunk = 0; chunk < 4; chunk++) large.take(megabyte)
  expect([all.held, room.large.held]).toEqual([4 * megabyte, 4 * megabyte])
  second.take(megabyte)
  expect(() => second.take(1)).toThrow(ResponseCutOff)
  small.take(megabyte)
  expect(all.held).toBe(5 * megabyte)
  large.release()
  small.release()
  expect([all.held, room.large.held]).toEqual([0, 0])
})

function served(bytes: number, answer: (url: string) => Response | Promise<Response>) {
  const { all, room, heap } = roomOf(bytes)
  const asked: string[] = []
  const fetch = async (given: string) => {
    asked.push(given)
    return answer(given)
  }
  const sandbox = new Sandbox({ clock: 'real', fetch: fetch as typeof globalThis.fetch }, inProcess, undefined, room)
  return { sandbox, asked, all, heap }
}

/** Returns a body of this many chunks, which never ends. */
const unending = (chunks: number, size: number) =>
  new Response(
    new ReadableStream({
      pull(controller) {
        if (chunks-- > 0) controller.enqueue(new Uint8Array(size))
        else return new Promise(() => {})
      },
    }),
  )

test('responses that are being received count, and an attempt fails with a note when one does not fit', async () => {
  const { sandbox, all } = served(4 * megabyte, (given) =>
    given.endsWith('/hangs')
      ? unending(2, megabyte)
      : given.endsWith('/large')
        ? unending(9, megabyte)
        : new Response('ok'),
  )
  sandbox.queue.publish({ to: `${url}/hangs`, retries: 0 })
  sandbox.queue.publish({ to: `${url}/large`, retries: 0 })
  sandbox.queue.publish({ to: `${url}/small`, retries: 0 })
  const [, large, small] = await vi.waitFor(() => {
    const attempts = sandbox.traffic.entries.filter((entry) => entry.type === 'attempt')
    expect(attempts.map((attempt) => (attempt as { reply?: { status: number } }).reply?.status)).toEqual([
      undefined,
      0,
      200,
    ])
    return attempts
  })
  expect(all.held).toBe(2 * megabyte)
  expect(large).toMatchObject({
    reply: { status: 0, error: 'unexpected EOF', note: expect.stringMatching(/use up the memory/) },
  })
  expect(small).toMatchObject({ reply: { status: 200 } })
  sandbox.dispose()
})

test('a sandbox limits parallel deliveries, whose timeouts start with the request, and sends none after its disposal', async () => {
  const open: ((answer: Response) => void)[] = []
  const { sandbox, asked } = served(megabyte, () => new Promise((resolve) => open.push(resolve)))
  for (let n = 0; n < leastParallel + 5; n++) sandbox.queue.publish({ to: `${url}/${n}`, retries: 0 })
  await vi.waitFor(() => expect(asked).toHaveLength(leastParallel))
  const timed = () => sandbox.clock.pending.filter(({ label }) => label === 'timeout of a delivery').length
  expect(timed()).toBe(leastParallel)
  open[0]!(new Response(''))
  await vi.waitFor(() => expect(asked).toHaveLength(leastParallel + 1))
  expect(timed()).toBe(leastParallel)
  sandbox.dispose()
  for (const answer of open) answer(new Response(''))
  await settle()
  expect(asked).toHaveLength(leastParallel + 1)
  expect(asked.map((given) => Number(given.split('/').at(-1)))).toEqual([...Array(leastParallel + 1).keys()])
})
