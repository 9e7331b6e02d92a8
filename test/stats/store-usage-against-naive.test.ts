import fc from 'fast-check'
import { expect, test } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import type { StoreReport } from '../../src/stats/store-report.js'
import { sessionsOf } from '../../src/store/resp/sessions.js'
import { runs } from '../support/effort.js'
import { remembering } from './naive-fold.js'
import { kinds, NaiveUsage, scripts } from './naive-usage.js'
import { sum } from './world.js'

const [minute, day] = [60_000, 86_400_000]

type Row = readonly string[]
type Act =
  | {
      readonly do: 'send'
      readonly via: 'rest' | 'pipeline' | 'transaction' | 'resp' | 'resp transaction' | 'direct'
      readonly rows: readonly Row[]
    }
  | { readonly do: 'wait'; readonly by: number }
  | { readonly do: 'ask' | 'look' | 'dump and load' | 'fork' | 'clear the log' }

const key = fc.constantFrom('a', 'b', 'key c')
const list = fc.constantFrom('l', 'list')
const value = fc.constantFrom('', 'v', 'value')
const row: fc.Arbitrary<Row> = fc.oneof(
  fc.tuple(fc.constant('GET'), key),
  fc.tuple(fc.constantFrom('MGET', 'EXISTS'), key, key),
  fc.tuple(fc.constant('LLEN'), list),
  fc.tuple(fc.constant('SET'), key, value),
  fc.tuple(
    fc.constant('SET'),
    key,
    value,
    fc.constant('PX'),
    fc.constantFrom('1', '59999', '60000', '90000', '7200000'),
  ),
  fc.tuple(fc.constantFrom('APPEND'), key, fc.constantFrom('x', 'yz')),
  fc.tuple(fc.constant('RPUSH'), list, fc.constantFrom('1', 'two')),
  fc.tuple(fc.constant('LPOP'), list),
  fc.tuple(fc.constant('DEL'), key),
  fc.tuple(fc.constant('EVAL'), fc.constantFrom(...Object.keys(scripts)), fc.constant('1'), key),
  fc.constantFrom(['PING'], ['ECHO', 'hello'], ['FLUSHALL'], ['NOSUCH', 'command']),
)
const wait = fc.oneof(
  fc.constantFrom(1, minute - 1, minute, 24 * minute, 3_600_000, day, 31 * day),
  fc.integer({ min: 0, max: 3 * minute }),
  fc.integer({ min: 0, max: 40 * minute }),
  fc.integer({ min: 0, max: 2 * day }),
)
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      via: fc.constantFrom('rest', 'pipeline', 'transaction', 'resp', 'resp transaction', 'direct'),
      rows: fc.array(row, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), by: wait }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },

  fc.record({
    do: fc.constantFrom(
      'ask' as const,

      'dump and load' as const,
      'fork' as const,
      'clear the log' as const,
    ),
  }),
)

test('counting as commands run equals a walk over all entries, also after loads and forks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25, size: 'max' }), async (acts) => {
      // Shortly before midnight, at the end of a month.
      let sandbox = createSandbox({ startAt: '2030-01-31T23:58:30Z' })
      const opened: Sandbox[] = [sandbox]
      const logs = [remembering(storeLog(sandbox))]
      let send = senderTo(sandbox)
      const check = (): void => {
        const usage = new NaiveUsage(logs.flatMap((log) => [...log]))
        expect(sandbox.stats.store.report()).toMatchObject(expected(usage, sandbox.clock.now()))
      }
      try {
        for (const one of acts) {
          if (one.do === 'send')
            for (const rows of one.via.endsWith('n') || one.via === 'pipeline'
              ? [one.rows]
              : one.rows.map((each) => [each]))
              await send(one.via, rows)
          else if (one.do === 'wait') await sandbox.clock.advance(one.by)
          else if (one.do === 'clear the log') sandbox.traffic.clear()
          else if (one.do === 'ask') check()
          // Removes everything that has expired, outside of commands.
          else if (one.do === 'look') sandbox.store.dump()
          else {
            const before = sandbox
            if (one.do === 'fork') sandbox = await before.fork()
            else {
              sandbox = createSandbox({ startAt: '2030-01-01T00:00:00Z' })
              sandbox.load(JSON.parse(JSON.stringify(before.dump())))
            }
            opened.push(sandbox)
            // A fork repeats the past in its own log, so only its new entries are added.
            expect(usageOf(sandbox)).toEqual(usageOf(before))
            logs.push(remembering(storeLog(sandbox)))
            send = senderTo(sandbox)
          }
        }
        check()
        expect(sandbox.dump().countedStore).toEqual((await forkOf(sandbox, opened)).dump().countedStore)
      } finally {
        for (const each of opened) each.dispose()
      }
    }),
    { numRuns: runs(60, 60, 600) },
  )
})

async function forkOf(sandbox: Sandbox, opened: Sandbox[]): Promise<Sandbox> {
  const fork = await sandbox.fork()
  opened.push(fork)
  return fork
}

function storeLog(sandbox: Sandbox): Sandbox['store']['traffic'] {
  return sandbox.store.traffic
}

/** The report without what belongs to open connections, which neither a dump nor a load keeps. */
function usageOf(sandbox: Sandbox): Partial<StoreReport> {
  const { connection_count: _, ...usage } = sandbox.stats.store.report()
  return usage
}

/** Returns a function that sends commands over one of the transports. */
function senderTo(sandbox: Sandbox): (via: string, rows: readonly Row[]) => Promise<void> {
  const { urls, tokens, store, fetch } = sandbox
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { authorization: `Bearer ${tokens.store}` }
    await (await fetch(urls.store + path, { method: 'POST', headers, body: JSON.stringify(body) })).text()
  }
  let resp: ((argv: Row) => void) | undefined
  const connected = (): ((argv: Row) => void) => {
    const sessions = sessionsOf(store)
    const opening = { address: '127.0.0.1:50000', protocol: 2, known: undefined } as const
    const session = sessions.open('default', opening, { send() {}, tell() {}, end() {}, break() {} })
    return (argv) => sessions.run(session, argv.map(latin1), { send() {}, done() {}, break() {} })
  }
  return async (via, rows) => {
    if (via === 'rest') await post('/', rows[0])
    else if (via === 'pipeline') await post('/pipeline', rows)
    else if (via === 'transaction')
      await post('/multi-exec', rows.filter(([name]) => name !== 'NOSUCH').concat([['PING']]))
    else if (via === 'direct') {
      if (rows[0]![0] !== 'NOSUCH') store.run(...(rows[0] as [string, ...string[]]))
    } else {
      resp ??= connected()
      if (via === 'resp') resp(rows[0]!)
      else for (const each of [['MULTI'], ...rows.filter(([name]) => name !== 'NOSUCH'), ['EXEC']]) resp(each)
    }
  }
}

/** The report by a walk over the entries, with the host's calendar. */
function expected(usage: NaiveUsage, now: number): Partial<StoreReport> {
  const date = new Date(now)
  const today = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  const end = Number.POSITIVE_INFINITY
  const days = [4, 3, 2, 1, 0].map((ago) => today - ago * day)
  const stamp = (at: number, zeros: string): string =>
    `${new Date(at).toISOString().replace('T', ' ').replace('Z', zeros)} +0000 UTC`
  const daily = (value: (from: number) => number) =>
    days.map((from) => ({ x: stamp(from + (now - today), '000000'), y: value(from) }))
  const last = now - (now % minute)
  const minutes = Array.from({ length: 60 }, (_, index) => last - (59 - index) * minute)
  const series = (value: (from: number) => number) => minutes.map((from) => ({ x: stamp(from, ''), y: value(from) }))
  const each = (kind?: string) => series((from) => usage.count(from, from + minute, kind))
  const sizes = (what: 'keys' | 'bytes') => series((from) => usage.sizesAt(Math.min(from + minute - 1, now))[what])
  const slots = Array.from({ length: 60 }, (_, index) => today + index * 24 * minute)
  const names = [...new Set(usage.commands.filter(({ at }) => at >= today).map(({ name }) => name))].sort()
  const dollars = (commands: number): number => Math.round(commands * 2) / 1e6
  const { bytes } = usage.sizesAt(now)
  return {
    monitor_count: { x: stamp(now, '000000'), y: 0 },
    daily_net_commands: usage.count(today, end),
    daily_read_requests: usage.count(today, end, 'read'),
    daily_write_requests: usage.count(today, end, 'write'),
    keyspace: sizes('keys'),
    diskusage: sizes('bytes'),
    throughput: each().map(({ x, y }) => ({ x, y: y / 60 })),
    hits: series((from) => usage.sum('hits', from, from + minute)),
    misses: series((from) => usage.sum('misses', from, from + minute)),
    read: each('read'),
    write: each('write'),
    dailyrequests: daily((from) => usage.count(from, from + day)),
    dailybilling: daily((from) => dollars(usage.count(from, from + day))),
    dailybandwidth: usage.bytesIn(today, end),
    bandwidths: daily((from) => usage.bytesIn(from, from + day)),
    total_monthly_bandwidth: usage.bytesIn(month, end),
    total_monthly_requests: usage.count(month, end),
    total_monthly_read_requests: usage.count(month, end, 'read'),
    total_monthly_write_requests: usage.count(month, end, 'write'),
    total_monthly_script_requests: usage.count(month, end, 'script'),
    total_monthly_billing: dollars(usage.count(month, end)),
    total_monthly_storage: bytes,
    current_storage: bytes,
    command_counts: names.map((name) => ({
      metric_identifier: name,
      data_points: slots.map((from) => ({ x: stamp(from, ''), y: usage.count(from, from + 24 * minute, name) })),
    })),
  }
}

test('sums over command_counts equal the commands of the day, and the kinds add up to them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 15, size: 'max' }), async (acts) => {
      using sandbox = createSandbox({ startAt: '2030-01-31T22:00:00Z' })
      const send = senderTo(sandbox)
      for (const one of acts) {
        if (one.do === 'wait') await sandbox.clock.advance(one.by)
        if (one.do === 'send') for (const each of one.rows) await send(one.via, [each])
      }
      const report = sandbox.stats.store.report()
      const counts = report.command_counts.map((one) => [kinds[one.metric_identifier], sum(one.data_points)] as const)
      const total = (kind?: string): number =>
        counts.reduce((all, [of, count]) => (kind === undefined || of === kind ? all + count : all), 0)
      expect(total()).toBe(report.daily_net_commands)
      expect(report.dailyrequests.at(-1)!.y).toBe(report.daily_net_commands)
      expect(total('read')).toBe(report.daily_read_requests)
      expect(total('write')).toBe(report.daily_write_requests)
      expect(sandbox.store.cost().today).toBe(report.daily_net_commands)
    }),
    { numRuns: runs(60, 60, 600) },
  )
})
