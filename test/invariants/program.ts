import fc from 'fast-check'
import {
  type createSandbox as CreateSandbox,
  type DeliveryFault,
  type FaultRule,
  fault,
  type Sandbox,
} from 'stuntdouble'
import { catalog } from '../../src/faults/catalog.js'

// Random programs: all actions of a test on a sandbox, in any order. Some choices are more likely than in practice, so
// that short programs reach the rules they are about: few keys, few queues, limits of one or two.

const hosts = ['https://a.test/', 'https://b.test/', 'https://c.test/']
const callback = 'https://callback.test/'
const failureCallback = 'https://failure.test/'

const outcome: fc.Arbitrary<DeliveryFault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<DeliveryFault>(fault.pass()) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<DeliveryFault>(
      fault.status(500),
      fault.status(404),
      fault.status(429, { retryAfter: '3s' }),
      fault.status(503, { headers: { 'Retry-After': 'Tue, 01 Jan 2030 02:00:30 GMT' } }),
      fault.status(429, { headers: { 'X-RateLimit-Reset-Requests': '1m30s' } }),
    ),
  },
  fc.constantFrom<DeliveryFault>(
    fault.reset(),
    fault.lostAck(),
    fault.hang(),
    fault.lateResponse('2s'),
    fault.nonRetryable(),
  ),
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 20 }).map((seconds): DeliveryFault => fault.delay(seconds * 1000)),
  },
)

const limits = fc.constantFrom(
  'parallelism=1',
  'parallelism=2',
  'rate=1',
  'rate=3',
  'rate=1,period=10s',
  'rate=2,period=10s,parallelism=2',
)
const queueName = fc.constantFrom('q1', 'q2')
const keyName = fc.constantFrom('k1', 'k2')
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq })

const publish = fc.record({
  do: fc.constant('publish' as const),
  to: fc.nat(2),
  times: fc.constantFrom(1, 1, 2, 4),
  queue: maybe(queueName),
  key: maybe(keyName, 3),
  limits,
  retries: fc.nat(3),
  retryDelay: maybe(fc.constantFrom('1000', 'pow(2, retried) * 1000', '5000 * (1 + retried)', '1 / 0')),
  delay: fc.constantFrom('0s', '0s', '1s', '10s', '1h'),
  callback: fc.boolean(),
  failureCallback: fc.boolean(),
  deduplication: maybe(fc.constantFrom('d1', 'd2', 'content')),
})

const storeKey = fc.constantFrom('x', 'y', 'z')
const field = fc.constantFrom('f', 'g')
const amount = fc.integer({ min: -3, max: 9 }).map(String)
const likely = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({
  weight,
  arbitrary: arbitrary as fc.Arbitrary<readonly string[]>,
})
const words = fc.oneof(
  likely(
    6,
    fc.tuple(fc.constantFrom('GET', 'INCR', 'DECR', 'STRLEN', 'TTL', 'PTTL', 'PERSIST', 'GETDEL', 'TYPE'), storeKey),
  ),
  likely(
    6,
    fc.tuple(
      fc.constantFrom('HGETALL', 'HLEN', 'LLEN', 'LPOP', 'RPOP', 'SCARD', 'SMEMBERS', 'DEL', 'EXISTS'),
      storeKey,
    ),
  ),
  likely(4, fc.tuple(fc.constant('SET'), storeKey, amount)),
  likely(2, fc.tuple(fc.constant('SET'), storeKey, amount, fc.constantFrom('NX', 'XX', 'GET', 'KEEPTTL'))),
  likely(
    4,
    fc.tuple(fc.constant('SET'), storeKey, amount, fc.constantFrom('EX', 'PX'), fc.constantFrom('1', '7', '9000')),
  ),
  likely(
    6,
    fc.tuple(
      fc.constantFrom('INCRBY', 'APPEND', 'SETNX', 'GETSET', 'LPUSH', 'RPUSH', 'SADD', 'SREM', 'SISMEMBER'),
      storeKey,
      amount,
    ),
  ),
  likely(3, fc.tuple(fc.constantFrom('EXPIRE', 'PEXPIRE'), storeKey, fc.constantFrom('-1', '1', '7', '9000'))),
  likely(2, fc.tuple(fc.constantFrom('HSET', 'HINCRBY'), storeKey, field, amount)),
  likely(2, fc.tuple(fc.constantFrom('HGET', 'HDEL', 'HEXISTS'), storeKey, field)),
  likely(1, fc.tuple(fc.constant('LRANGE'), storeKey, amount, amount)),
  likely(2, fc.tuple(fc.constantFrom('MGET', 'DEL', 'EXISTS'), storeKey, storeKey)),
  likely(
    1,
    fc.constantFrom(
      ['ZADD', 'z', '1', 'm'],
      ['RENAME', 'x', 'y'],
      ['COPY', 'x', 'z'],
      ['FLUSHALL'],
      ['SETRANGE', 'x', '1', 'ab'],
      ['EVAL', "redis.call('SET', 'y', '7') return redis.call('INCR', 'x')", '0'],
    ),
  ),
)

const step = fc.oneof(
  { weight: 8, arbitrary: publish },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      by: fc.constantFrom(0, 500, 1000, 4000, 7000, 9500, 60_000, 300_000, 3_600_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('commands' as const),
      rows: fc.array(words, { minLength: 1, maxLength: 8, size: 'max' }),
      form: fc.constantFrom('path', 'pipeline', 'multi-exec', 'direct'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), at: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), at: fc.nat(20) }) },
  fc.record({ do: fc.constant('pause queue' as const), name: queueName, on: fc.boolean() }),
  fc.record({ do: fc.constant('set queue' as const), name: queueName, parallelism: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('delete queue' as const), name: queueName }),
  fc.record({ do: fc.constant('pause key' as const), name: keyName, on: fc.boolean() }),
  fc.record({
    do: fc.constant('pin key' as const),
    name: keyName,
    query: fc.constantFrom('parallelism=1', 'rate=1&period=5s', 'parallelism=3&rate=2'),
  }),
  fc.record({
    do: fc.constant('reset key' as const),
    name: keyName,
    what: fc.constantFrom('resetRate', 'reset', 'unpin?rate=true&parallelism=true'),
  }),
  fc.record({ do: fc.constant('rotate keys' as const) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      id: fc.constantFrom('s1', 's2'),
      cron: fc.constantFrom('* * * * *', '*/5 * * * *', '30 * * * *'),
      to: fc.constantFrom(...hosts, 'group'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('change schedule' as const),
      id: fc.constantFrom('s1', 's2'),
      how: fc.constantFrom('pause', 'resume', 'delete', 'fire'),
    }),
  },
  fc.record({ do: fc.constant('retry dead letters' as const) }),
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('load' as const), what: fc.constantFrom('queue', 'store', 'reset') }),
  },
)

type ProgramStep = typeof step extends fc.Arbitrary<infer S> ? S : never

export interface Program {
  readonly seed: number
  readonly steps: readonly ProgramStep[]
  readonly outcomes: readonly DeliveryFault[]
  readonly enforceQuotas: boolean
  readonly maxTrafficEntries: number | undefined
  readonly faults?: readonly FaultRule[]
}

/** @param bounded whether some programs run with a log that drops entries */
export function program(bounded = false): fc.Arbitrary<Program> {
  return fc.record({
    seed: fc.nat(1000),
    steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
    outcomes: fc.array(outcome, { maxLength: 30, size: 'max' }),
    enforceQuotas: fc.constantFrom(false, false, false, true),
    maxTrafficEntries: bounded ? fc.constantFrom(10, 40, 100) : fc.constant(undefined),
  })
}

const kinds = Object.values(catalog)

/** Returns a rule with the example fault of a catalog entry. */
const rule = fc.constantFrom(...kinds).chain(({ points, example }) =>
  fc.record({
    on: fc.constantFrom(...points),
    until: fc.constantFrom('10m', '1h'),
    skip: fc.nat(2),
    chance: fc.constantFrom<readonly [number, number]>([1, 1], [1, 2], [1, 4]),
    fault: fc.constant(example),
  }),
) as fc.Arbitrary<FaultRule>

/** Program with random fault rules. */
export const stormyProgram: fc.Arbitrary<Program> = fc
  .tuple(program(), fc.array(rule, { minLength: 1, maxLength: 4 }))
  .map(([given, faults]) => ({ ...given, faults }))

/** Runs a program in a sandbox of the given engine. */
export async function run(createSandbox: typeof CreateSandbox, given: Program): Promise<Sandbox> {
  const { enforceQuotas, maxTrafficEntries } = given
  const sandbox = createSandbox({
    seed: given.seed,
    policy: { enforceQuotas, maxTrafficEntries, ...(enforceQuotas && { queueLimits: { globalParallelism: 2 } }) },
    signatureWindow: 'real',
    onWarning: () => {},
  })
  const { destinations } = sandbox
  for (const url of [...hosts, callback, failureCallback]) destinations.respond(url, 200)
  destinations.script('https://*.test/', given.outcomes)
  sandbox.queue.urlGroups.addEndpoints('group', [hosts[0]!, hosts[1]!])
  if (given.faults) sandbox.faults.add(given.faults)
  const ids: string[] = []
  const finish = async (): Promise<void> => {
    for (const step of given.steps) await perform(sandbox, step, ids)
    for (const name of ['q1', 'q2']) await send(sandbox, 'POST', `/v2/queues/${name}/resume`)
    for (const name of ['k1', 'k2']) await send(sandbox, 'POST', `/v2/flowControl/${name}/resume`)
  }
  await (given.faults ? inPassingTime(sandbox, finish()) : finish())
  await sandbox.clock.drain()
  return sandbox
}

/** Stops waiting after an hour of virtual time, because a fault may hold a request until time passes, or forever. */
async function inPassingTime(sandbox: Sandbox, work: Promise<void>): Promise<void> {
  let isDone = false
  const done = work.catch(() => {}).finally(() => (isDone = true))
  for (let minutes = 0; !isDone && minutes < 60; minutes++) {
    for (let turns = 0; !isDone && turns < 20; turns++) await new Promise((resume) => setImmediate(resume))
    if (!isDone) await sandbox.clock.advance('1m')
  }
  if (isDone) await done
}

async function send(sandbox: Sandbox, method: string, path: string): Promise<void> {
  const authorization = `Bearer ${sandbox.tokens.queue}`
  await sandbox.fetch(`${sandbox.urls.queue}${path}`, { method, headers: { authorization } })
}

async function perform(sandbox: Sandbox, step: ProgramStep, ids: string[]): Promise<void> {
  const { queue } = sandbox
  switch (step.do) {
    case 'publish':
      return publishAll(sandbox, step, ids)
    case 'advance':
      return sandbox.clock.advance(step.by)
    case 'commands':
      return command(sandbox, step.rows, step.form)
    case 'cancel':
      return send(sandbox, 'DELETE', `/v2/messages/${ids[step.at % ids.length] ?? 'msg_none'}`)
    case 'release':
      return send(sandbox, 'POST', `/v2/messages/${ids[step.at % ids.length] ?? 'msg_none'}/retry`)
    case 'pause queue':
      return send(sandbox, 'POST', `/v2/queues/${step.name}/${step.on ? 'pause' : 'resume'}`)
    case 'set queue':
      // The plan may allow fewer; then nothing happens.
      return void attempt(() => queue.upsertQueue(step.name, { parallelism: step.parallelism }))
    case 'delete queue':
      return send(sandbox, 'DELETE', `/v2/queues/${step.name}`)
    case 'pause key':
      return send(sandbox, 'POST', `/v2/flowControl/${step.name}/${step.on ? 'pause' : 'resume'}`)
    case 'pin key':
      return send(sandbox, 'POST', `/v2/flowControl/${step.name}/pin?${step.query}`)
    case 'reset key':
      return send(sandbox, 'POST', `/v2/flowControl/${step.name}/${step.what}`)
    case 'rotate keys':
      return send(sandbox, 'POST', '/v2/keys/rotate')
    case 'schedule':
      return schedule(sandbox, step)
    case 'change schedule':
      if (step.how === 'fire') return void attempt(() => queue.schedules.fire(step.id))
      if (step.how === 'delete') return send(sandbox, 'DELETE', `/v2/schedules/${step.id}`)
      return send(sandbox, 'POST', `/v2/schedules/${step.id}/${step.how}`)
    case 'retry dead letters':
      return send(sandbox, 'POST', '/v2/dlq/retry')
    case 'load':
      if (step.what === 'queue') queue.load(queue.dump())
      else if (step.what === 'store') sandbox.store.load(sandbox.store.dump())
      else queue.reset()
      if (step.what === 'reset') queue.urlGroups.addEndpoints('group', [hosts[0]!, hosts[1]!])
  }
}

type StepOf<K extends ProgramStep['do']> = Extract<ProgramStep, { do: K }>

async function publishAll(sandbox: Sandbox, step: StepOf<'publish'>, ids: string[]): Promise<void> {
  for (let n = 0; n < step.times; n++) {
    const { key, deduplication } = step
    attempt(() => {
      const published = sandbox.queue.publish({
        to: hosts[step.to]!,
        // Some bodies repeat, for content-based deduplication.
        body: deduplication === 'content' ? String(ids.length % 3) : String(ids.length),
        retries: step.retries,
        delay: step.delay,
        timeout: '30s',
        ...(step.retryDelay && { retryDelay: step.retryDelay }),
        ...(step.queue && { queue: step.queue }),
        ...(key && { flowControlKey: key, flowControlValue: step.limits }),
        ...(step.callback && { callback }),
        ...(step.failureCallback && { failureCallback }),
        ...(deduplication === 'content'
          ? { contentBasedDeduplication: true }
          : deduplication && { deduplicationId: deduplication }),
      })
      for (const message of [published].flat()) ids.push(message.id)
    })
  }
}

async function schedule(sandbox: Sandbox, { id, cron, to }: StepOf<'schedule'>): Promise<void> {
  const headers = {
    authorization: `Bearer ${sandbox.tokens.queue}`,
    'Service-Cron': cron,
    'Service-Schedule-Id': id,
    'Service-Retries': '1',
  }
  await sandbox.fetch(`${sandbox.urls.queue}/v2/schedules/${to}`, { method: 'POST', headers })
}

async function command(sandbox: Sandbox, rows: readonly (readonly string[])[], form: string): Promise<void> {
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const post = (path: string, body: unknown): Promise<Response> =>
    sandbox.fetch(`${sandbox.urls.store}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (form === 'pipeline' || form === 'multi-exec') await post(`/${form}`, rows)
  else if (form === 'path') await Promise.all(rows.map((row) => post('', row)))
  else for (const row of rows) attempt(() => sandbox.store.run(...row))
}

/** Ignores errors for requests that the engine may reject by its rules. */
function attempt(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (error instanceof TypeError || !(error instanceof Error)) throw error
  }
}
