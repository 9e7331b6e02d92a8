import { describe, expect, test } from 'vitest'
import { playScenario, type Scenario, scenarios } from '../../packages/explore/src/scenarios.js'
import * as fault from '../../src/faults/constructors.js'
import { engineOf } from '../../src/queue/queue-internals.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { type ExpectationName, expectationNames } from '../../src/scenarios/expectations.js'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { stepNames } from '../../src/scenarios/scenario-steps.js'
import type { StepName } from '../../src/scenarios/step-values.js'

const orders = 'https://shop.test/orders'
const at = '2030-01-01T09:00:00Z'
const base: Scenario = { name: 'a', startAt: at, destinations: [{ url: orders }] }
const order = { publish: { to: orders, as: 'order', retries: 1 } }
const drain = { drain: true } as const

/** For each step, a scenario whose end shows that the step ran. */
const stepStories: Readonly<Record<StepName, Partial<Scenario>>> = {
  publish: {
    steps: [
      {
        publish: {
          to: orders,
          as: 'order',
          times: 2,
          method: 'PUT',
          body: { n: '{n}' },
          headers: { 'X-Shop': 'berlin' },
          delay: '5m',
          label: ['a', 'b'],
          callback: 'https://shop.test/back',
          callbackHeaders: { 'X-Callback': 'yes' },
        },
      },
      { publish: { to: orders, as: 'bytes', bodyBase64: '/wA=', notBefore: '2030-01-01T10:00:00Z' } },
      { publish: { to: orders, as: 'number', notBefore: Date.parse('2030-01-01T11:00:00Z') } },
      drain,
    ],
    destinations: [{ url: 'https://shop.test/*' }],
    expect: [
      { published: { message: 'order', body: { n: '2' }, method: 'PUT', delay: '5m', labels: ['a', 'b'], times: 1 } },
      {
        delivered: { message: 'order', headers: { 'x-shop': 'berlin', 'content-type': 'application/json' }, times: 2 },
      },
      { published: { kind: 'callback', headers: { 'x-callback': 'yes' }, times: 2 } },
      { delivered: { message: 'bytes', deliveredAt: '2030-01-01T10:00:00Z' } },
      { delivered: { message: 'number', deliveredAt: '2030-01-01T11:00:00Z' } },
    ],
  },
  request: {
    steps: [
      { request: { service: 'queue', path: '/v2/keys', status: 200, response: { current: 'sig_a' } } },
      { request: { service: 'queue', path: '/v2/keys', token: 'none', status: 401 } },
      { request: { service: 'store', path: '/', body: ['SET', 'k', 'v'], response: { result: 'OK' } } },
      { request: { service: 'store', path: '/set/k/w', token: 'read-only', status: 400 } },
      {
        request: {
          service: 'queue',
          path: `/v2/publish/${orders}`,
          method: 'POST',
          body: 'text',
          headers: { 'service-retries': '0' },
        },
      },
      { request: { service: 'stats', path: '/v2/redis/stats/x', status: 404 } },
      drain,
    ],
    given: { signingKeys: { current: 'sig_a', next: 'sig_b' } },
    expect: [
      { receivedRequest: { service: 'queue', status: 401, times: 1 } },
      { key: { name: 'k', value: 'v' } },
      { executed: { argv: ['SET', 'k', 'v'], times: 1 } },
      { delivered: { to: orders, body: 'text', times: 1 } },
    ],
  },
  command: {
    steps: [{ command: ['SET', 'k', 3] }],
    expect: [{ key: { name: 'k', value: '3', type: 'string', ttl: null } }],
  },
  advance: { steps: [{ advance: '1h30m' }, { advance: 500 }], expect: [{ time: '2030-01-01T10:30:00.500Z' }] },
  advanceTo: { steps: [{ advanceTo: '2030-02-01' }], expect: [{ time: '2030-02-01T00:00:00Z' }] },
  drain: {
    destinations: [{ url: orders, script: [fault.status(500)] }],
    steps: [order, drain],
    expect: [{ time: '2030-01-01T09:00:12Z' }, { idle: true }],
  },
  cancel: {
    steps: [{ publish: { to: orders, as: 'order', delay: '1h' } }, { cancel: 'order' }, drain],
    expect: [{ delivered: { message: 'order', state: 'CANCELLED', attempts: 0 } }],
  },
  deliverNow: {
    steps: [{ publish: { to: orders, as: 'order', delay: '1h' } }, { advance: '1m' }, { deliverNow: 'order' }, drain],
    expect: [{ delivered: { message: 'order', deliveredAt: '2030-01-01T09:01:00Z' } }],
  },
  retryDeadLetters: {
    destinations: [{ url: orders, script: [fault.status(500), fault.status(500)] }],
    steps: [
      order,
      { publish: { to: orders, as: 'other', delay: '1h' } },
      drain,
      { expect: { deadLetters: 1 } },
      { retryDeadLetters: 'order' },
      drain,
    ],
    expect: [
      { deadLetters: 0 },
      { delivered: { message: 'order', attempts: [500, 500], state: 'FAILED' } },
      { delivered: { message: 'order', attempts: [200] } },
    ],
  },
  deleteDeadLetters: {
    destinations: [{ url: orders, script: [fault.status(500), fault.status(500)] }],
    steps: [
      order,
      drain,
      { expect: [{ deadLetters: 1 }, { deadLetter: { message: 'order' } }] },
      { deleteDeadLetters: 'all' },
    ],
    expect: [{ deadLetters: 0 }],
  },
  pauseQueue: {
    given: { queues: { line: { parallelism: 1 } } },
    steps: [{ pauseQueue: 'line' }, { publish: { to: orders, queue: 'line', as: 'order' } }, { advance: '1d' }],
    expect: [{ pending: 1 }, { reached: { url: orders, times: 0 } }],
  },
  resumeQueue: {
    given: { queues: { line: { paused: true } } },
    steps: [{ publish: { to: orders, queue: 'line', as: 'order' } }, { advance: '1h' }, { resumeQueue: 'line' }, drain],
    expect: [{ delivered: { message: 'order', deliveredAt: '2030-01-01T10:00:00Z' } }],
  },
  upsertQueue: {
    destinations: [{ url: orders, response: { delay: 1000 } }],
    steps: [
      { upsertQueue: { name: 'line', parallelism: 2 } },
      { publish: { to: orders, queue: 'line', times: 4 } },
      drain,
    ],
    expect: [{ time: '2030-01-01T09:00:02Z' }],
  },
  schedule: {
    steps: [{ schedule: { id: 'hourly', cron: '0 * * * *', to: orders, body: { a: 1 } } }, { advance: '2h' }],
    expect: [
      { schedule: { scheduleId: 'hourly', next: '2030-01-01T12:00:00Z' } },
      { delivered: { scheduleId: 'hourly', body: { a: 1 }, times: 2 } },
    ],
  },
  fireSchedule: {
    given: { schedules: [{ id: 'yearly', cron: '0 0 1 1 *', to: orders }] },
    steps: [{ fireSchedule: 'yearly' }, { advance: 1 }],
    expect: [{ delivered: { scheduleId: 'yearly', deliveredAt: at } }],
  },
  pauseSchedule: {
    given: { schedules: [{ id: 'hourly', cron: '0 * * * *', to: orders }] },
    steps: [{ pauseSchedule: 'hourly' }, { advance: '5h' }],
    expect: [{ schedule: { scheduleId: 'hourly', paused: true } }, { reached: { url: orders, times: 0 } }],
  },
  resumeSchedule: {
    given: { schedules: [{ id: 'hourly', cron: '0 * * * *', to: orders, paused: true }] },
    steps: [{ advance: '150m' }, { resumeSchedule: 'hourly' }, { advance: '1h' }],
    expect: [{ reached: { url: orders, times: 1 } }],
  },
  deleteSchedule: {
    given: { schedules: [{ id: 'hourly', cron: '0 * * * *', to: orders }] },
    steps: [{ advance: '1h' }, { deleteSchedule: 'hourly' }, { advance: '5h' }],
    expect: [{ schedule: { times: 0 } }, { reached: { url: orders, times: 1 } }],
  },
  pauseFlowControl: {
    given: { flowControl: { key: { parallelism: 1 } } },
    steps: [{ pauseFlowControl: 'key' }, { publish: { to: orders, flowControlKey: 'key' } }, { advance: '1d' }],
    expect: [{ pending: 1 }],
  },
  resumeFlowControl: {
    given: { flowControl: { key: { paused: true } } },
    steps: [
      { publish: { to: orders, as: 'order', flowControlKey: 'key' } },
      { advance: '1h' },
      { resumeFlowControl: 'key' },
      drain,
    ],
    expect: [{ delivered: { message: 'order', deliveredAt: '2030-01-01T10:00:00Z' } }],
  },
  pinFlowControl: {
    steps: [
      { pinFlowControl: { key: 'key', rate: 1, period: '10s' } },
      { publish: { to: orders, times: 3, flowControlKey: 'key', flowControlValue: 'rate=100' } },
      drain,
    ],
    expect: [{ time: '2030-01-01T09:00:20Z' }],
  },
  addEndpoints: {
    destinations: [{ url: 'https://a.test/hook' }, { url: 'https://b.test/hook' }],
    steps: [
      {
        addEndpoints: {
          name: 'fleet',
          endpoints: ['https://a.test/hook', { url: 'https://b.test/hook', name: 'bee' }],
        },
      },
      { publish: { to: 'fleet', as: 'both' } },
      drain,
    ],
    expect: [
      { delivered: { message: 'both', urlGroup: 'fleet', times: 2 } },
      { delivered: { endpointName: 'bee', times: 1 } },
    ],
  },
  deleteUrlGroup: {
    given: { urlGroups: { fleet: [orders] } },
    steps: [{ deleteUrlGroup: 'fleet' }, { request: { service: 'queue', path: '/v2/topics/fleet', status: 404 } }],
  },
  rotateSigningKeys: {
    given: { signingKeys: { current: 'sig_a', next: 'sig_b' } },
    steps: [
      { rotateSigningKeys: true },
      { request: { service: 'queue', path: '/v2/keys', response: { current: 'sig_b' } } },
    ],
  },
  resetPassword: {
    steps: [
      { resetPassword: true },
      { request: { service: 'store', path: '/ping', status: 200 } },
      { request: { service: 'store', path: '/ping', token: 'none', status: 401 } },
    ],
  },
  addFaults: {
    steps: [{ addFaults: { on: 'queue.delivery', until: '5s', fault: fault.status(503) } }, order, drain],
    expect: [
      { delivered: { message: 'order', attempts: [503, 200] } },
      {
        sequence: [
          { type: 'fault', point: 'queue.delivery' },
          { type: 'attempt', status: 200 },
        ],
      },
    ],
  },
  removeFaults: {
    faults: [{ name: 'outage', on: 'queue.delivery', fault: fault.status(503) }],
    steps: [order, { advance: '1s' }, { removeFaults: 'outage' }, drain],
    expect: [{ delivered: { message: 'order', attempts: [503, 200] } }],
  },
  expect: { steps: [order, { expect: [{ pending: 1 }, { time: at }] }, drain, { expect: { pending: 0 } }] },
}

describe('every step runs', () => {
  test.each(stepNames)('%s', async (name) => {
    const scenario = defineScenario({ ...base, ...stepStories[name] })
    expect(scenario.steps!.some((step) => name in step)).toBe(true)
    const play = await playScenario(scenario)
    expect(play.verdict()).toMatch(/\nHolds: /)
  })

  /** Steps that only a response shows, or that later steps need. */
  const withoutTrace = ['publish', 'request', 'schedule', 'upsertQueue', 'addEndpoints', 'resetPassword', 'expect']
  test.each(stepNames.filter((name) => !withoutTrace.includes(name)))(
    'without %s the scenario ends differently',
    async (name) => {
      const story = stepStories[name]
      const steps = story.steps!.filter((step) => !(name in step))
      expect((await playScenario({ ...base, ...story, steps })).holds).toBe(false)
    },
  )
})

/** For each expectation, one that holds and one that does not, in one sandbox. */
const expectationStories: Readonly<Record<ExpectationName, readonly [holds: unknown, fails: unknown, why: RegExp]>> = {
  sequence: [
    [
      { type: 'published', message: 'order' },
      { type: 'attempt', status: 500 },
      { type: 'attempt', to: 'https://shop.test/*', status: 200 },
    ],
    [
      { type: 'attempt', status: 200 },
      { type: 'attempt', status: 500 },
    ],
    /matches step 2 of 2/,
  ],
  published: [{ message: 'order', retries: 1 }, { to: 'https://other.test/*' }, /Expected a published message/],
  delivered: [
    { message: 'order', attempts: [500, 200] },
    { message: 'order', times: 2 },
    /Expected exactly 2 messages|found 1/,
  ],
  recorded: [
    { message: 'lost', attempts: [404], state: 'FAILED' },
    { message: 'order', attempts: [500, 500], state: 'FAILED' },
    /attempts/,
  ],
  deadLetter: [{ message: 'lost', status: 404 }, { message: 'order' }, /Expected a dead letter/],
  deliveredCallback: [
    { to: 'https://shop.test/failed', kind: 'failure-callback', status: 404 },
    { times: 0 },
    /found 1/,
  ],
  schedule: [{ scheduleId: 'hourly' }, { scheduleId: 'daily' }, /hourly/],
  receivedRequest: [{ service: 'queue', status: 200 }, { status: 500 }, /Expected a/],
  outboundRequest: [
    { url: 'https://bank.test/*', method: 'POST', body: { cents: 5 }, status: 201, times: 1 },
    { url: 'https://bank.test/refunds' },
    /Expected an outbound request/,
  ],
  reached: [{ url: 'https://shop.test/*', times: 4 }, { url: orders, times: 1 }, /The actual number is 2\./],
  executed: [{ argv: ['INCR', 'n'], times: 1 }, { argv: ['INCR', 'n'], times: 0 }, /found 1/],
  key: [{ name: 'n', value: '1' }, { name: 'n', absent: true }, /n/],
  deadLetters: [1, 0, /The actual number is 1\./],
  pending: [1, 0, /The actual number is 1\./],
  idle: [undefined, true, /Pending timers/],
  time: ['2030-01-01T09:00:12Z', '2030-01-01T09:00:13Z', /The clock shows 2030-01-01T09:00:12\.000Z/],
  invariants: [['no-lost-message'], undefined, /x/],
}

describe('every expectation', () => {
  const world: Scenario = {
    ...base,
    given: { schedules: [{ id: 'hourly', cron: '0 * * * *', to: orders }] },
    destinations: [
      { url: orders, script: [fault.status(500)] },
      { url: 'https://shop.test/lost', response: { status: 404 } },
      { url: 'https://shop.test/failed' },
    ],
    outbound: [{ url: 'POST https://bank.test/charges', response: { status: 201 } }],
    steps: [
      order,
      {
        publish: { to: 'https://shop.test/lost', as: 'lost', retries: 0, failureCallback: 'https://shop.test/failed' },
      },
      { request: { service: 'store', path: '/incr/n' } },
      { request: { service: 'queue', path: '/v2/keys' } },
      { advance: '12s' },
      { publish: { to: orders, delay: '1h' } },
    ],
  }

  /** The app sends one request to its bank. */
  const setup = async ({ outbound }: Sandbox): Promise<void> => {
    await outbound.fetch('https://bank.test/charges', { method: 'POST', body: '{"cents":5}' })
  }

  test.each(expectationNames)('%s', async (name) => {
    const [right, wrong, why] = expectationStories[name]
    if (right !== undefined) {
      const play = await playScenario(defineScenario({ ...world, expect: [{ [name]: right } as never] }), { setup })
      expect(play.verdict()).toMatch(/\nHolds: /)
    }
    if (wrong !== undefined) {
      const play = await playScenario(defineScenario({ ...world, expect: [{ [name]: wrong } as never] }), { setup })
      expect(play.holds).toBe(false)
      expect(play.checks.filter(({ holds }) => !holds)).toHaveLength(1)
      expect(play.verdict()).toMatch(why)
    }
  })
})

describe('playScenario()', () => {
  test('stops at the first step that fails, and still evaluates the expectations', async () => {
    const play = await playScenario({
      ...base,
      steps: [
        { publish: { to: orders, delay: '1d', flowControlKey: 'k', flowControlValue: 'much' } },
        { command: ['SET', 'k', 'v'] },
      ],
      expect: [{ key: { name: 'k' } }],
    })
    expect(play.checks.map(({ path: place, holds }) => [place, holds])).toEqual([
      ['steps[0].publish', false],
      ['expect[0].key', false],
    ])
    expect(play.verdict()).toContain('step 1, publish, succeeds')
  })

  test.each([
    [
      'a delivery that nobody answers',
      { destinations: [] as never[], steps: [order, drain] },
      /No destination responds at/,
    ],
    [
      'a script that is not played to its end',
      {
        destinations: [{ url: orders, script: [fault.status(500), fault.lostAck(), fault.hang()] }],
        steps: [order, drain],
      },
      /steps that no delivery used: hang/,
    ],
    [
      'a fault that never strikes',
      {
        faults: [{ on: 'queue.delivery' as const, match: { url: 'https://other.test/*' }, fault: fault.status(500) }],
        steps: [order, drain],
      },
      /on queue\.delivery \(faults\[0\]\) was never injected/,
    ],
  ])('does not hold for %s, unless strict is false', async (_, part, why) => {
    const play = await playScenario({ ...base, ...part })
    expect(play.holds).toBe(false)
    expect(play.verdict()).toMatch(why)
    expect((await playScenario({ ...base, ...part }, { strict: false })).holds).toBe(true)
  })

  test.each([
    ['a script that meets every delivery', { script: [500, 200] }, {}, 'the script responded to 2 deliveries to '],
    ['one that hands the last delivery on', { script: [500, { kind: 'pass' }] }, {}, undefined],
    ['one that ends before', { script: [500] }, {}, undefined],
    ['a rule of faults', { script: [] }, { faults: [{ on: 'queue.delivery', fault: { kind: 'drop' } }] }, undefined],
  ] as const)('notes whether %s shadows a handler of setup', async (_, destination, more, told) => {
    const orders = 'https://shop.test/orders'
    const shadowing = {
      ...{ name: 'shadow', ...more },
      destinations: [{ url: orders, ...destination }],
      steps: [{ publish: { to: orders } }, { drain: true }],
    }
    const play = await playScenario(shadowing as never, {
      setup: ({ destinations }) => void destinations.on(orders, () => new Response()),
    })
    expect(play.holds).toBe(true)
    // It is only a note, so it is not counted.
    expect(play.checks).toEqual([])
    expect(play.verdict()).toContain('Holds: 0 of 0.')
    const said = play.verdict()
    if (told === undefined) expect(said).not.toContain('destinations[0].script')
    else expect(said).toContain(`destinations[0].script: ${told}${orders}`)
    expect((await playScenario(shadowing as never)).verdict()).not.toContain('destinations[0].script')
  })

  test.each([
    ['that meets every call', [500, 201], {}, 'the script responded to 2 requests POST '],
    ['that hands the last call on', [500, { kind: 'pass' }], {}, undefined],
    ['that ends before', [500], {}, undefined],
    ['that nothing meets', [500, 500, 500], { steps: [] }, undefined],
    [
      'that a rule of faults comes before',
      [500],
      { faults: [{ on: 'outbound.request', fault: { kind: 'reset' } }] },
      undefined,
    ],
  ] as const)('notes whether a script %s shadows a host of setup', async (_, script, more, told) => {
    const bank = 'https://bank.test/charges'
    const orders = 'https://shop.test/orders'
    const shadowing = {
      name: 'shadow',
      outbound: [
        { url: `POST ${bank}`, script },
        { url: 'https://mail.test/*', response: { status: 202 } },
      ],
      steps: [{ publish: { to: orders } }, { drain: true }],
      ...more,
    }
    const app = ({ destinations, outbound }: Sandbox): void => {
      destinations.on(orders, async () => {
        const answer = await outbound.fetch(bank, { method: 'POST' }).catch(() => undefined)
        return new Response(null, { status: answer?.ok ? 200 : 500 })
      })
    }
    const place = 'outbound[0].script'
    const play = await playScenario(shadowing as never, {
      strict: false,
      setup: (sandbox) => {
        app(sandbox)
        sandbox.outbound.on(`POST ${bank}`, () => new Response(null, { status: 201 }))
      },
    })
    expect(play.checks).toEqual([])
    if (told === undefined) expect(play.verdict()).not.toContain(place)
    else expect(play.verdict()).toContain(`${place}: ${told}${bank}`)
    // The scenario's own hosts are not registered by setup.
    const alone = await playScenario(shadowing as never, { strict: false, setup: app })
    expect(alone.verdict()).not.toContain(place)
  })

  test('stops a scenario that never becomes idle at the limit of timers', async () => {
    const loop = 'https://loop.test/again'
    const play = await playScenario(
      { ...base, destinations: [], steps: [{ publish: { to: loop } }, { drain: { maxTimers: 200 } }] },
      {
        setup: ({ destinations, queue }) =>
          void destinations.respond(loop, () => {
            queue.publish({ to: loop, delay: '1s' })
            return 200
          }),
      },
    )
    expect(play.holds).toBe(false)
    expect(play.checks[0]).toMatchObject({ path: 'steps[1].drain', holds: false })
    expect(play.verdict()).toContain('200')
  })

  test.each([
    ['a slow answer', { on: 'store.request', fault: { kind: 'latency', waitMs: 90_000 } }, 200, '2030-01-01T09:01:30Z'],
    [
      'an answer that hangs for a while',
      { on: 'store.request', fault: { kind: 'hang', forMs: 5000 } },
      0,
      '2030-01-01T09:00:05Z',
    ],
    ['a broken connection', { on: 'store.request', fault: { kind: 'reset' } }, 0, at],
  ] as const)('waits in virtual time for %s in a request step', async (_, rule, status, time) => {
    const play = await playScenario({
      ...base,
      faults: [rule],
      steps: [{ request: { service: 'store', path: '/ping', status } }],
      expect: [{ time }],
    })
    expect(play.verdict()).toMatch(/\nHolds: /)
  })

  test('reports a request that never gets a response, although schedules continue', async () => {
    const play = await playScenario({
      ...base,
      given: { schedules: [{ id: 'often', cron: '*/5 * * * *', to: orders }] },
      faults: [{ on: 'store.request', fault: { kind: 'hang' } }],
      steps: [{ request: { service: 'store', path: '/ping' } }, { command: ['SET', 'k', 'v'] }],
      expect: [{ key: { name: 'k' } }],
    })
    expect(play.holds).toBe(false)
    expect(play.verdict()).toContain('GET /ping got no response')
    expect(play.verdict()).toContain('✓ expect[0].key')
  })

  test('creates the whole initial state before it calls setup', async () => {
    let seen: unknown
    const dump = createSandbox()
    dump.store.run('RPUSH', 'list', 'a', 'b')
    await playScenario(
      {
        ...base,
        dialect: 'upstash',
        policy: { retries: 1 },
        given: {
          store: dump.store.dump(),
          commands: [['INCR', 'n']],
          urlGroups: { fleet: [orders] },
          queues: { line: { parallelism: 3, paused: true } },
          flowControl: { key: { rate: 5, period: '1m', paused: true } },
          signingKeys: { current: 'sig_a', next: 'sig_b' },
        },
        steps: [{ advance: 0 }],
      },
      {
        setup: ({ store, queue, dialect, policy, clock }) => {
          const { urlGroups, lanes, flow } = engineOf(queue)
          seen = {
            list: store.run('LRANGE', 'list', 0, -1),
            n: store.get('n'),
            group: urlGroups.get('fleet')?.endpoints.map(({ url }) => url),
            line: [lanes.get('line')?.parallelism, lanes.get('line')?.paused],
            key: [flow.keys.get('key')?.rateMax, flow.keys.get('key')?.ratePeriod, flow.keys.get('key')?.paused],
            signing: queue.signingKeys.pair(),
            words: dialect.headerPrefix,
            retries: policy.retries,
            now: clock.now(),
          }
        },
      },
    )
    expect(seen).toEqual({
      list: ['a', 'b'],
      n: '1',
      group: [orders],
      line: [3, true],
      key: [5, 60, true],
      signing: { current: 'sig_a', next: 'sig_b' },
      words: 'Upstash-',
      retries: 1,
      now: Date.parse(at),
    })
  })

  test('draws random decisions from the seed', async () => {
    const dice: Scenario = {
      ...base,
      steps: [{ publish: { to: orders, as: 'order', times: 20, retries: 0 } }, drain],
      faults: [{ on: 'queue.delivery', chance: [1, 2], fault: fault.status(500) }],
    }
    const outcomes = async (seed: number): Promise<unknown> =>
      (await playScenario(dice, { seed })).sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)
    expect(await outcomes(3)).toEqual(await outcomes(3))
    expect(await outcomes(3)).not.toEqual(await outcomes(4))
  })
})

describe('sandbox.faults.add(scenario)', () => {
  test('adds the fault rules and removes them again', async () => {
    using sandbox = createSandbox()
    const { destinations, queue, clock, faults } = sandbox
    destinations.respond(orders, 200)
    {
      using _weather = sandbox.faults.add(scenarios.lostAcknowledgements.faults)
      queue.publish({ to: orders, retries: 1 })
      await clock.drain()
      expect(faults.unused).toEqual([])
    }
    expect(faults.rules).toEqual([])
    queue.publish({ to: orders, retries: 1 })
    await clock.drain()
    expect(sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([0, 200, 200])
    // Steps, destinations and the initial state are only for playScenario().
    expect(sandbox.traffic.ofType('published').filter(({ kind }) => kind === 'message')).toHaveLength(2)
  })

  test('names the line of a fault that was never injected', () => {
    using sandbox = createSandbox()
    sandbox.faults.add(scenarios.lostAcknowledgements.faults)
    expect(sandbox.faults.unused[0]!.message).toContain('play-scenario.test.ts')
  })

  test('rejects a scenario without faults and names the next step', () => {
    using sandbox = createSandbox()
    const calm: Scenario = { name: 'calm', steps: [drain] }
    expect(() => sandbox.faults.add(calm.faults)).toThrow('play it with playScenario')
  })
})

describe('defineScenario()', () => {
  test('returns plain data that JSON preserves', () => {
    const scenario = defineScenario('two', [
      { on: 'queue.delivery', fault: fault.hang('3s') },
      { on: 'store.request', fault: fault.status(500) },
    ])
    expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario)
    expect(scenario).toEqual({
      name: 'two',
      faults: [
        { on: 'queue.delivery', fault: fault.hang('3s') },
        { on: 'store.request', fault: fault.status(500) },
      ],
    })
    expect(defineScenario('one', { on: 'queue.delivery', fault: fault.hang() }).faults).toHaveLength(1)
  })

  test.each([
    [
      'a function that was not called',
      () => defineScenario('a', [{ on: 'queue.delivery', fault: fault.hang as never }]),
      /faults\.0\.fault is a function\. Call it/,
    ],
    ['a bigint', () => defineScenario({ name: 'a', steps: [{ command: ['SET', 'k', 1n as never] }] }), /is a bigint/],
    [
      'a mistake',
      () => defineScenario({ name: 'a', steps: [{ publish: { to: orders, retrys: 1 } as never }] }),
      /steps\[0\]\.publish\.retrys: there is no "retrys"\. Did you mean "retries"\?/,
    ],
    ['no rules', () => defineScenario('a', []), /must not be empty\. Add faults/],
  ])('rejects %s', (_, define, why) => {
    expect(define).toThrow(TypeError)
    expect(define).toThrow(why)
  })

  test('rejects a value that contains itself', () => {
    const body: Record<string, unknown> = {}
    body.self = body
    expect(() => defineScenario({ name: 'a', steps: [{ publish: { to: orders, body } }] })).toThrow(
      'nested deeper than 100 levels',
    )
  })
})
