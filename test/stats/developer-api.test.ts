import { usage } from 'stuntdouble/stats'
import { describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import { StoreLedger } from '../../src/stats/store-ledger.js'
import { storeReport } from '../../src/stats/store-report.js'
import { sessionsOf } from '../../src/store/resp/sessions.js'
import { sum } from './world.js'

const startAt = '2030-01-15T12:00:00Z'
const queueUser = '99a4c327-31f0-490f-a594-043ade84085a'

// biome-ignore lint/suspicious/noExplicitAny: responses are compared field by field
type Answer = { readonly status: number; readonly body: any; readonly headers: Headers }

function accountOf(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ startAt, dialect: 'neutral', ...options })
  const { tokens, urls, stats } = sandbox
  const authorization = `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const answer = await sandbox.fetch(urls.mgmt + path, { headers: { authorization }, ...init })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers }
  }
  const send = async (...rows: readonly (readonly (string | number)[])[]): Promise<void> => {
    const headers = { authorization: `Bearer ${tokens.store}` }
    await sandbox.fetch(`${urls.store}/pipeline`, { method: 'POST', headers, body: JSON.stringify(rows) })
  }
  return { sandbox, stats, ask, send, id: stats.database.id, [Symbol.dispose]: () => sandbox.dispose() }
}

/** Fields of each schema and their types. [developer-api.md 3 to 7] */
const schemas = {
  DatabaseStats:
    'monitor_count point, daily_net_commands integer, daily_read_requests integer, daily_write_requests integer, connection_count points, keyspace points, throughput points, diskusage points, latencymean points, latency_99 points, read_latency_mean points, read_latency_99 points, write_latency_mean points, write_latency_99 points, hits points, misses points, read points, write points, dailyrequests days, days strings, dailybilling days, dailybandwidth integer, bandwidths days, total_monthly_bandwidth integer, total_monthly_requests integer, total_monthly_read_requests integer, total_monthly_write_requests integer, total_monthly_script_requests integer, total_monthly_storage integer, current_storage integer, total_monthly_billing number, queue_optimized boolean, command_counts commands',
  VectorStats:
    'pending_index_count integer, current_vector_count integer, daily_query_count integer, daily_update_count integer, monthly_query_count integer, monthly_update_count integer, monthly_bandwidth_usage integer, storage_usage integer, daily_rerank_count integer, monthly_rerank_count integer, monthly_cost number, daily_update_requests days, daily_query_requests days, daily_bandwidths days, daily_rerank_requests days, days strings, query_throughput points, update_throughput points, query_latency_mean points, query_latency_99 points, update_latency_mean points, update_latency_99 points, embeds_latency_mean points, embeds_latency_99 points, rerank_latency_mean points, rerank_latency_99 points, vector_count points, data_size points',
  GlobalStats:
    'record_count integer, request integer, bandwidth integer, storage integer, rerank_count integer, billing number',
  QStashUser:
    'customer_id string, created_by string, id string, token string, read_only_token string, active boolean, state string, type string, region string, reserved_type string, reserved_price number, max_message_size integer, max_requests_per_day integer, max_requests_per_day_hard integer, max_requests_per_second integer, max_endpoints_per_topic integer, max_topics integer, max_schedules integer, max_queues integer, max_dlq_size integer, max_dlq_retention_time_milis integer, max_retries integer, max_events_size integer, max_delay integer, max_parallelism integer, max_global_parallelism integer, max_bandwidth_per_second integer, timeout integer, prod_pack_enabled boolean, prometheus_enabled string, creation_time integer, deletion_time integer, last_plan_upgrade_time integer, budget number',
  Database:
    'database_id string, database_name string, region string, port integer, creation_time integer, state string, endpoint string, tls boolean, type string, budget number, primary_region string, primary_members strings, all_members strings, read_regions strings, replicas integer, customer_id string, eviction boolean, auto_upgrade boolean, consistent boolean, modifying_state string, daily_backup_enabled boolean, prod_pack_enabled boolean, last_plan_upgrade_time integer, db_max_clients integer, db_max_request_size integer, db_max_entry_size integer, db_disk_threshold integer, db_memory_threshold integer, db_max_commands_per_second integer, db_request_limit number, db_max_loads_per_sec integer, db_conn_idle_timeout integer, db_lua_timeout integer, db_lua_credits_per_min integer, db_store_max_idle integer, db_resource_size string, db_type string, db_eviction boolean, db_acl_enabled string, db_acl_default_user_status string, prometheus_enabled string, securityAddons object',
  VectorIndex:
    'customer_id string, id string, name string, similarity_function string, dimension_count integer, embedding_model string, sparse_embedding_model string, endpoint string, token string, read_only_token string, type string, region string, max_vector_count integer, max_daily_updates integer, max_daily_queries integer, max_monthly_bandwidth integer, max_writes_per_second integer, max_query_per_second integer, max_reads_per_request integer, max_writes_per_request integer, max_total_metadata_size integer, reserved_price number, creation_time integer, index_type string, throughput_vector points',
  SearchIndex:
    'customer_id string, id string, name string, endpoint string, type string, region string, vercel_email string, token string, read_only_token string, max_vector_count integer, max_monthly_reranks integer, max_daily_updates integer, max_daily_queries integer, max_monthly_bandwidth integer, max_writes_per_second integer, max_query_per_second integer, max_reads_per_request integer, max_writes_per_request integer, creation_time integer, input_enrichment_enabled boolean, throughput_vector points',
  StartMetrics:
    'uptime_seconds integer, expires_at string, console_url string, commands_total integer, commands_per_sec_1m number, keys integer, memory_bytes integer, bytes_in integer, bytes_out integer',
} as const

const minuteStamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:00\.000 \+0000 UTC$/
const dayStamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9} \+0000 UTC$/

function isPoints(value: unknown, count: number, stamp: RegExp): boolean {
  if (!Array.isArray(value) || value.length !== count) return false
  return value.every((point) => Object.keys(point).join() === 'x,y' && stamp.test(point.x) && Number.isFinite(point.y))
}

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  point: (value) => isPoints([value], 1, dayStamp),
  points: (value) => isPoints(value, 60, minuteStamp),
  days: (value) => isPoints(value, 5, dayStamp),
  commands: (value) =>
    Array.isArray(value) &&
    value.every((each) => typeof each.metric_identifier === 'string' && isPoints(each.data_points, 60, minuteStamp)),
}

/** Returns what differs from the schema: missing, additional and wrong fields. */
function mistakes(value: object, schema: string): string[] {
  const expected = new Map(schema.split(', ').map((field) => field.split(' ') as [string, string]))
  const given = new Map(Object.entries(value))
  return [
    ...[...expected].filter(([name, kind]) => !kinds[kind]!(given.get(name))).map(([name]) => `wrong: ${name}`),
    ...[...given.keys()].filter((name) => !expected.has(name)).map((name) => `additional: ${name}`),
  ]
}

describe('responses have the fields of the schemas', () => {
  test.each([
    ['DatabaseStats', '/v2/redis/stats/DB'],
    ['Database', '/v2/redis/databases'],
    ['Database', '/v2/redis/database/DB?credentials=hide'],
    ['QStashUser', '/v2/queue/users'],
    ['QStashUser', `/v2/queue/user/${queueUser}`],
    ['VectorIndex', '/v2/vector/index'],
    ['VectorIndex', '/v2/vector/index/embeddings'],
    ['VectorStats', '/v2/vector/index/embeddings/stats'],
    ['GlobalStats', '/v2/vector/index/stats'],
    ['SearchIndex', '/v2/search'],
    ['SearchIndex', '/v2/search/products'],
    ['VectorStats', '/v2/search/products/stats'],
    ['GlobalStats', '/v2/search/stats'],
    ['StartMetrics', '/start-redis/metrics/DB'],
  ] as const)('%s: GET %s', async (schema, path) => {
    using account = accountOf()
    const { stats, ask, send, id } = account
    stats.vector('embeddings').script([usage.steady({ queries: 3, vectors: 5 })])
    stats.search('products').script([usage.steady({ queries: 3, vectors: 5 })])
    await send(['SET', 'a', '1'], ['GET', 'a'])
    const { status, body, headers } = await ask(path.replace('DB', id))
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    for (const each of [body].flat()) expect(mistakes(each, schemas[schema])).toEqual([])
  })
})

test('a database shows its password and tokens, unless the request hides them', async () => {
  using account = accountOf()
  const { sandbox, ask, id } = account
  const shown = await ask(`/v2/redis/database/${id}`)
  expect(shown.body).toMatchObject({
    rest_token: sandbox.tokens.store,
    read_only_rest_token: sandbox.tokens.storeReadonly,
    password: sandbox.tokens.store,
  })
  const { body } = await ask(`/v2/redis/database/${id}?credentials=hide`)
  expect(JSON.stringify(body)).not.toContain(sandbox.tokens.store)
  expect(JSON.stringify((await ask('/v2/redis/databases')).body)).not.toContain(sandbox.tokens.store)
  sandbox.store.resetPassword()
  expect((await ask(`/v2/redis/database/${id}`)).body.rest_token).toBe(sandbox.tokens.store)
})

describe('IDs', () => {
  test('of the database are derived from the name of the sandbox', () => {
    const ids = [undefined, 'main', 'other'].map((name) => {
      using sandbox = createSandbox(name === undefined ? {} : { name })
      return sandbox.stats.database.id
    })
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/)
  })

  test.each([
    '/v2/redis/stats/ID',
    '/v2/redis/database/ID',
    '/v2/redis/list-backup/ID',
    '/v2/queue/user/ID',
    '/v2/search/ID',
    '/v2/search/ID/stats',
    '/v2/vector/index/ID',
    '/v2/vector/index/ID/stats',
    '/v2/teams/ID',
  ])('unknown ones get 404, and those of other accounts 403: %s', async (path) => {
    using account = accountOf()
    const { stats, ask } = account
    for (const kind of [stats.search('a'), stats.vector('a')]) kind.override({ monthly_cost: 1 })
    const unknown = '0c0e0f10-0000-4000-8000-000000000001'
    const answer = await ask(path.replace('ID', unknown))
    expect([answer.status, answer.body]).toEqual([404, { error: 'not found', code: '404', message: 'not found' }])
    stats.forbid(unknown)
    expect((await ask(path.replace('ID', unknown))).status).toBe(403)
  })

  test('of a database without an account: unknown ones get the JSON text "not found"', async () => {
    using account = accountOf()
    const { status, body } = await account.ask('/start-redis/metrics/none', { headers: {} })
    expect([status, body]).toEqual([404, 'not found'])
  })
})

const paths = [
  '/v2/redis/databases',
  '/v2/redis/database/DB',
  '/v2/redis/stats/DB',
  '/v2/queue/users',
  `/v2/queue/user/${queueUser}`,
  '/v2/vector/index',
  '/v2/vector/index/stats',
  '/v2/search',
  '/v2/search/stats',
]

describe('requests', () => {
  test.each(paths)('without the right credentials get 401: %s', async (path) => {
    using account = accountOf()
    const { ask, id } = account
    for (const authorization of ['', `Basic ${btoa('somebody:management-key')}`, 'Bearer management-key']) {
      expect((await ask(path.replace('DB', id), { headers: { authorization } })).status).toBe(401)
    }
  })

  test.each(['/v2/queue/ipv4', '/start-redis/metrics/DB'])('need no login: %s', async (path) => {
    using account = accountOf()
    expect((await account.ask(path.replace('DB', account.id), { headers: {} })).status).toBe(200)
  })

  test.each(paths)('that write get 405: %s', async (path) => {
    using account = accountOf()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body, headers } = await account.ask(path.replace('DB', account.id), { method })
      expect([status, body.error, headers.get('allow')]).toEqual([405, 'method not allowed', 'GET'])
    }
  })

  test.each([
    'POST /v2/redis/database',
    'POST /v2/redis/rename/DB',
    'POST /v2/redis/reset-password/DB',
    'POST /v2/redis/change-plan/DB',
    'PATCH /v2/redis/update-budget/DB',
    'POST /v2/redis/move-to-team',
    'DELETE /v2/redis/delete-backup/DB/b',
    `POST /v2/queue/rotate-token/${queueUser}`,
    'POST /v2/queue/move-to-team',
    'POST /v2/vector/index/x/setplan',
    'POST /v2/search/x/rename',
    'POST /v2/team',
    'DELETE /v2/team/t',
    'POST /v2/teams/member',
  ])('of operations that only write get 405: %s', async (request) => {
    using account = accountOf()
    const [method, path] = request.split(' ') as [string, string]
    expect((await account.ask(path.replace('DB', account.id), { method })).status).toBe(405)
  })

  test('accept the neutral or the vendor segment, by the dialect', async () => {
    for (const [dialect, own, other] of [
      ['neutral', 'queue', 'qstash'],
      ['upstash', 'qstash', 'queue'],
    ] as const) {
      using account = accountOf({ dialect })
      for (const path of ['users', `user/${queueUser}`, 'ipv4']) {
        expect((await account.ask(`/v2/${own}/${path}`)).status).toBe(200)
        expect((await account.ask(`/v2/${other}/${path}`)).status).toBe(404)
      }
    }
  })

  test('for another format get 406', async () => {
    using account = accountOf()
    for (const path of paths)
      expect((await account.ask(path, { headers: { authorization: '', accept: 'text/html' } })).status).toBe(401)
    const headers = { authorization: `Basic ${btoa('user@stuntdouble.test:management-key')}`, accept: 'text/html' }
    for (const path of paths) expect((await account.ask(path.replace('DB', account.id), { headers })).status).toBe(406)
  })
})

test('the user of the queue has the limits of the plan and of the policy', async () => {
  const limitsOf = async (policy: SandboxOptions['policy']) => {
    using account = accountOf({ policy: policy! })
    return (await account.ask('/v2/queue/users')).body[0]
  }
  expect(await limitsOf({ queuePlan: 'free' })).toMatchObject({
    id: queueUser,
    type: 'free',
    max_message_size: 1_048_576,
    max_requests_per_day: 1000,
    max_topics: 1,
    max_schedules: 10,
    max_queues: 10,
    max_dlq_retention_time_milis: 259_200_000,
    max_delay: 604_800,
    max_parallelism: 2,
    max_global_parallelism: 10,
    timeout: 900,
  })
  expect(await limitsOf({ queuePlan: 'fixed-1m', homeRegion: 'us-east-1' })).toMatchObject({
    type: 'paid',
    reserved_type: 'qstash_fixed_1m',
    region: 'us-east-1',
    max_delay: -1,
  })
  expect(await limitsOf({ queueLimits: { schedules: 7 } })).toMatchObject({ max_schedules: 7 })
})

test('sums add up the scripted indexes', async () => {
  using account = accountOf()
  const { stats, ask } = account
  const script = [usage.steady({ queries: 10, updates: 5, reranks: 1, vectors: 100 }, { from: '2030-01-15T11:00:00Z' })]
  for (const id of ['a', 'b']) stats.vector(id).script(script, { vectorSize: 8, requestSize: 2, price: 1 })
  stats.search('a').script(script)
  expect((await ask('/v2/vector/index/stats')).body).toEqual({
    record_count: 200,
    request: 2 * 60 * 15,
    bandwidth: 2 * 60 * 16 * 2,
    storage: 1600,
    rerank_count: 120,
    billing: 0.0192,
  })
  expect((await ask('/v2/search/stats')).body).toMatchObject({ record_count: 100, request: 900 })
  expect((await ask('/v2/vector/index')).body.map(({ id }: { id: string }) => id)).toEqual(['a', 'b'])
})

test('counts both transports alike, and connections and MONITOR streams as they are', async () => {
  using account = accountOf()
  const { sandbox, send, stats } = account
  const rows = [
    ['SET', 'a', '1'],
    ['MGET', 'a', 'b'],
    ['EVAL', "return redis.call('INCR', KEYS[1])", '1', 'n'],
  ]
  await send(...rows)
  const { connection_count: _, ...byRest } = stats.store.report()
  using other = accountOf()
  const sessions = sessionsOf(other.sandbox.store)
  const opening = { address: '127.0.0.1:1', protocol: 2, known: undefined } as const
  const session = sessions.open('default', opening, { send() {}, tell() {}, end() {}, break() {} })
  for (const argv of rows) sessions.run(session, argv as never, { send() {}, done() {}, break() {} })
  const { connection_count: open, ...byConnection } = other.stats.store.report()
  expect(byConnection).toEqual(byRest)
  expect(open.at(-1)!.y).toBe(1)
  await other.sandbox.clock.advance('2m')
  sessions.leave(session)
  expect(
    other.stats.store
      .report()
      .connection_count.slice(-4)
      .map(({ y }) => y),
  ).toEqual([0, 1, 1, 0])

  const aborting = new AbortController()
  const stream = await sandbox.fetch(`${sandbox.urls.store}/monitor`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    signal: aborting.signal,
  })
  expect(stream.status).toBe(200)
  expect(stats.store.report().monitor_count).toEqual({ x: '2030-01-15 12:00:00.000000000 +0000 UTC', y: 1 })
  aborting.abort()
  await sandbox.clock.settle()
  expect(stats.store.report().monitor_count.y).toBe(0)
})

test('a blocking command counts once, with its bytes', async () => {
  using account = accountOf()
  const { sandbox, stats } = account
  const sessions = sessionsOf(sandbox.store)
  const opening = { address: '127.0.0.1:1', protocol: 2, known: undefined } as const
  const session = sessions.open('default', opening, { send() {}, tell() {}, end() {}, break() {} })
  sessions.run(session, ['BLPOP', 'jobs', '0'] as never, { send() {}, done() {}, break() {} })
  sandbox.store.run('RPUSH', 'jobs', 'mail')
  const report = stats.store.report()
  expect(report.command_counts.map((one) => [one.metric_identifier, sum(one.data_points)])).toEqual([['BLPOP', 1]])
  expect(report.dailybandwidth).toBe('BLPOPjobs0'.length + 'jobsmail'.length)
})

test('commands that are rejected before they run, and commands of the test itself, do not count', async () => {
  using account = accountOf()
  const { sandbox, send, stats } = account
  sandbox.store.run('SET', 'a', '1')
  await send(['NOSUCH'], ['SUBSCRIBE', 'c'], ['AUTH', 'x'])
  expect(stats.store.report()).toMatchObject({ daily_net_commands: 0, command_counts: [], current_storage: 2 })
})

describe('sandbox.stats.store', () => {
  test('adds a script to the traffic', async () => {
    using account = accountOf()
    const { sandbox, stats, send, ask, id } = account
    stats.store.script(
      [
        usage.steady({
          reads: 60,
          writes: 20,
          scripts: 5,
          others: 5,
          misses: 15,
          keys: 1000,
          growth: 2,
          connections: 7,
          monitors: 1,
        }),
        usage.latencies({ command: 3, read: { mean: 2, p99: 9 }, write: 4 }, { from: '-10m' }),
      ],
      { requestSize: 10, keySize: 100, price: 100 },
    )
    await send(['SET', 'a', '12'], ['GET', 'a'], ['GET', 'b'])
    await sandbox.clock.advance('1m')
    const { body } = await ask(`/v2/redis/stats/${id}`)
    expect(body).toEqual(stats.store.report())
    const at = (name: string, index = -2) => body[name].at(index).y
    expect([at('read'), at('write'), at('hits'), at('misses'), at('throughput')]).toEqual([62, 21, 46, 16, 93 / 60])
    expect([at('keyspace'), at('keyspace', -1), at('diskusage', -1)]).toEqual([1002, 1003, 100_200 + 3])
    expect([at('connection_count'), body.monitor_count.y]).toEqual([7, 1])
    expect([at('latencymean'), at('read_latency_mean'), at('read_latency_99'), at('write_latency_99')]).toEqual([
      3, 2, 9, 4,
    ])
    expect([at('latencymean', 0), at('latencymean', -13)]).toEqual([0, 0])
    const minutes = 12 * 60 + 1
    expect(body.daily_net_commands).toBe(90 * minutes + 3)
    expect(body.dailybilling.at(-1).y).toBeCloseTo((90 * minutes + 3) / 1000, 6)
    const counts = Object.fromEntries(
      body.command_counts.map((one: { metric_identifier: string; data_points: { y: number }[] }) => [
        one.metric_identifier,
        sum(one.data_points),
      ]),
    )
    expect(counts).toEqual({ EVAL: 5 * minutes, GET: 60 * minutes + 2, PING: 5 * minutes, SET: 20 * minutes + 1 })
    stats.clear()
    expect(stats.store.report().daily_net_commands).toBe(3)
  })

  test('overrides every field', async () => {
    using account = accountOf()
    const { stats, send } = account
    await send(['GET', 'a'])
    const { override, report } = stats.store
    override({ monitor_count: 3, queue_optimized: true, days: ['Friday'], total_monthly_billing: 12.5 })
    override({ keyspace: [7, 8], dailyrequests: [1, 2], latencymean: 5, command_counts: { GET: [4], 'JSON.SET': 1 } })
    expect(report()).toMatchObject({ queue_optimized: true, days: ['Friday'], total_monthly_billing: 12.5 })
    expect(report().monitor_count).toEqual({ x: '2030-01-15 12:00:00.000000000 +0000 UTC', y: 3 })
    expect(
      report()
        .keyspace.slice(-3)
        .map(({ y }) => y),
    ).toEqual([0, 7, 8])
    expect(report().dailyrequests.map(({ y }) => y)).toEqual([0, 0, 0, 1, 2])
    expect(report().command_counts.map((one) => [one.metric_identifier, sum(one.data_points)])).toEqual([
      ['GET', 4],
      ['JSON.SET', 60],
    ])
    override({ command_counts: [{ metric_identifier: 'PING', data_points: [{ x: 'now', y: 1 }] }] })
    expect(report().command_counts).toEqual([{ metric_identifier: 'PING', data_points: [{ x: 'now', y: 1 }] }])
    stats.store.clear()
    expect(report()).toMatchObject({ daily_net_commands: 1, queue_optimized: false })
  })

  test('explains mistakes', () => {
    using account = accountOf()
    const { stats } = account
    const { override, script } = stats.store
    expect(() => override({ commands: 3 } as never)).toThrow('stats.store.override(): unknown field "commands".')
    for (const wrong of [null, [], 5]) {
      expect(() => override(wrong as never)).toThrow('stats.store.override(): pass an object with fields of the report')
      expect(() => stats.queue.override(wrong as never)).toThrow('stats.queue.override(): pass an object')
    }
    for (const wrong of [undefined, {}, usage.gap('-5m', '2m')]) {
      expect(() => script(wrong as never)).toThrow('stats.store.script(): pass a list of steps')
      expect(() => stats.search('products').script(wrong as never)).toThrow('stats.search(id).script(): pass a list')
    }
    expect(() => override({ monitor_count: 'many' } as never)).toThrow('monitor_count must be a number or { x, y }')
    expect(() => override({ queue_optimized: 1 } as never)).toThrow('queue_optimized must be true or false')
    expect(() => override({ command_counts: { GET: 'x' } } as never)).toThrow(
      'command_counts must be an object of numbers by series ID, or a list of { metric_identifier, data_points }',
    )
    expect(() => override({ daily_net_commands: Number.NaN })).toThrow('daily_net_commands must be a finite number')
    expect(() => script([usage.steady({ queries: 3 })] as never)).toThrow('reads, writes, scripts, others, misses')
    expect(() => script([usage.latencies({ query: 3 })] as never)).toThrow('command, read, write')
    expect(() => script([], { vectorSize: 1 } as never)).toThrow('requestSize, keySize, price')
    expect(() => stats.vector('v').script([], { keySize: 1 } as never)).toThrow('stats.vector(id).script()')
  })
})

describe("the vendor's URL of the management API", () => {
  const real = 'https://api.upstash.com/v2/redis/databases'
  const authorization = `Basic ${btoa('user@stuntdouble.test:management-key')}`

  test.each([
    ['auto', true],
    ['upstash', true],
    ['neutral', false],
  ] as const)('belongs to a sandbox of dialect %s: %s', (dialect, isOwn) => {
    using sandbox = createSandbox({ dialect })
    expect(sandbox.owns(real)).toBe(isOwn)
    expect(sandbox.owns('HTTPS://API.Upstash.com:443/v2/redis/databases?x')).toBe(isOwn)
    // The whole host, because nothing below it may be forwarded.
    for (const same of [
      'https://api.upstash.com/v1/redis/databases',
      'http://api.upstash.com:8080',
      'https://api.upstash.com./v2x',
    ])
      expect([same, sandbox.owns(same)]).toEqual([same, isOwn])
    for (const other of [
      'https://api.upstash.com.evil.test/v2/x',
      'https://upstash.com/v2/x',
      'https://evil.test/https://api.upstash.com/v2/x',
      'https://api.upstash.com@evil.test/v2/x',
    ])
      expect([other, sandbox.owns(other)]).toEqual([other, false])
  })

  test('is served, logged under the URL of the sandbox, and shows no credentials', async () => {
    using sandbox = createSandbox({ startAt, secret: 'a secret of the test, long enough' })
    const { tokens } = sandbox
    const own = `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`
    const at = (path: string, basic = own) =>
      sandbox.fetch(`https://api.upstash.com/v2${path}`, { headers: { authorization: basic } })
    expect((await at('/redis/databases', authorization)).status).toBe(401)
    expect((await at(`/redis/database/${sandbox.stats.database.id}?x=1`)).status).toBe(200)
    const users = await (await at('/qstash/users')).text()
    expect(users).toContain(tokens.queue)
    expect(sandbox.traffic.ofType('request').map(({ url }) => url)).toEqual([
      'https://mgmt.test/v2/redis/databases',
      `https://mgmt.test/v2/redis/database/${sandbox.stats.database.id}?x=1`,
      'https://mgmt.test/v2/qstash/users',
    ])
    const shown = [
      sandbox.traffic.timeline(),
      JSON.stringify(sandbox.traffic.toTrace()),
      JSON.stringify(sandbox.traffic.toHar()),
    ].join('\n')
    for (const secret of [tokens.queue, tokens.queueReadonly, tokens.store, tokens.storeReadonly, tokens.mgmtKey, own])
      expect(shown).not.toContain(secret)
    expect(shown).not.toContain(btoa('user@stuntdouble.test:management-key'))
  })
})

test('the variables of the command line are in sandbox.env', () => {
  using sandbox = createSandbox()
  const { urls, tokens, env } = sandbox
  expect(env).toMatchObject({
    UPSTASH_API_URL: urls.mgmt,
    UPSTASH_EMAIL: tokens.mgmtUser,
    UPSTASH_API_KEY: tokens.mgmtKey,
    SERVICE_API_URL: urls.mgmt,
    SERVICE_EMAIL: tokens.mgmtUser,
    SERVICE_API_KEY: tokens.mgmtKey,
  })
})

test('a load with rebaseTime keeps the counts of the present day together', async () => {
  for (const [then, now] of [
    ['2030-01-15T23:40:00Z', '2030-01-14T00:10:00Z'],
    ['2030-01-15T00:40:00Z', '2030-01-14T23:10:00Z'],
  ] as const) {
    using account = accountOf({ startAt: then })
    await account.send(['SET', 'a', '1', 'EX', 86_400], ['GET', 'a'])
    await account.sandbox.clock.advance('5m')
    await account.send(['GET', 'a'])
    using later: Sandbox = createSandbox({ startAt: now })
    later.load(account.sandbox.dump(), { at: now, rebaseTime: true })
    const report = later.stats.store.report()
    expect(report.daily_net_commands).toBe(3)
    expect(report.command_counts.reduce((all, one) => all + sum(one.data_points), 0)).toBe(3)
    expect(report.keyspace.slice(-7).map(({ y }) => y)).toEqual([0, 1, 1, 1, 1, 1, 1])
  }
})

test('rejects a dump with invalid counts of the store', async () => {
  using account = accountOf()
  await account.send(['GET', 'a'])
  const dump = account.sandbox.dump()
  const withCounts = (counted: object) =>
    ({ ...dump, countedStore: { ...dump.countedStore, ...counted } }) as typeof dump
  const future = Date.parse('2031-01-01T00:00:00Z')
  for (const [counted, place] of [
    [{ commands: [[future / 1_440_000, 'GET', 1]] }, 'countedStore.commands'],
    [{ sizes: [[future / 60_000, 1, 1]] }, 'countedStore.sizes'],
    [{ rings: [[60_000, [[future / 60_000, [0, 0, 0, 0, 0, 0, 0]]]]] }, 'countedStore.rings'],
    [{ commands: [[1, '', 1]] }, 'countedStore.commands'],
    [{ commands: [[1, 'GET', -1]] }, 'countedStore.commands'],
    [{ sizes: [[1, 0.5, 1]] }, 'countedStore.sizes'],
    [{ rings: [[1000, []]] }, 'countedStore.rings'],
  ] as const) {
    using other = createSandbox({ startAt })
    expect(() => other.load(withCounts(counted))).toThrow(place)
  }
  using other = createSandbox({ startAt })
  other.load(withCounts({ tallies: ['other'], rings: [[1, ['anything']]] }))
  expect(other.stats.store.report().total_monthly_requests).toBe(0)
})

test('one report visits the keys of the store once', () => {
  let visits = 0
  const ledger = new StoreLedger(() => Date.parse(startAt), {
    sizes: ({ count }) => {
      visits++
      return { keys: new Array(count).fill(3), bytes: new Array(count).fill(40) }
    },
    connections: () => 0,
    monitors: () => 0,
  })
  for (let reports = 1; reports < 4; reports++) {
    expect(storeReport(ledger, undefined, Date.parse(startAt))).toMatchObject({ current_storage: 40 })
    expect(visits).toBe(reports)
  }
})

// A database reports its eviction. Fields: statistics.md 9.
test.each([
  ['off', false],
  ['optimistic-volatile', true],
] as const)('a database with eviction %s', async (eviction, expected) => {
  using sandbox = createSandbox({ policy: { eviction, maxStorageSize: 1000 } })
  const { tokens, urls } = sandbox
  const headers = { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` }
  const response = await sandbox.fetch(`${urls.mgmt}/v2/redis/databases`, { headers })
  expect(await response.json()).toMatchObject([{ eviction: expected, db_eviction: expected }])
})
