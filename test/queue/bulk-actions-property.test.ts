import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { isReplay, runs, seedOr } from '../support/effort.js'

// Bulk actions in random sandboxes, compared with a plain filter over a list of the published messages.

/** What a publish has said about a message. */
interface Known {
  readonly id: string
  readonly createdAt: number
  readonly url: string
  readonly labels: readonly string[]
  readonly queue?: string
  readonly key?: string
  readonly ip: string
  readonly group?: string
}

const hosts = ['a.test', 'b.test', 'b.test:8080']
const paths = ['/x', '/y', '/x/y']
const labels = ['l1', 'l2', 'l3']
const queues = ['q1', 'q2']
const keys = ['k1', 'k2']
const ips = ['10.0.0.1', '10.0.0.2']
const delays = ['0s', '7s', '1h', '30d']

const anyOf = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values)
const someOf = (values: readonly string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(anyOf([...values, 'nobody']), { minLength: 1, maxLength: 3 })

const message = fc.record(
  {
    host: anyOf(hosts),
    path: anyOf(paths),
    labels: fc.uniqueArray(anyOf(labels), { maxLength: 2 }),
    ip: anyOf(ips),
    delay: anyOf(delays),
    queue: anyOf(queues),
    key: anyOf(keys),
    toGroup: fc.boolean(),
  },
  { requiredKeys: ['host', 'path', 'labels', 'ip', 'delay'] },
)
type Drawn = typeof message extends fc.Arbitrary<infer T> ? T : never

const filters = {
  host: someOf(hosts),
  path: someOf(paths),
  url: someOf(hosts.map((host) => `https://${host}/x`)),
  label: someOf(labels),
  queueName: someOf(queues),
  flowControlKey: someOf(keys),
  callerIp: someOf(ips),
  topicName: someOf(['group']),
  /** Seconds after the start. */
  fromDate: fc.nat(40),
  toDate: fc.nat(40),
}

type Filter = {
  readonly [Name in keyof typeof filters]?: (typeof filters)[Name] extends fc.Arbitrary<infer T> ? T : never
}

/** At most two filters: with more, hardly any message would match all of them. */
const filter: fc.Arbitrary<Filter> = fc
  .subarray(Object.keys(filters) as (keyof typeof filters)[], { maxLength: 2 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, filters[name]])) as object))

const act = fc.oneof(
  { weight: 5, arbitrary: message.map((drawn) => ({ publish: drawn })) },
  { weight: 2, arbitrary: fc.record({ cancel: filter, isAsync: fc.boolean(), joined: fc.boolean() }) },
  { weight: 2, arbitrary: fc.nat(20).map((seconds) => ({ advance: seconds })) },
)

const start = Date.UTC(2030, 0, 1)

/** The documented rule: all filters must hold, and one value of each is enough. */
function isWanted(known: Known, wanted: Filter): boolean {
  const { hostname, host, pathname } = new URL(known.url)
  const has = (values: readonly string[] | undefined, ...own: readonly (string | undefined)[]): boolean =>
    values === undefined || own.some((value) => value !== undefined && values.includes(value))
  const seconds = (known.createdAt - start) / 1000
  return (
    has(wanted.host, hostname, host) &&
    has(wanted.path, pathname) &&
    has(wanted.url, known.url) &&
    has(wanted.label, ...known.labels) &&
    has(wanted.queueName, known.queue) &&
    has(wanted.flowControlKey, known.key) &&
    has(wanted.callerIp, known.ip) &&
    has(wanted.topicName, known.group) &&
    seconds >= (wanted.fromDate ?? 0) &&
    seconds <= (wanted.toDate ?? Number.POSITIVE_INFINITY)
  )
}

function queryOf(wanted: Filter, joined: boolean): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(wanted)) {
    if (typeof value === 'number') query.append(name, String(start + value * 1000))
    else for (const one of joined ? [value.join(',')] : value) query.append(name, one)
  }
  return query
}

async function send(sandbox: Sandbox, method: string, path: string, headers: Record<string, string> = {}) {
  return sandbox.fetch(sandbox.urls.queue + path, {
    method,
    headers: { authorization: `Bearer ${sandbox.tokens.queue}`, ...headers },
  })
}

async function publish(sandbox: Sandbox, drawn: Drawn): Promise<Known> {
  const { host, path, queue, key, toGroup } = drawn
  const url = `https://${host}${path}`
  if (toGroup) {
    for (const { name } of sandbox.queue.urlGroups.list()) sandbox.queue.urlGroups.delete(name)
    sandbox.queue.urlGroups.addEndpoints('group', [url])
  }
  const response = await send(
    sandbox,
    'POST',
    `${queue === undefined ? '/v2/publish' : `/v2/enqueue/${queue}`}/${toGroup ? 'group' : url}`,
    {
      'Upstash-Delay': drawn.delay,
      'X-Forwarded-For': drawn.ip,
      ...(drawn.labels.length > 0 && { 'Upstash-Label': drawn.labels.join(',') }),
      ...(key !== undefined && { 'Upstash-Flow-Control-Key': key, 'Upstash-Flow-Control-Value': 'parallelism=1' }),
    },
  )
  const json = [await response.json()].flat() as { messageId: string }[]
  return {
    id: json[0]!.messageId,
    createdAt: sandbox.clock.now(),
    url,
    labels: drawn.labels,
    ip: drawn.ip,
    ...(queue !== undefined && { queue }),
    ...(key !== undefined && { key }),
    ...(toGroup && { group: 'group' }),
  }
}

const views = ({ queue }: Sandbox): ReadonlyMap<string, string> =>
  new Map(queue.messages.map((one) => [one.id, JSON.stringify(one)]))

/** Asserts that enough actions have canceled something. If the filters matched nothing, the property would prove nothing. */
function expectMatches(counts: readonly number[]): void {
  if (!isReplay) expect(counts.filter((count) => count > 0).length).toBeGreaterThan(counts.length / 4)
}

test('a filter cancels what a plain filter over the list selects, and touches nothing else', async () => {
  const counts: number[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 25 }), fc.boolean(), async (acts, isSlow) => {
      using sandbox = createSandbox({ onWarning: () => {} })
      sandbox.destinations.on('https://*', async (_request, task) => {
        await task.sleep('3s')
        return new Response('no', { status: isSlow ? 500 : 200 })
      })
      const known: Known[] = []
      let canceled = 0
      for (const one of acts) {
        if ('publish' in one) known.push(await publish(sandbox, one.publish))
        else if ('advance' in one) await sandbox.clock.advance(one.advance * 1000)
        else {
          const before = views(sandbox)
          const wanted = known.filter((each) => before.has(each.id) && isWanted(each, one.cancel)).map(({ id }) => id)
          const query = queryOf(one.cancel, one.joined)
          query.append('count', '1')
          if (one.isAsync) query.append('async', 'true')
          const response = await send(sandbox, 'DELETE', `/v2/messages?${query}`)
          const json = (await response.json()) as { cancelled: number; actionId?: string }
          expect([response.status, json.cancelled, json.actionId !== undefined]).toEqual([
            202,
            wanted.length,
            one.isAsync,
          ])
          const kept = [...before].filter(([id]) => !wanted.includes(id))
          expect([...views(sandbox)]).toEqual(kept)
          canceled += wanted.length
          counts.push(wanted.length)
          expect(sandbox.queue.bulkActions.at(-1)).toMatchObject({
            total: wanted.length,
            processed: wanted.length,
            state: 'FINISHED',
          })
        }
      }
      const requested = sandbox.traffic.ofType('message').filter(({ state }) => state === 'CANCEL_REQUESTED')
      expect(requested).toHaveLength(canceled)
      await sandbox.clock.drain()
      sandbox.assertInvariants()
    }),
    { numRuns: runs(12, 400, 4000), seed: seedOr(1) },
  )
  expectMatches(counts)
})

test('with bulkActionTime, everything that matched is canceled or has ended by the end of the action', async () => {
  const counts: number[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 20 }),
      filter,
      fc.array(message, { maxLength: 5 }),
      fc.integer({ min: 1, max: 50_000 }),
      async (first, wanted, later, time) => {
        using sandbox = createSandbox({ policy: { bulkActionTime: time }, onWarning: () => {} })
        sandbox.destinations.respond('https://*', 200)
        const known: Known[] = []
        for (const one of first) known.push(await publish(sandbox, one))
        const matching = known
          .filter((each) => views(sandbox).has(each.id) && isWanted(each, wanted))
          .map(({ id }) => id)
        const begun = await send(sandbox, 'DELETE', `/v2/messages?async=true&${queryOf(wanted, false)}`)
        expect(await begun.json()).toMatchObject({ cancelled: matching.length })
        counts.push(matching.length)
        const [action] = sandbox.queue.bulkActions
        const added: string[] = []
        for (const one of later) added.push((await publish(sandbox, { ...one, delay: '30d' })).id)
        let last = 0
        for (let part = 1; part <= 7; part++) {
          await sandbox.clock.advanceTo(start + Math.floor((time * part) / 8))
          expect(action!.processed).toBeGreaterThanOrEqual(last)
          last = action!.processed
          expect(action!.completedAt).toBeUndefined()
          // What has been processed so far has ended or is canceled, oldest first.
          for (const id of matching.slice(0, last)) expect(sandbox.queue.getMessage(id)).toBeUndefined()
        }
        await sandbox.clock.advanceTo(start + time)
        const left = new Set(views(sandbox).keys())
        expect(action).toMatchObject({ state: 'FINISHED', processed: matching.length, completedAt: start + time })
        expect(matching.filter((id) => left.has(id))).toEqual([])
        expect(added.filter((id) => !left.has(id))).toEqual([])
        const canceled = new Set(
          sandbox.traffic
            .ofType('message')
            .flatMap(({ state, messageId }) => (state === 'CANCEL_REQUESTED' ? messageId : [])),
        )
        expect([...canceled].filter((id) => !matching.includes(id))).toEqual([])
      },
    ),
    { numRuns: runs(15, 300, 3000), seed: seedOr(1) },
  )
  expectMatches(counts)
})

test('a fork equals its origin, during a bulk action and after it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 3, maxLength: 15 }),
      fc.constantFrom(0, 5_000, 45_000, 90_000),
      fc.nat(60_000),
      async (acts, time, wait) => {
        using sandbox = createSandbox({ policy: { bulkActionTime: time }, onWarning: () => {} })
        sandbox.destinations.respond('https://*', 200)
        for (const one of acts) {
          if ('publish' in one) await publish(sandbox, one.publish)
          else if ('advance' in one) await sandbox.clock.advance(one.advance * 1000)
          // Some requests wait for the end of their action, and are not awaited.
          else void send(sandbox, 'DELETE', `/v2/messages?async=${one.isAsync}&${queryOf(one.cancel, one.joined)}`)
          await sandbox.clock.settle()
        }
        using fork = await sandbox.fork()
        expect(fork.dump()).toEqual(sandbox.dump())
        for (const each of [sandbox, fork]) await each.clock.advance(wait)
        expect(fork.dump()).toEqual(sandbox.dump())
        using loaded = createSandbox({ startAt: sandbox.clock.now() })
        await loaded.load(sandbox.dump())
        expect(loaded.dump().queue.bulkActions).toEqual(sandbox.dump().queue.bulkActions)
        for (const each of [sandbox, fork]) await each.clock.advance('2m')
        expect(JSON.stringify(fork.traffic.toTrace())).toBe(JSON.stringify(sandbox.traffic.toTrace()))
        expect(sandbox.queue.bulkActions.every(({ state }) => state === 'FINISHED')).toBe(true)
      },
    ),
    { numRuns: runs(5, 100, 1000), seed: seedOr(1) },
  )
})
