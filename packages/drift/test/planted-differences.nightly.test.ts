import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.js'
import { type StuntdoubleServer, startServer } from '../../server/src/server.js'
import { queueContract } from '../src/contract/queue-contract.js'
import { storeContract } from '../src/contract/store-contract.js'
import { LocalDestination } from '../src/endpoint.js'
import { comparedWith, dialect } from './both.js'
import { type Asked, type GoBetween, type Passing, startBetween } from './go-between.js'

// A second server replaces the real service. Proxies in front of it and of the endpoint plant the differences.

let server: StuntdoubleServer
let queueServer: StuntdoubleServer
let ticking: Promise<void>
let isOver = false
let listener: LocalDestination
let store: GoBetween
let queue: GoBetween
let hook: GoBetween

async function tick(): Promise<void> {
  while (!isOver) {
    await queueServer.tenant('main').clock.advance(250)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

beforeAll(async () => {
  server = await startServer({ port: 0, clock: 'real', dialect: 'upstash' })
  // A second of the queue's virtual time takes a fiftieth of a second.
  queueServer = await startServer({ port: 0, clock: 'manual', startAt: Date.now(), dialect: 'upstash' })
  ticking = tick()
  store = await startBetween(server.tenant('main').urls.store)
  queue = await startBetween(queueServer.tenant('main').urls.queue)
  const port = await freePort()
  hook = await startBetween(`http://127.0.0.1:${port}`)
  listener = await LocalDestination.open(`${hook.url}/hook`, port, dialect)
})
afterAll(async () => {
  isOver = true
  await ticking
  listener.close()
  await Promise.all([store, queue, hook].map((proxy) => proxy.close()))
  await Promise.all([server.close(), queueServer.close()])
})
beforeEach(() => {
  for (const proxy of [store, queue, hook]) {
    proxy.plant = undefined
    proxy.rewrite = undefined
    proxy.asked.length = 0
  }
})

const commandOf = ({ path, body }: Asked): string =>
  path === '/' ? String((JSON.parse(body || '[]') as unknown[])[0]).toUpperCase() : ''

const changed = (answer: Passing, change: (value: never) => void): Partial<Passing> => {
  const value = JSON.parse(answer.body)
  change(value as never)
  return { body: JSON.stringify(value) }
}

type Result = { result: unknown }

/** Differences that are planted in the store, by their place in the responses. */
function storePlants(asked: Asked, answer: Passing): Partial<Passing> | undefined {
  const command = safely(() => commandOf(asked)) ?? ''
  if (answer.status === 401) return { status: 403 }
  if (answer.body.includes('WRONGTYPE Operation against'))
    return {
      body: answer.body.replaceAll('WRONGTYPE Operation against a key', 'WRONGTYPE The operation is against a key'),
    }
  if (asked.path === '/pipeline') {
    const { 'upstash-sync-token': _, ...headers } = answer.headers
    return { headers }
  }
  if (asked.headers['upstash-encoding'] === 'base64') return { body: answer.body.replaceAll('=', '') }
  if (command === 'GETDEL')
    return {
      status: 400,
      body: `{"error":"ERR Command is not available: 'GETDEL'. See https://upstash.com/docs/redis/overall/rediscompatibility for details"}`,
    }
  if (answer.status !== 200) return undefined
  if (command === 'EXISTS') return changed(answer, (value: Result) => (value.result = String(value.result)))
  if (command === 'LRANGE') return changed(answer, (value: { result: unknown[] }) => value.result.reverse())
  return undefined
}

const impatient = new Set<string>()

/** Publishes with one retry less than requested, without an error. */
function fewerRetries({ path, headers }: Asked): { headers: Record<string, string> } | undefined {
  const asked = headers['upstash-retries'] === '2'
  return asked && path.includes('/v2/publish/') && path.includes('status=500') && !path.includes('role=')
    ? { headers: { 'upstash-retries': '1' } }
    : undefined
}

function queuePlants(asked: Asked, answer: Passing): Partial<Passing> | undefined {
  if (fewerRetries(asked) !== undefined) {
    impatient.add((JSON.parse(answer.body) as { messageId: string }).messageId)
    return undefined
  }
  if ([...impatient].some((id) => asked.path.includes(`messageId=${id}`))) {
    const body = answer.body.replaceAll('"maxRetries":1', '"maxRetries":2')
    return {
      body: asked.path.includes('/v2/dlq') ? body.replaceAll('"responseStatus":500', '"responseStatus":"500"') : body,
    }
  }
  if (asked.method === 'GET' && asked.path.includes('/v2/schedules/') && answer.status === 200)
    return changed(answer, (schedule: Record<string, unknown>) => delete schedule.isPaused)
  return undefined
}

function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const run = () =>
  comparedWith(server.tenant('main'), [...storeContract, ...queueContract], {
    store: store.url,
    queue: queue.url,
    endpoint: listener,
  })

test('finds no differences without planted ones, and removes everything', async () => {
  const outcome = await run()
  expect(outcome.findings).toEqual([])
  expect(outcome.broken).toEqual([])
  expect(outcome.leftOut).toEqual([])
  expect(outcome.remains).toEqual([])
  expect(outcome.compared).toBeGreaterThan(1200)
  expect(server.tenant('main').store.run('DBSIZE')).toBe(0)
  const world = queueServer.tenant('main')
  expect([world.queue.messages.length, world.queue.deadLetters.length]).toEqual([0, 0])
})

test('finds every planted difference once, with its name', async () => {
  store.plant = storePlants
  queue.plant = queuePlants
  queue.rewrite = fewerRetries
  hook.rewrite = ({ path, body }) => {
    if (!path.includes('role=callback')) return undefined
    const { sourceBody: _, ...rest } = JSON.parse(body) as Record<string, unknown>
    return { body: JSON.stringify(rest) }
  }
  const { findings, broken } = await run()
  // The texts of JSON errors have a row in the reference.
  const fresh = findings.filter(({ named }) => named === undefined)
  expect(broken).toEqual([])
  expect(fresh.map(({ what }) => what).sort()).toEqual(
    [
      'status',
      'error text',
      'header service-sync-token',
      'base64 form',
      'missing command GETDEL',
      'type of the reply at result: number and string',
      'order of the reply at result',
      'length of the reply',
      'type of the reply at responseStatus: number and string',
      'field sourceBody is missing',
      'field isPaused is missing',
    ].sort(),
  )
})
