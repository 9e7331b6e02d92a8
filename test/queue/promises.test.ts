import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import type { AttemptEntry, EntryBase } from '../../src/kernel/traffic-log.js'
import type { Step } from '../../src/queue/destinations/delivery-script.js'
import { runs } from '../support/effort.js'
import { type World, world } from './world.js'

// Random programs of publishes, pauses, cancels, clock moves and outcomes satisfy queue.md 4.2, 5.3, 5.4, 6.1 and 6.2,
// and are replayed byte for byte with their seed.

const hosts = ['https://a.test/', 'https://b.test/', 'https://c.test/']
const callback = 'https://callback.test/'
const failureCallback = 'https://failure.test/'

const outcome: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(fault.pass()) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      fault.status(500),
      fault.status(404),
      fault.status(302),
      fault.reset(),
      fault.badCertificate(),
    ),
  },
  fc.constantFrom(
    fault.hang(),
    fault.lostAck(),
    fault.lateResponse('2s'),
    fault.nonRetryable(),
    fault.status(429, { retryAfter: '3s' }),
    fault.status(429, { retryAfter: '0s' }),
  ),
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }).map((seconds) => fault.delay(seconds * 1000)) },
)

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      to: fc.nat(2),
      queue: fc.option(fc.constantFrom('q1', 'q2'), { nil: undefined }),
      key: fc.constantFrom('k1', 'k1', 'k2', 'k2', undefined),
      times: fc.constantFrom(1, 1, 2, 4),
      retries: fc.nat(3),
      delay: fc.constantFrom('0s', '0s', '1s', '10s', '1h'),
      callback: fc.boolean(),
      failureCallback: fc.boolean(),
      duplicate: fc.constantFrom('d1', 'd2', undefined, undefined, undefined, undefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      by: fc.constantFrom(0, 500, 1000, 7000, 9500, 60_000, 3_600_000),
    }),
  },
  fc.record({ do: fc.constant('cancel' as const), at: fc.nat(30) }),
  fc.record({ do: fc.constant('release' as const), at: fc.nat(30) }),
  fc.record({ do: fc.constant('pause queue' as const), name: fc.constantFrom('q1', 'q2'), on: fc.boolean() }),
  fc.record({ do: fc.constant('pause key' as const), name: fc.constantFrom('k1', 'k2'), on: fc.boolean() }),
)

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

/** Limits of the two keys, which are fixed so that every window can be checked afterwards. */
const limits = {
  k1: { parallelism: 2, value: 'parallelism=2' },
  k2: { rate: 2, period: 10, value: 'rate=2,period=10s' },
} as const
const parallelism = { q1: 1, q2: 2 } as const

async function run(commands: readonly Command[], outcomes: readonly Step[]): Promise<World> {
  const at = world({ seed: 3 })
  for (const url of hosts) at.destinations.respond(url, 200)
  at.destinations.respond(callback, 200)
  at.destinations.respond(failureCallback, 200)
  at.destinations.script('https://*.test/', outcomes)
  await at.send('POST', '/v2/queues', { body: { queueName: 'q2', parallelism: parallelism.q2 } })
  const ids: string[] = []
  for (const step of commands) {
    if (step.do === 'publish') {
      const path = step.queue ? `/v2/enqueue/${step.queue}/${hosts[step.to]}` : `/v2/publish/${hosts[step.to]}`
      const headers: Record<string, string> = {
        'Service-Retries': String(step.retries),
        'Service-Delay': step.delay,
        'Service-Timeout': '30s',
      }
      if (step.key)
        Object.assign(headers, {
          'Service-Flow-Control-Key': step.key,
          'Service-Flow-Control-Value': limits[step.key as 'k1'].value,
        })
      if (step.callback) headers['Service-Callback'] = callback
      if (step.failureCallback) headers['Service-Failure-Callback'] = failureCallback
      if (step.duplicate) headers['Service-Deduplication-Id'] = step.duplicate
      for (let n = 0; n < step.times; n++)
        ids.push((await at.send('POST', path, { headers, body: String(ids.length) })).json.messageId)
    } else if (step.do === 'advance') await at.clock.advance(step.by)
    else if (step.do === 'cancel') await at.send('DELETE', `/v2/messages/${ids[step.at] ?? 'msg_none'}`)
    else if (step.do === 'release') await at.send('POST', `/v2/messages/${ids[step.at] ?? 'msg_none'}/retry`)
    else if (step.do === 'pause queue') await at.send('POST', `/v2/queues/${step.name}/${step.on ? 'pause' : 'resume'}`)
    else await at.send('POST', `/v2/flowControl/${step.name}/${step.on ? 'pause' : 'resume'}`)
  }
  for (const name of ['q1', 'q2']) await at.send('POST', `/v2/queues/${name}/resume`)
  for (const name of ['k1', 'k2']) await at.send('POST', `/v2/flowControl/${name}/resume`)
  await at.clock.drain()
  return at
}

type Attempt = EntryBase & AttemptEntry

function promises(at: World): void {
  const published = at.traffic.ofType('published').filter((entry) => !entry.deduplicated)
  const attempts = at.traffic.ofType('attempt')
  const byMessage = new Map<string, Attempt[]>(published.map(({ messageId }) => [messageId, []]))
  for (const attempt of attempts) byMessage.get(attempt.messageId)!.push(attempt)
  const letters = at.traffic.ofType('dead-letter')
  const canceled = new Set(
    at.traffic
      .ofType('message')
      .filter(({ state }) => state === 'CANCELLED')
      .map(({ messageId }) => messageId),
  )
  const requested = new Set(
    at.traffic
      .ofType('message')
      .filter(({ state }) => state === 'CANCEL_REQUESTED')
      .map(({ messageId }) => messageId),
  )

  // Every message has ended.
  expect(at.queue.messages).toEqual([])
  expect(at.clock.pending).toEqual([])
  for (const message of published) {
    const own = byMessage.get(message.messageId)!
    const states = own.map((attempt) => attempt.outcome!.state)
    const dead = letters.filter((letter) => letter.messageId === message.messageId)
    const delivered = states.filter((state) => state === 'DELIVERED').length
    expect(delivered + dead.length + (canceled.has(message.messageId) ? 1 : 0)).toBe(1)
    // There is no attempt after a success or after the end of a canceled message, and the numbers count up to the
    // retries.
    expect(states.indexOf('DELIVERED')).toBe(delivered === 1 ? states.length - 1 : -1)
    expect(own.map((attempt) => attempt.retried)).toEqual(own.map((_, index) => index))
    expect(own.length).toBeLessThanOrEqual(message.maxRetries + 1)
    // Attempts of one message do not overlap, and none is early.
    for (const [index, attempt] of own.entries()) {
      if (index > 0) expect(attempt.at).toBeGreaterThanOrEqual(own[index - 1]!.outcome!.at)
      const due = index === 0 ? message.notBefore : own[index - 1]!.outcome!.next!.at
      if (!attempt.reason.includes('on request')) expect(attempt.at).toBeGreaterThanOrEqual(due)
    }
    // There is one callback per attempt and one failure callback per dead letter, and none after a cancel was
    // requested.
    const reports = published.filter((entry) => entry.sourceMessageId === message.messageId)
    if (!requested.has(message.messageId)) {
      expect(reports.filter(({ kind }) => kind === 'callback')).toHaveLength(message.callback ? own.length : 0)
      expect(reports.filter(({ kind }) => kind === 'failure-callback')).toHaveLength(
        message.failureCallback ? dead.length : 0,
      )
    }
  }
  bounds(at, byMessage)
  fifo(at, byMessage)
}

/** Checks parallelism and rate of each key in every window. */
function bounds(at: World, byMessage: ReadonlyMap<string, readonly Attempt[]>): void {
  const callsOf = (key: string) =>
    at.traffic
      .ofType('published')
      .filter((entry) => !entry.deduplicated && entry.flowControlKey === key)
      .flatMap(({ messageId }) => byMessage.get(messageId)!)
      .sort((a, b) => a.seq - b.seq)
  const k1 = callsOf('k1')
  for (const call of k1) {
    const inFlight = k1.filter((other) => other.seq <= call.seq && other.outcome!.at > call.at)
    expect(inFlight.length).toBeLessThanOrEqual(limits.k1.parallelism)
  }
  // Windows are fixed, and each begins with the first call after the previous one.
  let windowStart = Number.NEGATIVE_INFINITY
  let inWindow = 0
  for (const call of callsOf('k2')) {
    if (call.at >= windowStart + limits.k2.period * 1000) {
      windowStart = call.at
      inWindow = 0
    }
    expect(++inWindow).toBeLessThanOrEqual(limits.k2.rate)
  }
}

/** Checks that each queue starts messages in the order of arrival, with no more slots in use than its parallelism. */
function fifo(at: World, byMessage: ReadonlyMap<string, readonly Attempt[]>): void {
  for (const name of ['q1', 'q2'] as const) {
    const inQueue = at.traffic.ofType('published').filter((entry) => !entry.deduplicated && entry.queue === name)
    const started = inQueue.filter(({ messageId }) => byMessage.get(messageId)!.length > 0)
    if (name === 'q1' && inQueue.every(({ flowControlKey }) => flowControlKey === undefined)) {
      const firsts = started.map(({ messageId }) => byMessage.get(messageId)![0]!.seq)
      expect(firsts).toEqual([...firsts].sort((a, b) => a - b))
    }
    const spans = started.map(({ messageId }) => {
      const own = byMessage.get(messageId)!
      return [own[0]!.at, own.at(-1)!.outcome!.at] as const
    })
    for (const [begin] of spans) {
      expect(spans.filter(([from, to]) => from < begin && to > begin).length).toBeLessThan(parallelism[name])
    }
  }
}

describe('random programs of the queue', () => {
  test('violate no documented rule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 1, maxLength: 40 }),
        fc.array(outcome, { maxLength: 40 }),
        async (commands, outcomes) => {
          promises(await run(commands, outcomes))
        },
      ),
      { numRuns: runs(300, 300, 3000) },
    )
  })

  test('give the same traffic when they run twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: 30 }),
        fc.array(outcome, { maxLength: 20 }),
        async (commands, outcomes) => {
          const [first, second] = [await run(commands, outcomes), await run(commands, outcomes)]
          expect(JSON.stringify(first.traffic.entries)).toBe(JSON.stringify(second.traffic.entries))
        },
      ),
      { numRuns: runs(20, 20, 200) },
    )
  })
})
