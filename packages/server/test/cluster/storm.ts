import { setTimeout as wait } from 'node:timers/promises'
import { createRandom } from '../../../../src/kernel/random.js'
import { slotOfTag } from '../../src/redis-cluster/hash-slots.js'
import { Balancer } from './balancer.js'
import { type Engines, slots, startEngines } from './engines.js'
import { type Books, commands, emptyBooks, queueToken, scheduling, storeToken, Worker } from './load.js'
import { builtProgram, type NodeProcess, type Program, startNode } from './nodes.js'
import { openReceiver, type Receiver } from './receiver.js'
import { Listener } from './storm-streams.js'

export const lease = 1_500
const masters = 3
const words = ['--store-token', storeToken, '--queue-token', queueToken, '--cluster-lease', String(lease)]

/** A disruption of a storm, in milliseconds from its start. */
export interface Blow {
  readonly at: number
  readonly what: 'kill a node' | 'kill an engine' | 'freeze a node'
}

export interface StormOptions {
  readonly seconds: number
  readonly tenants: number
  readonly workers: number
  /** Milliseconds between two requests of a worker. */
  readonly pause: number
  readonly blows: readonly Blow[]
}

/** Results of a storm. */
export interface Storm {
  readonly tenants: readonly string[]
  readonly books: Books
  readonly receiver: Receiver
  readonly listeners: readonly Listener[]
  readonly engines: Engines
  readonly balancer: Balancer
  /** Milliseconds until tenants of a killed or frozen node responded again. */
  readonly takeOvers: readonly number[]
  /** Responses while a Redis was unavailable: of its tenants, and of the others. */
  readonly away: { readonly its: readonly string[]; readonly others: readonly string[] }
  /** Number of disruptions. */
  readonly blows: number
  nodes(): readonly NodeProcess[]
  /** Ends all nodes, and starts a single one. */
  alone(): Promise<void>
  close(): Promise<void>
}

/** Returns a disruption of a node every five seconds, and sometimes other ones. */
export function manyBlows(seconds: number): Blow[] {
  return Array.from({ length: Math.floor(seconds / 5) - 1 }, (_, index) => ({
    at: (index + 1) * 5_000,
    what: index % 9 === 4 ? 'freeze a node' : index % 9 === 8 ? 'kill an engine' : 'kill a node',
  }))
}

export async function storm({ seconds, tenants: count, workers, pause, blows }: StormOptions): Promise<Storm> {
  const [engines, program, receiver] = await Promise.all([startEngines({ masters }), builtProgram(), openReceiver()])
  const start = (): Promise<NodeProcess> => startNode({ program, engine: engines.url, words })
  const nodes: (NodeProcess | undefined)[] = await Promise.all([start(), start(), start()])
  const alive = (): NodeProcess[] => nodes.filter((node) => node !== undefined)
  const balancer = new Balancer(alive)
  const books = emptyBooks()
  const tenants = Array.from({ length: count }, (_, index) => `t${index}`)
  const state = {
    nodes,
    engines,
    balancer,
    start,
    takeOvers: [] as number[],
    away: { its: [] as string[], others: [] as string[] },
    tenants,
  }
  for (const tenant of tenants.slice(0, 20)) await balancer.ask(scheduling(tenant, receiver.url))
  const listeners = tenants.slice(0, 6).map((tenant) => new Listener(tenant, balancer))
  const until = Date.now() + seconds * 1000
  const isOver = (): boolean => Date.now() >= until
  const working = Array.from({ length: workers }, (_, index) =>
    new Worker(`w${index}`, balancer, books, receiver.url).work(tenants, isOver, pause),
  )
  const listening = listeners.map((listener) => listener.listen(isOver))
  await struck(blows, state, createRandom('blows'))
  await Promise.all([...working, ...listening])
  return {
    ...{ tenants, books, receiver, listeners, engines, balancer, takeOvers: state.takeOvers, away: state.away },
    blows: blows.length,
    nodes: alive,
    alone: async () => {
      await Promise.all(alive().map((node) => node.end('SIGTERM')))
      nodes.splice(0, nodes.length, await start())
    },
    close: () => closed(alive(), engines, receiver, balancer, program),
  }
}

async function closed(
  nodes: NodeProcess[],
  engines: Engines,
  receiver: Receiver,
  balancer: Balancer,
  program: Program,
): Promise<void> {
  balancer.close()
  await Promise.all(nodes.map((node) => node.end('SIGKILL')))
  await Promise.all([engines.close(), receiver.close()])
  program.remove()
}

interface Struck {
  readonly nodes: (NodeProcess | undefined)[]
  readonly engines: Engines
  readonly balancer: Balancer
  readonly start: () => Promise<NodeProcess>
  readonly takeOvers: number[]
  readonly away: { readonly its: string[]; readonly others: string[] }
  readonly tenants: readonly string[]
}

/** Causes one disruption after another. A long one delays the next. */
async function struck(blows: readonly Blow[], state: Struck, random: ReturnType<typeof createRandom>): Promise<void> {
  const begin = Date.now()
  for (const { at, what } of blows) {
    await wait(Math.max(0, begin + at - Date.now()))
    if (what === 'kill an engine') await engineKilled(state, random.int(masters))
    else await nodeStruck(state, random.int(state.nodes.length), what)
  }
}

async function nodeStruck(state: Struck, index: number, what: Blow['what']): Promise<void> {
  const { nodes, balancer, takeOvers } = state
  const node = nodes[index]!
  const owned = await ownedBy(balancer, node.id)
  nodes[index] = undefined
  const since = Date.now()
  if (what === 'kill a node') await node.end('SIGKILL')
  else node.child.kill('SIGSTOP')
  const probed = owned.slice(0, 8).map(async (tenant) => {
    for (;;) {
      const told = await balancer.ask(commands(tenant, ['PING']))
      if (told.kind === 'answered') break
    }
    takeOvers.push(Date.now() - since)
  })
  await Promise.all(probed)
  if (what === 'kill a node') {
    nodes[index] = await state.start()
    return
  }
  await wait(Math.max(0, since + 3 * lease - Date.now()))
  node.child.kill('SIGCONT')
  nodes[index] = node
}

async function ownedBy(balancer: Balancer, id: string): Promise<string[]> {
  const told = await balancer.ask({ path: '/_control/cluster' })
  if (told.kind !== 'answered') return []
  const { tenants } = JSON.parse(told.body) as { tenants: { name: string; owner: string | undefined }[] }
  return tenants.filter(({ owner }) => owner === id).map(({ name }) => name)
}

async function engineKilled({ engines, balancer, away, tenants }: Struck, index: number): Promise<void> {
  await engines.kill(index)
  const share = Math.ceil(slots / masters)
  const isIts = (tenant: string): boolean => Math.floor(slotOfTag(tenant) / share) === index
  const begin = Date.now()
  // Its nodes may notice it only with the first request.
  for (const tenant of tenants.filter(isIts).slice(0, 3)) await balancer.ask(commands(tenant, ['PING']))
  for (const tenant of tenants.filter(isIts).slice(0, 8)) {
    const told = await balancer.ask(commands(tenant, ['PING']))
    away.its.push(`${told.status} ${'retryAfter' in told ? told.retryAfter : ''} ${told.body}`)
  }
  for (const tenant of tenants.filter((name) => !isIts(name)).slice(0, 8)) {
    const { status, body } = await balancer.ask(commands(tenant, ['PING']))
    away.others.push(`${status} ${body}`)
  }
  await wait(Math.max(0, begin + 2_500 - Date.now()))
  await engines.restart(index)
}
