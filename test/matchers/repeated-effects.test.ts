import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { withTrace } from '../../fixtures/fixture-sandbox.js'
import { failureOf } from './failure.js'

const orders = 'https://shop.test/orders'
const mail = 'https://shop.test/mail'
const counters = ['stats:a', 'stats:b', 'stats:c', 'stats:d']

let sandbox: Sandbox

/** Delivers an order whose handler has the same effects in two attempts, because the first attempt fails after them. */
beforeEach(async () => {
  sandbox = createSandbox({ seed: 7 })
  const { urls, clock, destinations, fetch, queue, tokens } = sandbox
  const headers = { authorization: `Bearer ${tokens.store}` }
  let attempts = 0
  destinations.respond(mail, 200)
  destinations.on(orders, async () => {
    for (const key of counters) await fetch(`${urls.store}/incr/${key}`, { headers })
    await fetch(`${urls.store}/mset/both:a/${attempts}/both:b/${attempts}`, { headers })
    await fetch(`${urls.store}/incr/charged`, { headers })
    await fetch(`${urls.queue}/v2/publish/${mail}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}` },
    })
    return new Response(null, { status: attempts++ === 0 ? 503 : 200 })
  })
  queue.publish({ to: orders })
  await clock.drain()
  expect(attempts).toBe(2)
})
afterEach(() => sandbox.dispose())

/** Returns the repeated effects that the failure names. */
const repeated = (text: string): (string | undefined)[] =>
  [...text.matchAll(/^Hint: msg_\S+ (.*) in each of 2 attempts/gm)].map(([, deed]) => deed)

describe('hint about repeated effects, by failure', () => {
  test('names changes of the key in question', () => {
    const { store } = sandbox
    for (const key of ['charged', 'stats:d', 'both:b']) {
      const text = failureOf(() => expect(store).toHaveKey(key, { value: 'x' }))
      expect(repeated(text)).toEqual([`changed the key ${key}`])
      expect(repeated(failureOf(() => expect(store).not.toHaveKey(key)))).toEqual([`changed the key ${key}`])
    }
  })

  test('names the attempts that sent too many commands or messages', () => {
    const { queue, store } = sandbox
    expect(repeated(failureOf(() => expect(store).toHaveExecuted('INCR', 'charged', { times: 1 })))).toEqual([
      'changed the key charged',
    ])
    const sent = [`published to ${mail}`]
    expect(repeated(failureOf(() => expect(queue).toHavePublished({ to: mail }, { times: 1 })))).toEqual(sent)
    expect(repeated(failureOf(() => expect(queue).toHaveDelivered({ to: mail }, { times: 1 })))).toEqual(sent)
    expect(repeated(failureOf(() => expect(queue).not.toHavePublished({ to: mail })))).toEqual(sent)
  })

  test('names the effects of an unexpected delivery', () => {
    const text = failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: orders, status: 201 }))
    expect(repeated(text)[0]).toBe('changed the key stats:a')
  })

  test('is missing if something is absent or too few', () => {
    const { queue, store } = sandbox
    const failures = [
      () => expect(store).toHaveKey('paid:1'),
      () => expect(store).toHaveExecuted('INCR', 'charged', { times: 3 }),
      () => expect(store).toHaveExecuted('SET', 'paid:1'),
      () => expect(queue).toHavePublished({ to: orders }, { times: 2 }),
      () => expect(queue).toHaveDelivered({ to: mail, status: 201 }),
      () => expect(queue).not.toHaveDelivered({ to: orders }),
    ]
    for (const failure of failures) expect(repeated(failureOf(failure)), String(failure)).toEqual([])
    store.run('DEL', 'charged')
    expect(repeated(failureOf(() => expect(store).toHaveKey('charged')))).toEqual([])
  })

  test('names all effects in a failure without a matcher', () => {
    expect(repeated(withTrace('expected 2 to be 1', sandbox))).toHaveLength(3)
  })
})
