import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { usage } from 'stuntdouble/stats'
import { describe, expect, test } from 'vitest'
import { type OutboundEffects, outboundInternals } from '../../src/calls/outbound.js'
import type { CallPath } from '../../src/kernel/input-journal.js'
import type { Changes } from '../../src/kernel/input-recorder.js'
import type { DestinationsEffects } from '../../src/queue/destinations/destinations.js'
import type { KeysEffects, QueueEffects, SchedulesEffects, UrlGroupsEffects } from '../../src/queue/direct-queue.js'
import type { TrafficEffects } from '../../src/report/traffic-view.js'
import type { FaultsEffects } from '../../src/rules/fault-rules.js'
import { sandboxInternals } from '../../src/sandbox/sandbox-internals.js'
import type {
  QueueStatisticsEffects,
  SearchStatisticsEffects,
  StatisticsEffects,
  StoreStatisticsEffects,
} from '../../src/stats/statistics.js'
import type { StoreEffects } from '../../src/store/direct-store.js'
import type { EventEffects, RunEffects, StepEffects, WorkflowsEffects } from '../../src/workflow/direct-workflows.js'
import { lived } from './lived.js'

// Each method that changes something is recorded as one input, so that a fork makes the same change. The tables below
// need a row for each such method, or they do not compile.

const begun = Date.parse('2030-01-01T09:00:00Z')
const shop = 'https://shop.test/orders'
const bank = 'https://bank.test/charges'
const rule = { on: 'queue.delivery', name: 'late', fault: fault.status(503) } as const

/** Arguments for each method that changes something; some depend on the present state. */
type Calls<Table, Target> = {
  readonly [Name in Changes<Table>]: Name extends keyof Target
    ? Target[Name] extends (...args: infer Args extends readonly unknown[]) => unknown
      ? Args | ((sandbox: Sandbox) => Args)
      : never
    : never
}

interface PublicObject {
  readonly of: (sandbox: Sandbox) => object
  readonly calls: Readonly<Record<string, readonly unknown[] | ((sandbox: Sandbox) => readonly unknown[])>>
}

function recorded<Table, Target extends object>(
  of: (sandbox: Sandbox) => Target,
  calls: Calls<Table, Target>,
): PublicObject {
  return { of, calls: calls as unknown as PublicObject['calls'] }
}

const objects: Readonly<Record<string, PublicObject>> = {
  store: recorded<StoreEffects, Sandbox['store']>(({ store }) => store, {
    run: ['RPUSH', 'l', 'f', 7],
    load: () => [createSandbox().store.dump()],
    resetPassword: [],
  }),
  queue: recorded<QueueEffects, Sandbox['queue']>(({ queue }) => queue, {
    publish: [{ to: shop, body: { n: 42 }, delay: '1m' }],
    cancel: ({ queue }) => [queue.messages[0]!.id],
    cancelMessages: [{ host: 'shop.test', fromDate: new Date(0) }],
    deliverNow: ({ queue }) => [queue.messages[0]!.id],
    retryDeadLetter: ({ queue }) => [queue.deadLetters[0]!.id],
    upsertQueue: ['other', { parallelism: 3, paused: true }],
    pauseQueue: ['lane'],
    resumeQueue: ['paused'],
    deleteQueue: ['lane'],
    load: () => [createSandbox().queue.dump()],
    reset: [],
  }),
  'queueIn()': recorded<Pick<QueueEffects, 'upsertQueue'>, Sandbox['queue']>(({ queueIn }) => queueIn('us-east-1'), {
    upsertQueue: ['away', { parallelism: 3 }],
  }),
  'queue.schedules': recorded<SchedulesEffects, Sandbox['queue']['schedules']>(({ queue }) => queue.schedules, {
    fire: ['s'],
  }),
  'queue.urlGroups': recorded<UrlGroupsEffects, Sandbox['queue']['urlGroups']>(({ queue }) => queue.urlGroups, {
    addEndpoints: ['group', ['https://c.test/', { url: 'https://d.test/', name: 'd' }]],
    delete: ['group'],
  }),
  'queue.signingKeys': recorded<KeysEffects, Sandbox['queue']['signingKeys']>(({ queue }) => queue.signingKeys, {
    rotate: [],
  }),
  workflow: recorded<WorkflowsEffects, Sandbox['workflow']>(({ workflow }) => workflow, {
    cancelRuns: [{ workflowUrlStartingWith: 'https://' }],
    notify: ['approved', { by: 'Ada' }],
    stubEvent: ['approved', { by: 'Ada' }],
    skipSleeps: [],
    skipRetryDelays: [],
  }),
  'workflow.stubStep()': recorded<StepEffects, ReturnType<Sandbox['workflow']['stubStep']>>(
    ({ workflow }) => workflow.stubStep('charge', 1),
    { returns: [{ id: 'ch_1' }], throws: [new Error('no money'), { times: 2 }], timesOut: [{ times: 2 }] },
  ),
  'workflow.stubEvent()': recorded<EventEffects, ReturnType<Sandbox['workflow']['stubEvent']>>(
    ({ workflow }) => workflow.stubEvent('approved'),
    { timesOut: [] },
  ),
  'workflow.getRun()': recorded<RunEffects, ReturnType<Sandbox['workflow']['getRun']>>(
    ({ workflow }) => workflow.getRun('wfr_1'),
    { cancel: [] },
  ),
  'workflow.runs[0]': recorded<RunEffects, ReturnType<Sandbox['workflow']['getRun']>>(
    ({ workflow }) => workflow.runs[0]!,
    { cancel: [] },
  ),
  stats: recorded<StatisticsEffects, Sandbox['stats']>(({ stats }) => stats, { forbid: ['products'], clear: [] }),
  'stats.queue': recorded<QueueStatisticsEffects, Sandbox['stats']['queue']>(({ stats }) => stats.queue, {
    override: [{ total_monthly_billing: 5.5 }],
    script: [[usage.steady({ delivered: 5 })], { messageSize: 2 }],
    clear: [],
  }),
  'stats.search()': recorded<SearchStatisticsEffects, ReturnType<Sandbox['stats']['search']>>(
    ({ stats }) => stats.search('products'),
    { override: [{ monthly_cost: 0.25 }], script: [[usage.steady({ queries: 5 })]], clear: [] },
  ),
  'stats.vector()': recorded<SearchStatisticsEffects, ReturnType<Sandbox['stats']['vector']>>(
    ({ stats }) => stats.vector('products'),
    { override: [{ monthly_cost: 0.25 }], script: [[usage.steady({ queries: 5 })]], clear: [] },
  ),
  'stats.store': recorded<StoreStatisticsEffects, Sandbox['stats']['store']>(({ stats }) => stats.store, {
    override: [{ total_monthly_billing: 5.5 }],
    script: [[usage.steady({ reads: 5 })], { keySize: 2 }],
    clear: [],
  }),
  faults: recorded<FaultsEffects, Sandbox['faults']>(({ faults }) => faults, {
    add: [[rule, { ...rule, name: 'later', skip: 1 }]],
    removeAdded: [1],
    remove: ['known'],
    clear: [],
  }),
  destinations: recorded<DestinationsEffects, Sandbox['destinations']>(({ destinations }) => destinations, {
    on: [shop, () => new Response('on')],
    respond: [new URL(shop), { status: 201, body: 'answered' }],
    record: [shop, 202],
    script: [shop, [503, fault.pass()]],
    off: ['https://*.test/*'],
  }),
  outbound: recorded<OutboundEffects, Sandbox['outbound']>(({ outbound }) => outbound, {
    on: [bank, () => new Response('on')],
    respond: [bank, { status: 201, body: 'answered' }],
    record: [bank, 202],
    script: [bank, [503, new Response('scripted')]],
    off: [bank],
  }),
  traffic: recorded<TrafficEffects, Sandbox['traffic']>(({ traffic }) => traffic, { clear: [] }),
  'traffic.since()': recorded<TrafficEffects, Sandbox['traffic']>(({ traffic }) => traffic.since(traffic.mark()), {
    clear: [],
  }),
}

/** A sandbox in which every method can change something. */
async function prepared(): Promise<Sandbox> {
  const sandbox = await lived(begun)
  const { urls, tokens, queue, faults, stats, outbound } = sandbox
  const headers = {
    authorization: `Bearer ${tokens.queue}`,
    'service-workflow-runid': 'wfr_1',
    'service-workflow-url': 'https://app.test/',
    'service-workflow-init': 'true',
    'service-delay': '1h',
  }
  await sandbox.fetch(`${urls.queue}/v2/publish/https://app.test/`, { method: 'POST', headers, body: '{}' })
  queue.upsertQueue('paused', { parallelism: 1, paused: true })
  queue.publish({ to: shop, queue: 'paused' })
  faults.add({ ...rule, name: 'known', match: { url: 'https://slow.test/*' } })
  stats.search('products').override({ monthly_cost: 0.5 })
  stats.vector('products').override({ monthly_cost: 0.5 })
  stats.queue.override({ total_monthly_billing: 1 })
  stats.store.override({ total_monthly_billing: 1 })
  outbound.respond(bank, 200)
  // A key that has expired and has not been read since. The first read is an input of its own.
  sandbox.store.run('SET', 'expired', 'v', 'PX', 10)
  await sandbox.clock.advance(20)
  return sandbox
}

function stateOf(sandbox: Sandbox): object {
  const { traffic, workflow, faults, destinations, outbound, stats, clock, tokens, queueIn } = sandbox
  return {
    dump: sandbox.dump(),
    trace: traffic.toTrace(),
    runs: workflow.runs.map(({ id, state }) => [id, state]),
    unused: [workflow.unused, faults.unused, destinations.unused, outbound.unused],
    rules: faults.rules,
    answers: [shop, bank].map((url) =>
      [destinations.responderAt(url), outboundInternals.of(outbound).responderAt('POST', url)].map(Boolean),
    ),
    figures: [
      ...[stats.queue.report(), stats.store.report(), stats.search('products').report()],
      ...[stats.vector('products').report(), stats.isForbidden('products')],
    ],
    pending: clock.pending,
    tokens,
    keys: queueIn('eu-central-1').signingKeys.pair(),
  }
}

const rows = Object.entries(objects).flatMap(([at, { of, calls }]) =>
  Object.entries(calls).map(([method, args]) => ({ at, method, of, args })),
)

test.each(rows)('$at, $method() is one input, and a fork repeats it', async ({ method, of, args }) => {
  using sandbox = await prepared()
  const target = of(sandbox) as Record<string, (...args: readonly unknown[]) => unknown>
  const given = typeof args === 'function' ? args(sandbox) : args
  const { inputs } = sandboxInternals.of(sandbox).journal()!
  const before = inputs.length
  target[method]!(...given)
  expect(inputs.length).toBe(before + 1)
  const { kind, what } = inputs.get(before)!
  expect(kind).toBe('direct')
  expect((what as CallPath).at(-1)!.slice(0, 2)).toEqual([method, ...given.slice(0, 1)])
  using fork = await sandbox.fork()
  expect(stateOf(fork)).toEqual(stateOf(sandbox))
  for (const one of [sandbox, fork]) {
    one.queue.publish({ to: shop })
    await one.outbound.fetch(bank, { method: 'POST' }).catch(String)
    await one.clock.advance('2h')
  }
  expect(stateOf(fork)).toEqual(stateOf(sandbox))
})

describe('calls that change nothing are not recorded:', () => {
  test('methods classified as reads', async () => {
    using sandbox = await prepared()
    const { inputs } = sandboxInternals.of(sandbox).journal()!
    for (const [at, { of, calls }] of Object.entries(objects)) {
      // The other methods of `queueIn()` are those of `queue`.
      if (at === 'queueIn()') continue
      const target = of(sandbox) as Record<string, () => unknown>
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(target))
      for (const name of names.filter((one) => one !== 'constructor' && !Object.hasOwn(calls, one))) {
        const before = inputs.of('direct').length
        try {
          const given: unknown = target[name]
          if (typeof given === 'function') void Promise.resolve(given()).catch(() => {})
        } catch {
          // This method needs arguments.
        }
        expect([name, inputs.of('direct').length]).toEqual([name, before])
      }
    }
  })

  test('calls within the engines', async () => {
    using sandbox = await prepared()
    const { inputs } = sandboxInternals.of(sandbox).journal()!
    const before = inputs.of('direct').length
    const headers = { authorization: `Bearer ${sandbox.tokens.queue}` }
    await sandbox.fetch(`${sandbox.urls.queue}/v2/keys/rotate`, { method: 'POST', headers })
    await sandbox.fetch(`${sandbox.urls.queue}/v2/topics/group`, { method: 'DELETE', headers })
    await sandbox.clock.advance('2h')
    expect(sandbox.queue.urlGroups.list()).toEqual([])
    expect(inputs.of('direct')).toHaveLength(before)
  })
})

test('a call that throws is recorded, and throws again in a fork', async () => {
  using sandbox = createSandbox()
  expect(() => sandbox.queue.cancel('msg_none')).toThrow(RangeError)
  expect(() => sandbox.destinations.respond(shop, null as never)).toThrow(TypeError)
  const { inputs } = sandboxInternals.of(sandbox).journal()!
  expect(inputs.of('direct').map((path) => path.at(-1))).toEqual([
    ['cancel', 'msg_none'],
    ['respond', shop, null],
  ])
  using fork = await sandbox.fork()
  expect(stateOf(fork)).toEqual(stateOf(sandbox))
})

test('a sandbox without a journal changes as others do', async () => {
  using sandbox = createSandbox({ journal: false })
  sandbox.store.run('SET', 'a', '1')
  sandbox.queue.signingKeys.rotate()
  sandbox.faults.add(rule).remove()
  expect(sandbox.store.get('a')).toBe('1')
  expect(sandbox.queue.signingKeys.former).toHaveLength(1)
  expect(sandbox.faults.rules).toEqual([])
})
