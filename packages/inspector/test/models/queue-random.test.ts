import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../../../src/queue/queue-internals.js'
import { acts, answers, perform, policies, worldOf } from '../../../../test/queue/forecast-world.js'
import { runs } from '../../../../test/support/effort.js'
import { isLive, type QueueAt, QueueModel, reasonOf } from '../../src/models/queue-model.js'
import type { StoreInstant } from '../../src/models/store-model.js'

// The model must equal the queue engine, which is queried at each instant.

function pointOf({ traffic, clock }: Sandbox): StoreInstant {
  return { seq: traffic.mark() as unknown as number, at: clock.now() }
}

/** The state of the engine, in the form of the model. */
function told({ queue }: Sandbox): object {
  const { lanes, flow, schedules, courier } = engineOf(queue)
  return {
    messages: queue.messages.map(({ id, state, retried }) => ({ id, state, retried })).sort(byId),
    ended: [...courier.byId.values()]
      .filter(({ visible }) => !visible)
      .map(({ id, state, isEnded: ended }) => ({ id, state: ended ? state : 'CANCEL_REQUESTED' }))
      .sort(byId),
    lanes: lanes
      .list()
      .map(({ name, parallelism, paused, lag }) => ({ name, parallelism, paused, lag }))
      .filter(isTold)
      .sort(byName),
    keys: [...flow.keys.values()]
      .map(({ key: name, paused, parallelismMax, rateMax }) => ({ name, paused, parallelismMax, rateMax }))
      .sort(byName),
    schedules: schedules
      .list()
      .map(({ id, paused, lastTime }) => ({ id, paused, lastTime }))
      .sort(byId),
  }
}

function modelled({ messages, lanes, flowKeys, schedules }: QueueAt): object {
  return {
    messages: messages
      .filter(isLive)
      .map(({ id, state, retried }) => ({ id, state, retried }))
      .sort(byId),
    ended: messages
      .filter((message) => !isLive(message))
      .map(({ id, state }) => ({ id, state }))
      .sort(byId),
    lanes: lanes
      .map(({ name, parallelism, paused, messages }) => ({ name, parallelism, paused, lag: messages.length }))
      .filter(isTold)
      .sort(byName),
    keys: flowKeys
      .map(({ name, paused, parallelism, rate }) => ({ name, paused, parallelismMax: parallelism, rateMax: rate }))
      .sort(byName),
    schedules: schedules.map(({ id, paused, fired }) => ({ id, paused, lastTime: fired.at(-1) })).sort(byId),
  }
}

/** A queue that only a schedule has named leaves no entry. */
const isTold = (lane: { paused: boolean; parallelism: number; lag: number }): boolean =>
  lane.paused || lane.parallelism > 1 || lane.lag > 0

const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1)
const byName = (one: { name: string }, other: { name: string }): number => (one.name < other.name ? -1 : 1)

function modelOf({ traffic }: Sandbox): QueueModel {
  const model = new QueueModel()
  model.add(traffic.toTrace().entries)
  return model
}

describe('the queue model', () => {
  test('equals the engine at every instant, in random sandboxes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answers, { minLength: 1, maxLength: 6 }),
        fc.array(acts, { minLength: 1, maxLength: 14 }),
        policies,
        fc.nat(1000),
        async (script, story, policy, seed) => {
          const sandbox = worldOf(script, policy, seed)
          const taken: { readonly point: StoreInstant; readonly engine: object; readonly waiting: unknown }[] = []
          const take = (): void => {
            const waiting = [...engineOf(sandbox.queue).flow.keys.values()].map(({ key, waitListSize }) => [
              key,
              waitListSize,
            ])
            taken.push({ point: pointOf(sandbox), engine: told(sandbox), waiting })
          }
          for (const act of story) {
            await perform(act, sandbox)
            take()
          }
          await sandbox.clock.advance('20s')
          take()
          const model = modelOf(sandbox)
          for (const { point, engine, waiting } of taken.toReversed()) {
            const state = model.at(point)
            expect(modelled(state)).toEqual(engine)
            expect(state.flowKeys.map(({ name, held }) => [name, held.length]).sort()).toEqual(
              (waiting as never[]).sort(),
            )
          }
        },
      ),
      { numRuns: runs(150, 150, 1500) },
    )
  })

  test('gives the same result for entries one by one, with updates, as for all together', async () => {
    const sandbox = worldOf(
      [
        { status: 500, seconds: 3 },
        { status: 200, seconds: 1 },
      ],
      {},
      7,
    )
    const live = new QueueModel()
    sandbox.traffic.subscribe((entry) =>
      live.add([structuredClone(sandbox.traffic.toTrace().entries.find(({ seq }) => seq === entry.seq)!)]),
    )
    for (let n = 0; n < 3; n++)
      sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 1, retryDelay: '1000' })
    for (let n = 0; n < 6; n++) {
      await sandbox.clock.advance('1s')
      expect(modelled(live.at(pointOf(sandbox)))).toEqual(told(sandbox))
    }
  })
})

describe('dead letters of the queue model', () => {
  test('exist until a request removes them', async () => {
    const sandbox = worldOf([{ status: 500, seconds: 0 }], {}, 3)
    const { queue, clock, urls, tokens } = sandbox
    for (let n = 0; n < 12; n++) queue.publish({ to: 'https://shop.test/orders', retries: 0 })
    await clock.advance('1s')
    const ask = (method: string, path: string) =>
      sandbox.fetch(`${urls.queue}${path}`, { method, headers: { authorization: `Bearer ${tokens.queue}` } })
    const ids = queue.deadLetters.map(({ id }) => id)
    expect((await ask('POST', `/v2/dlq/retry/${ids[1]}`)).status).toBe(201)
    expect((await ask('DELETE', `/v2/dlq/${ids[3]}`)).status).toBe(200)
    expect((await ask('DELETE', `/v2/dlq?dlqIds=${ids[5]}&dlqIds=${ids[6]}`)).status).toBe(200)
    expect((await ask('POST', '/v2/dlq/retry/0-0')).status).toBe(404)
    await clock.advance('0s')
    const { deadLetters } = modelOf(sandbox).at(pointOf(sandbox))
    const there = deadLetters.filter(({ takenBy }) => takenBy === undefined).map(({ id }) => id)
    expect(there).toEqual(queue.deadLetters.map(({ id }) => id))
  })

  test('are removed by a reset of the queue, with everything else', () => {
    const sandbox = createSandbox()
    sandbox.queue.publish({ to: 'https://shop.test/orders' })
    const before = pointOf(sandbox)
    sandbox.queue.reset()
    const model = modelOf(sandbox)
    expect(model.at(before).messages).toHaveLength(1)
    expect(model.at(pointOf(sandbox)).messages).toEqual([])
  })
})

test('reasonOf() returns why a message waits, and until when', async () => {
  const sandbox = worldOf([{ status: 503, seconds: 0 }], {}, 3)
  const { queue, clock } = sandbox
  const start = clock.now()
  const delayed = queue.publish({ to: 'https://shop.test/a', delay: '5m' })
  const failing = queue.publish({ to: 'https://shop.test/b', retries: 2, retryDelay: '7000' })
  const limits = { flowControlKey: 'a', flowControlValue: 'rate=1, period=1h' }
  const [, held] = [1, 2].map(() => queue.publish({ to: 'https://shop.test/c', ...limits }))
  queue.pauseQueue('orders')
  const paused = queue.publish({ to: 'https://shop.test/d', queue: 'orders' })
  await clock.advance('1s')
  const state = modelOf(sandbox).at(pointOf(sandbox))
  const byIds = new Map(state.messages.map((message) => [message.id, message]))
  expect(byIds.get(delayed.id)).toMatchObject({ state: 'CREATED', due: start + 300_000, why: 'its delay' })
  expect(byIds.get(failing.id)).toMatchObject({ state: 'RETRY', due: start + 7000 })
  expect(byIds.get(failing.id)?.why).toContain('503')
  expect(byIds.get(held!.id)?.why).toContain('flow-control key a: rate 1 of 1')
  expect(reasonOf(byIds.get(paused.id)!, state, clock.now())).toBe('queue orders is paused')
})

test('the queue model opens any instant of 100,000 entries immediately', () => {
  const entries = Array.from({ length: 50_000 }, (_, n) => {
    const of = { messageId: `msg_${n}`, kind: 'message', url: `https://shop.test/${n % 50}`, maxRetries: 3 }
    const lane = { ...(n % 3 === 0 && { queue: 'orders' }), ...(n % 5 === 0 && { flowControlKey: `user-${n % 7}` }) }
    const outcome = { at: n + 2, status: 200, state: n % 4 === 0 ? 'RETRY' : 'DELIVERED' }
    return [
      { ...of, ...lane, type: 'published', seq: 2 * n + 1, at: n, notBefore: n, deduplicated: false },
      { ...of, type: 'attempt', seq: 2 * n + 2, at: n + 1, retried: 0, outcome, endedAfterSeq: 2 * n + 2 },
    ]
  }).flat()
  const model = new QueueModel()
  model.add(entries)
  const times = Array.from({ length: 20 }, (_, n) => {
    const start = performance.now()
    model.at({ seq: (n * 48_271) % 100_000, at: 100_000 })
    return performance.now() - start
  })
  expect(times.slice(1).toSorted((one, other) => one - other)[9]).toBeLessThan(300)
  expect(model.at({ seq: 100_000, at: 100_000 }).messages.filter(isLive)).toHaveLength(12_500)
})
