import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/queue/queue-internals.js'
import { type BadHandler, failing, harmless, stuck } from '../support/bad-handlers.js'
import { shop } from './world.js'

const reports = 'https://reports.test/'

/** Publishes to a handler, drains, and checks the invariants. */
async function delivered(handler: BadHandler, register: 'on' | 'respond', warn?: (text: string) => void) {
  const sandbox = createSandbox({ policy: { handlerStallTimeout: 5 }, onWarning: warn ?? (() => undefined) })
  const { clock, destinations, queue } = sandbox
  if (register === 'on') destinations.on(shop, (_request, task) => handler(sandbox, task))
  else destinations.respond(shop, (_delivery, task) => handler(sandbox, task))
  destinations.respond(reports, 200)
  queue.publish({ to: shop, retries: 1, callback: reports, failureCallback: reports })
  await clock.drain()
  sandbox.assertInvariants()
  expect([...engineOf(queue).whereabouts()]).toEqual([])
  expect(clock.running).toEqual([])
  return sandbox
}

const outcomes = (sandbox: Sandbox) =>
  sandbox.traffic.ofType('attempt').flatMap(({ url, outcome }) => (url === shop ? [outcome!] : []))

describe.each(['on', 'respond'] as const)('misbehaving code in destinations.%s()', (register) => {
  test.each(Object.keys(failing))('fails the attempt, its retry and then the message: %s', async (name) => {
    const sandbox = await delivered(failing[name]!, register)
    expect(outcomes(sandbox).map(({ state }) => state)).toEqual(['RETRY', 'FAILED'])
    expect(sandbox.queue.deadLetters).toHaveLength(1)
    expect(sandbox.traffic.timeline()).toContain(shop)
  })

  test.each(Object.keys(harmless))('still delivers the message: %s', async (name) => {
    const sandbox = await delivered(harmless[name]!, register)
    expect(outcomes(sandbox).map(({ state }) => state)).toEqual(['DELIVERED'])
  })

  test.each(Object.keys(stuck))('times out with a warning and a note: %s', async (name) => {
    const warnings: string[] = []
    const sandbox = await delivered(stuck[name]!, register, (text) => warnings.push(text))
    expect(outcomes(sandbox)).toMatchObject([
      { state: 'RETRY', status: 0, error: 'context deadline exceeded' },
      { state: 'FAILED', status: 0, error: 'context deadline exceeded' },
    ])
    expect(outcomes(sandbox)[0]!.note).toMatch(/neither ended nor slept.*\b5ms of host time/)
    const [warning] = warnings
    expect(warnings).toHaveLength(2)
    expect(warning).toContain(`delivery to ${shop}, message msg_`)
    expect(warning).toContain('returns or throws')
  })
})

describe('the note of an attempt with a misbehaving handler', () => {
  test.each<[string, string, string]>([
    [
      'a Response that was read',
      '500 Internal Server Error',
      `The handler of ${shop} returned a Response whose body was already read, which is possible only once. Return a new Response each time.`,
    ],
    [
      'a locked body',
      '500 Internal Server Error',
      `The handler of ${shop} returned a Response whose body is locked by another reader. Return a new Response each time.`,
    ],
    ['a stream that errors', 'unexpected EOF', `The handler of ${shop} responded, but the body broke off: Error: boom`],
    [
      'a stream of texts',
      'unexpected EOF',
      `The handler of ${shop} responded, but the body broke off: TypeError: the stream contains a string instead of bytes; enqueue a Uint8Array`,
    ],
    [
      'Response.error()',
      'read: connection reset by peer',
      `The handler of ${shop} responded with Response.error(), a broken connection`,
    ],
    [
      'returns undefined',
      '500 Internal Server Error',
      `The handler of ${shop} returned undefined. Return a Response, or a status in destinations.respond().`,
    ],
    [
      'a step that is none',
      '500 Internal Server Error',
      `The handler of ${shop} returned no response that can be sent: kind: there is no step "timeout". fault.hang() makes { kind: 'hang' }.`,
    ],
    [
      'status 99',
      '500 Internal Server Error',
      `The handler of ${shop} returned no response that can be sent: a status must be a whole number from 200 to 599 (got 99).`,
    ],
    [
      'a body that is a Blob',
      '500 Internal Server Error',
      `The handler of ${shop} returned no response that can be sent: The body must be a string, a Uint8Array or a JSON value (got Blob). Return new Response(body) instead.`,
    ],
    ['throws null', '500 Internal Server Error', 'the handler threw null'],
    [
      'throws a Proxy that throws',
      '500 Internal Server Error',
      'the handler threw a value that cannot be shown as text',
    ],
  ])('names the reason: %s', async (name, error, note) => {
    const sandbox = await delivered(failing[name]!, 'respond')
    expect(outcomes(sandbox)[0]).toMatchObject({ error, note })
    expect(sandbox.traffic.timeline()).toContain(note.slice(0, 60))
    const logged = sandbox.queue.deadLetters[0]!
    if (error.startsWith('500')) expect(logged.response.body).toBe(note.replace(/^the handler threw /, ''))
  })

  test('reports a Response that a handler returns twice, at its second use', async () => {
    const sandbox = createSandbox()
    const shared = new Response('x')
    sandbox.destinations.on(shop, () => shared)
    sandbox.queue.publish({ to: shop, retries: 0 })
    sandbox.queue.publish({ to: shop, retries: 0 })
    await sandbox.clock.drain()
    sandbox.assertInvariants()
    expect(outcomes(sandbox).map(({ state, note }) => [state, note])).toEqual([
      ['DELIVERED', undefined],
      ['FAILED', expect.stringContaining('body was already read')],
    ])
  })

  test('a fixed Response responds to every delivery', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.respond(shop, new Response('told', { status: 201, headers: { 'x-a': 'b' } }))
    for (let count = 0; count < 3; count++) sandbox.queue.publish({ to: shop })
    await sandbox.clock.drain()
    const [first, ...others] = outcomes(sandbox)
    expect(first).toMatchObject({ status: 201, body: 'told' })
    expect(first!.headers).toContainEqual(['x-a', 'b'])
    for (const other of others) expect(other).toMatchObject({ status: 201, body: 'told' })
  })

  test('an endless body is cut at the limit of the plan', async () => {
    const sandbox = await delivered(harmless['a body without an end']!, 'on')
    expect(outcomes(sandbox)[0]!.body).toHaveLength(engineOf(sandbox.queue).limits.maxMessageSize)
  })

  test('an endless stream of empty chunks fails its attempt', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.on(
      shop,
      () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(0)) })),
    )
    sandbox.queue.publish({ to: shop, retries: 0 })
    await sandbox.clock.drain()
    expect(outcomes(sandbox)[0]!.note).toContain('after 1000000 chunks')
  })

  test.each(['reset', 'dispose', 'load'] as const)('a handler that calls sandbox.%s() does not block', async (call) => {
    const sandbox = createSandbox()
    const { clock } = sandbox
    let isFirst = true
    sandbox.destinations.on(shop, async (_request, task) => {
      if (isFirst) {
        isFirst = false
        if (call === 'load') sandbox.load(sandbox.dump())
        else sandbox[call]()
      }
      await task.sleep('1s')
      return new Response('x')
    })
    sandbox.queue.publish({ to: shop })
    // The clock of a disposed sandbox rejects further moves.
    await expect(clock.drain()).rejects.toThrow('ended')
    if (call !== 'dispose') await sandbox.clock.drain()
    sandbox.assertInvariants()
  })

  test('a handler that redirects to itself is followed up to the limit', async () => {
    const sandbox = createSandbox({ policy: { followRedirects: true } })
    sandbox.destinations.on(shop, () => Response.redirect(shop, 307))
    sandbox.queue.publish({ to: shop, retries: 0 })
    await sandbox.clock.drain()
    sandbox.assertInvariants()
    expect(outcomes(sandbox)[0]!.error).toBe('stopped after 10 redirects')
  })

  test('a copy of a delivery that never ends does not block virtual time', async () => {
    const warnings: string[] = []
    const sandbox = createSandbox({ policy: { handlerStallTimeout: 5 }, onWarning: (text) => warnings.push(text) })
    let calls = 0
    sandbox.destinations.on(shop, () => (calls++ === 0 ? new Response('x') : new Promise(() => undefined)))
    sandbox.destinations.script(shop, [{ kind: 'duplicate' }])
    sandbox.queue.publish({ to: shop })
    await sandbox.clock.drain()
    sandbox.assertInvariants()
    expect(warnings.join()).toContain(`duplicate of a delivery to ${shop}`)
  })

  test('misbehaving handlers give the same traffic with the same seed', async () => {
    const traces = await Promise.all(
      [1, 2].map(async () => JSON.stringify((await delivered(stuck['never settles']!, 'on')).traffic.entries)),
    )
    expect(traces[0]).toBe(traces[1])
  })
})

describe('a misbehaving fetch for deliveries', () => {
  test.each<[string, () => unknown]>([
    ['gives nothing', () => undefined],
    [
      'rejects with a Proxy',
      () =>
        Promise.reject(
          new Proxy(
            {},
            {
              getPrototypeOf: () => {
                throw new Error('no')
              },
            },
          ),
        ),
    ],
    [
      'gives what was read',
      async () => {
        const response = new Response('x')
        await response.text()
        return response
      },
    ],
    ['gives a stream that breaks', () => failing['a stream that errors']!(undefined as never, undefined as never)],
  ])('ends each attempt: %s', async (_, fetch) => {
    const sandbox = createSandbox({ fetch: fetch as never, deliverTo: 'any' })
    sandbox.queue.publish({ to: shop, retries: 0 })
    await sandbox.clock.drain()
    sandbox.assertInvariants()
    expect(outcomes(sandbox)).toMatchObject([{ state: 'FAILED', status: 0 }])
  })
})
