import { type DestinationHandler, fault, type Sandbox } from 'stuntdouble'
import type { Random } from '../../src/kernel/random.js'
import type { StoreConnection } from '../../src/store/connection.js'

// Random actions on a sandbox.

export const apps = [
  'https://shop.test/orders',
  'https://bank.test/charge',
  'https://mail.test/send',
  'https://sleepy.test/job',
]

/** Handlers whose responses depend only on the delivery. */
function answerFor(url: string, retried: number): number {
  return [200, 500, 503, 200, 404][(url.length + retried) % 5]!
}

/** @param at the sandbox in which the apps run */
export function appsIn(at: () => Sandbox): Record<string, DestinationHandler> {
  return {
    [apps[0]!]: (request) =>
      new Response(null, { status: answerFor(request.url, Number(request.headers.get('upstash-retried'))) }),
    [apps[1]!]: async (request) => {
      at().store.run('INCR', 'charges')
      const body = await request.text()
      return new Response(`got ${body.length}`, { status: body.length % 3 === 0 ? 500 : 200 })
    },
    [apps[2]!]: async (request) => {
      await at().fetch(`${at().urls.store}/lpush/mails/${(await request.text()).length}`, {
        headers: { authorization: `Bearer ${at().tokens.store}` },
      })
      return new Response('sent')
    },
    [apps[3]!]: async (request, task) => {
      const { length } = await request.text()
      await task.sleep(length * 100)
      if (length % 2 === 0) await task.sleep('3s')
      return new Response('slept', { status: length % 5 === 0 ? 500 : 200 })
    },
  }
}

export function register(sandbox: Sandbox): void {
  for (const [url, handler] of Object.entries(appsIn(() => sandbox))) sandbox.destinations.on(url, handler)
  sandbox.outbound.on('https://api.test/*', async (_, task) => {
    await task.sleep('1s')
    return Response.json({ ok: true })
  })
}

async function publish(sandbox: Sandbox, random: Random): Promise<void> {
  const url = apps[random.int(apps.length)]!
  const headers: Record<string, string> = { authorization: `Bearer ${sandbox.tokens.queue}` }
  const may = (name: string, value: string): void => {
    if (random.chance(1, 3)) headers[`upstash-${name}`] = value
  }
  may('retries', String(random.int(4)))
  may('delay', `${random.int(40)}s`)
  may('callback', apps[random.int(2)]!)
  may('failure-callback', apps[0]!)
  may('deduplication-id', String(random.int(5)))
  may('flow-control-key', `key-${random.int(2)}`)
  if (headers['upstash-flow-control-key']) headers['upstash-flow-control-value'] = 'rate=2, parallelism=1, period=5s'
  const kind = random.int(4)
  if (kind === 0) headers['upstash-cron'] = '*/2 * * * *'
  const way = kind === 0 ? 'schedules' : kind === 1 ? 'enqueue/line' : 'publish'
  await sandbox.fetch(`${sandbox.urls.queue}/v2/${way}/${url}`, {
    method: 'POST',
    headers,
    body: 'x'.repeat(random.int(40)),
  })
}

async function command(sandbox: Sandbox, random: Random): Promise<void> {
  const rows = [
    ['SADD', 'set', String(random.int(50)), String(random.int(50))],
    ['SPOP', 'set'],
    ['SRANDMEMBER', 'set', '3'],
    ['SET', `key-${random.int(5)}`, 'v', 'EX', String(1 + random.int(60))],
    ['RPUSH', 'list', String(random.int(9))],
    ['EVAL', "return redis.call('INCRBY', KEYS[1], 2)", '1', 'count'],
    ['XADD', 'stream', '*', 'a', '1'],
    ['XADD', 'stream', '*', 'a', '1'],
    ['ZADD', 'scores', '1', 'a', '2', 'b'],
    ['ARRING', 'ring', String(1 + random.int(5)), String(random.int(9)), 'b'],
    ['ARSET', 'ring', '18446744073709551614', String(random.int(9))],
  ]
  const row = rows[random.int(rows.length)]!
  if (random.chance(1, 2)) sandbox.store.run(...row)
  else {
    await sandbox.fetch(sandbox.urls.store, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify(row),
    })
  }
}

/** Connections whose commands wait, or have waited. */
const connections = new WeakMap<Sandbox, StoreConnection[]>()

export function connectionsOf(sandbox: Sandbox): StoreConnection[] {
  const known = connections.get(sandbox) ?? []
  connections.set(sandbox, known)
  return known
}

function wait(sandbox: Sandbox, random: Random): void {
  const rows = [
    ['BLPOP', 'list', 'mails', '0'],
    ['BRPOP', 'mails', '7'],
    ['BLMOVE', 'mails', 'list', 'LEFT', 'RIGHT', '2.5'],
    ['XREAD', 'BLOCK', '0', 'STREAMS', 'stream', '$'],
    ['BLPOP', 'set', '30'],
    ['BZMPOP', '0', '2', 'none', 'scores', 'MAX', 'COUNT', '2'],
    ['XREADGROUP', 'GROUP', 'group', 'ada', 'COUNT', '1', 'BLOCK', '9000', 'STREAMS', 'stream', '>'],
    ['WAIT', '1', '1500'],
  ]
  const connection = sandbox.store.connect()
  connectionsOf(sandbox).push(connection)
  connection.run(...rows[random.int(rows.length)]!).catch(() => {})
  connection.run('BLPOP', 'mails', '1').catch(() => {})
}

export const acts: readonly ((sandbox: Sandbox, random: Random) => unknown)[] = [
  publish,
  publish,
  publish,
  command,
  command,
  (sandbox, random) => Promise.all([publish(sandbox, random), command(sandbox, random), publish(sandbox, random)]),
  (sandbox, random) => sandbox.queue.publish({ to: apps[random.int(4)]!, body: { n: random.int(100) }, retries: 2 }),
  (sandbox, random) => sandbox.clock.advance(random.int(20_000)),
  (sandbox, random) => sandbox.clock.advance(random.int(100)),
  // The response arrives when time moves.
  (sandbox) => {
    sandbox.outbound.fetch('https://api.test/v1', { method: 'POST', body: '{}' }).catch(() => {})
  },
  (sandbox, random) => {
    const drawn = [fault.lostAck(), fault.status(502), fault.hang()][random.int(3)]!
    sandbox.faults.add({ on: 'queue.delivery', skip: random.int(3), times: 2, fault: drawn })
  },
  (sandbox) => sandbox.faults.add({ on: 'store.request', chance: [1, 4], times: 3, fault: fault.status(500) }),
  (sandbox) => sandbox.faults.clear(),
  (sandbox, random) => sandbox.queue[random.chance(1, 2) ? 'pauseQueue' : 'resumeQueue']('line'),
  (sandbox, random) => sandbox.destinations.script(apps[random.int(3)]!, [500, fault.lostAck()]),
  (sandbox) => {
    const [letter] = sandbox.queue.deadLetters
    if (letter !== undefined) sandbox.queue.retryDeadLetter(letter.id)
  },
  (sandbox) => void sandbox.queue.signingKeys.rotate(),
  wait,
  wait,
  (sandbox) => connectionsOf(sandbox).shift()?.close(),
]

export function traceOf(sandbox: Sandbox): string {
  return JSON.stringify(sandbox.traffic.toTrace().entries)
}

/** Log entries without clock moves, which a fork makes anew. */
export function course(sandbox: Sandbox): string[] {
  const entries = sandbox.traffic.toTrace().entries.filter(({ type }) => type !== 'clock')
  const place = new Map(entries.map(({ seq }, index) => [seq, index]))
  return entries.map(({ seq: _, cause, endedAfterSeq: __, ...rest }) =>
    JSON.stringify({ ...rest, cause: cause === undefined ? undefined : place.get(cause) }),
  )
}
