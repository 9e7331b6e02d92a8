import { Receiver } from '@upstash/qstash'
import {
  createSandbox,
  type FaultAt,
  type FaultConditions,
  type FaultRule,
  fault,
  type SignatureFlaw,
  signatureFlaws,
} from 'stuntdouble'
import { describe, expect, test } from 'vitest'

const start = Date.parse('2030-01-01T00:00:00Z')
const shop = 'https://shop.test/orders'

function world(...rules: FaultRule[]) {
  const sandbox = createSandbox({ dialect: 'upstash', onWarning: () => {} })
  sandbox.faults.add(rules)
  const handled: [number, string][] = []
  sandbox.destinations.on('https://shop.test/*', async (request) => {
    handled.push([sandbox.clock.now() - start, await request.text()])
    return Response.json({ done: true })
  })
  const publish = (body = 'a', more: object = {}) =>
    sandbox.queue.publish({ to: shop, body, retries: 1, retryDelay: '10000', ...more })
  const attempts = () =>
    sandbox.traffic
      .ofType('attempt')
      .map(({ at, outcome }) => [at - start, outcome?.status, outcome?.error ?? '', outcome && outcome.at - start])
  const faults = () => sandbox.traffic.ofType('fault').map(({ fault, effect }) => `${fault}: ${effect}`)
  const notes = () => sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.note)
  return { sandbox, publish, handled, attempts, faults, notes, drain: () => sandbox.clock.drain() }
}

const once = (fault: FaultAt<'queue.delivery'>, more: FaultConditions = {}): FaultRule => ({
  on: 'queue.delivery',
  fault,
  times: 1,
  ...more,
})
const again = [10_000, 200, '', 10_000]

describe('faults that replace the handler', () => {
  test.each<[FaultAt<'queue.delivery'>, number, string]>([
    [fault.status(503), 503, '503 Service Unavailable'],
    [fault.rateLimited({ limit: 'burst' }), 429, '429 Too Many Requests'],
    [fault.reset(), 0, 'read: connection reset by peer'],
    [fault.refused(), 0, 'dial tcp: connect: connection refused'],
    [fault.unresolvedHost(), 0, 'dial tcp: lookup: no such host'],
    [fault.badCertificate(), 0, 'tls: failed to verify certificate'],
  ])('%j skips the handler, and the delivery is retried', async (fault, code, error) => {
    const at = world(once(fault))
    at.publish()
    await at.drain()
    expect(at.attempts()[0]).toEqual([0, code, error, 0])
    expect(at.handled).toHaveLength(1)
  })

  test('nonRetryable() responds 489, which forbids retries', async () => {
    const at = world(once(fault.nonRetryable('gone')))
    const message = at.publish()
    await at.drain()
    expect([at.handled, message.state]).toEqual([[], 'FAILED'])
  })

  test.each<[FaultAt<'queue.delivery'>, number]>([
    [fault.rateLimited({ limit: 'burst', retryAfter: '45s' }), 45_000],
    [fault.rateLimited({ limit: 'daily', retryAfter: '1h', form: 'date' }), 3_600_000],
    [fault.rateLimited({ limit: 'chat', retryAfter: '90s', form: 'none' }), 90_000],
  ])('%j sets the time of the retry', async (fault, wait) => {
    const at = world(once(fault))
    at.publish()
    await at.drain()
    expect(at.handled).toEqual([[wait, 'a']])
  })

  test('hang() lasts until the timeout, or for a duration', async () => {
    const at = world(once(fault.hang()), once(fault.hang('3s')))
    at.publish('a', { timeout: '5s', retries: 2 })
    await at.drain()
    expect(at.attempts()).toEqual([
      [0, 0, 'context deadline exceeded', 5000],
      [15_000, 0, 'unexpected EOF', 18_000],
      [28_000, 200, '', 28_000],
    ])
  })
})

describe('faults after the handler', () => {
  test.each<[string, FaultRule, number, string, string]>([
    [
      'lost-ack',
      once(fault.lostAck()),
      0,
      'read: connection reset by peer',
      'the handler ran and responded 200, its response was lost',
    ],
    [
      'reset after',
      once(fault.reset(), { phase: 'after' }),
      0,
      'read: connection reset by peer',
      'the handler ran and responded 200, its response was lost',
    ],
    [
      'status after',
      once(fault.status(502), { phase: 'after' }),
      502,
      '502 Bad Gateway',
      'the handler ran and responded 200, its response was replaced',
    ],
    [
      'truncate',
      once(fault.truncate(5)),
      0,
      'unexpected EOF',
      'the handler ran and responded 200, the response body broke off after 5 of 13 bytes',
    ],
  ])('%s: the handler ran, the queue does not know, and the handler runs again', async (_, rule, code, error, note) => {
    const at = world(rule)
    at.publish()
    await at.drain()
    expect(at.attempts()).toEqual([[0, code, error, 0], again])
    expect(at.notes()).toEqual([note, undefined])
    expect(at.handled).toHaveLength(2)
  })

  test('halfOpen() sends headers, then nothing until the timeout', async () => {
    const at = world(once(fault.halfOpen()))
    at.publish('a', { timeout: '5s' })
    await at.drain()
    expect(at.attempts()[0]).toEqual([0, 0, 'context deadline exceeded', 5000])
    expect(at.notes()[0]).toMatch(/handler ran.*200.*headers arrived.*body did not/)
    expect(at.handled).toHaveLength(2)
  })

  test('lateResponse() responds after the timeout, and the handler runs again', async () => {
    const at = world(once(fault.lateResponse('2s')))
    at.publish('a', { timeout: '5s' })
    await at.drain()
    expect(at.attempts()[0]).toEqual([0, 0, 'context deadline exceeded', 5000])
    expect(at.notes()[0]).toMatch(/200 2 s after.*timeout/)
    expect(at.handled.map(([time]) => time)).toEqual([0, 15_000])
  })

  test.each([0, 1, 5, 50])(
    'lateResponse() runs a handler that awaits %d of its own requests without delay',
    async (count) => {
      const at = world(once(fault.lateResponse('2s')))
      const { urls, clock, destinations, fetch, tokens, traffic } = at.sandbox
      const worked: number[] = []
      destinations.on('https://app.test/work', async (request) => {
        await request.text()
        for (let i = 0; i < count; i++) {
          await fetch(`${urls.store}/incr/n`, { headers: { authorization: `Bearer ${tokens.store}` } })
        }
        worked.push(clock.now())
        return new Response('done')
      })
      const begun = clock.now()
      at.sandbox.queue.publish({ to: 'https://app.test/work', timeout: '5s', retries: 1 })
      await at.drain()
      const first = traffic.ofType('attempt')[0]!
      expect(first.outcome).toMatchObject({ at: begun + 5000, note: expect.stringMatching(/200 2 s after.*timeout/) })
      expect(worked[0]).toBe(begun)
      expect(
        traffic
          .ofType('command')
          .slice(0, count)
          .map(({ at: when }) => when),
      ).toEqual(Array(count).fill(begun))
    },
  )

  test('lateResponse() is no later for a handler that takes time of its own', async () => {
    const at = world(once(fault.lateResponse('2s')))
    const { clock, destinations, traffic } = at.sandbox
    destinations.on('https://app.test/work', async (_request, task) => {
      await task.sleep('3s')
      return new Response('done')
    })
    at.sandbox.queue.publish({ to: 'https://app.test/work', timeout: '5s', retries: 0 })
    await at.drain()
    await clock.advance('1m')
    expect(traffic.ofType('attempt')[0]!.outcome!.note).toMatch(/200 2 s after.*timeout/)
  })

  test('slowBody() takes time, or runs into the timeout', async () => {
    const at = world(once(fault.slowBody(1), { times: 2 }))
    at.publish('a', { timeout: '5s' })
    at.publish('b')
    await at.drain()
    const [first, second] = at.attempts()
    expect(first).toEqual([0, 0, 'context deadline exceeded', 5000])
    expect(second).toEqual([0, 200, '', 13_000])
  })

  test('the callback contains the changed content type and body', async () => {
    const at = world(once(fault.corruptJson()), { ...once(fault.wrongContentType('text/html')) })
    const told = at.sandbox.destinations.record('https://back.test/done')
    at.publish('a', { callback: 'https://back.test/done' })
    await at.drain()
    const { header, body } = told.last()!.json() as { header: Record<string, string[]>; body: string }
    expect(header['Content-Type']).toEqual(['text/html'])
    expect(atob(body)).toBe('{"done":true<')
    expect(at.attempts()[0]).toEqual([0, 200, '', 0])
  })

  test('latency() delays before or after the handler', async () => {
    const at = world(once(fault.latency('2s')), once(fault.latency('3s'), { phase: 'after' }))
    at.publish()
    await at.drain()
    expect([at.handled, at.attempts()]).toEqual([[[2000, 'a']], [[0, 200, '', 5000]]])
    expect(at.faults()).toEqual(['latency: takes 2s more', 'latency: takes 3s more to respond'])
  })
})

describe('repeated deliveries', () => {
  test('duplicate() delivers after the first response; the queue sees the first response', async () => {
    const at = world(once(fault.duplicate({ copies: 2, after: '1s' })))
    at.publish()
    await at.drain()
    expect([at.handled, at.attempts()]).toEqual([
      [
        [0, 'a'],
        [1000, 'a'],
        [2000, 'a'],
      ],
      [[0, 200, '', 0]],
    ])
    expect(at.faults()).toEqual([expect.stringMatching(/^duplicate: .*\b3 times.*first response.*200, 200$/)])
  })

  test('duplicate({ concurrent: true }) delivers to the handler at the same instant', async () => {
    const at = world(once(fault.duplicate({ concurrent: true })))
    const log: string[] = []
    let number = 0
    at.sandbox.destinations.on(shop, async (_request, task) => {
      const own = ++number
      log.push(`${own} in`)
      await task.sleep('1s')
      log.push(`${own} out`)
      return new Response()
    })
    at.publish()
    await at.drain()
    expect(log).toEqual(['1 in', '2 in', '1 out', '2 out'])
    expect(at.attempts()).toEqual([[0, 200, '', 1000]])
  })

  test('copies have the same message ID and attempt number', async () => {
    const at = world(once(fault.duplicate()))
    const seen: unknown[] = []
    at.sandbox.destinations.on(shop, (request) => {
      seen.push([request.headers.get('upstash-message-id'), request.headers.get('upstash-retried')])
      return new Response()
    })
    const { id } = at.publish()
    await at.drain()
    expect(seen).toEqual([
      [id, '0'],
      [id, '0'],
    ])
  })
})

describe('delayed and dropped deliveries', () => {
  test('delay() begins the attempt later, with a reason', async () => {
    const at = world(once(fault.delay('90s')))
    const { id } = at.publish()
    await at.sandbox.clock.advance('1s')
    expect(at.sandbox.queue.explain(id)).toMatch(/first attempt.*2030-01-01 00:01:30, .*by a fault, 1m30s/)
    await at.drain()
    expect(at.attempts()).toEqual([[90_000, 200, '', 90_000]])
    expect(at.sandbox.traffic.ofType('attempt')[0]!.waitReason).toBe('held by a fault, 1m30s')
  })

  test('reorder() holds a delivery until a later one has left', async () => {
    const at = world(once(fault.reorder('1m')))
    at.publish('a')
    at.publish('b', { delay: '5s' })
    const { id } = at.publish('c', { delay: '9s' })
    await at.drain()
    expect(at.handled).toEqual([
      [5000, 'b'],
      [5000, 'a'],
      [9000, 'c'],
    ])
    expect(id).toMatch(/^msg_/)
    expect(at.faults()[0]).toMatch(/^reorder: held until msg_\w+ had ended$/)
  })

  test('reorder() delivers after its limit if no other delivery comes', async () => {
    const at = world(once(fault.reorder('1m')))
    at.publish('a')
    await at.drain()
    expect(at.handled).toEqual([[60_000, 'a']])
    expect(at.faults()).toEqual([expect.stringMatching(/^reorder: held.*no later delivery.*\b1m$/)])
  })

  test('reorder() cannot change the order of a FIFO queue', async () => {
    const at = world(once(fault.reorder('1m')))
    at.publish('a', { queue: 'line' })
    at.publish('b', { queue: 'line' })
    await at.drain()
    expect(at.handled.map(([, body]) => body)).toEqual(['a', 'b'])
  })

  test('drop() makes no attempt, retry or dead letter, and a FIFO queue continues', async () => {
    const at = world(once(fault.drop()))
    const lost = at.publish('a', { queue: 'line' })
    at.publish('b', { queue: 'line' })
    await at.drain()
    expect(at.handled.map(([, body]) => body)).toEqual(['b'])
    expect([at.sandbox.queue.messages, at.sandbox.queue.deadLetters, at.sandbox.queue.getMessage(lost.id)]).toEqual([
      [],
      [],
      undefined,
    ])
    expect(at.faults()).toEqual(['drop: vanishes'])
    expect(at.sandbox.queue.explain(lost.id)).toMatch(/dropped by a fault.*not be delivered/)
  })

  test('callbacks can be delayed, dropped, and fail', async () => {
    const at = world(
      { on: 'queue.callback', fault: fault.delay('30s'), times: 1, match: { url: 'https://back.test/a' } },
      { on: 'queue.callback', fault: fault.drop(), match: { url: 'https://back.test/b' } },
      { on: 'queue.callback', fault: fault.status(500), match: { url: 'https://back.test/c' }, times: 2 },
    )
    const back = at.sandbox.destinations.record('https://back.test/*')
    for (const name of ['a', 'b', 'c']) at.publish(name, { callback: `https://back.test/${name}`, callbackRetries: 1 })
    await at.drain()
    expect(back.requests.map(({ url, at: time, retried }) => [url, time - start, retried])).toEqual([
      ['https://back.test/c', 0, 0],
      ['https://back.test/c', 12_000, 1],
      ['https://back.test/a', 30_000, 0],
    ])
    expect(at.sandbox.queue.deadLetters.map(({ message }) => message.url)).toEqual(['https://back.test/c'])
  })

  test('a failure callback is a callback', async () => {
    const at = world(once(fault.status(500), { times: 2 }), { on: 'queue.callback', fault: fault.lostAck(), times: 1 })
    const failed = at.sandbox.destinations.record('https://back.test/failed')
    at.publish('a', { failureCallback: 'https://back.test/failed' })
    await at.drain()
    expect(failed.requests.map(({ retried }) => retried)).toEqual([0, 1])
  })
})

describe('signatures verified by the SDK of a receiver', () => {
  const verify = async (...rules: FaultRule[]) => {
    const at = world(...rules)
    const { current, next } = at.sandbox.queue.signingKeys
    const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next })
    const verdicts: string[] = []
    at.sandbox.destinations.on(shop, async (request) => {
      const signature = request.headers.get('upstash-signature')!
      const verdict = await receiver.verify({ signature, body: await request.text(), url: shop }).then(
        () => 'ok',
        (error: Error) => error.message,
      )
      verdicts.push(verdict)
      return new Response()
    })
    at.publish('{"a":1}')
    await at.drain()
    return verdicts
  }

  test('are accepted without a fault', async () => {
    expect(await verify()).toEqual(['ok'])
  })

  test.each(Object.keys(signatureFlaws) as SignatureFlaw[])('are rejected with the defect %s', async (flaw) => {
    const [verdict] = await verify(once(fault.badSignature(flaw)))
    expect(verdict).not.toBe('ok')
  })

  test('are accepted with the next key, as during a rotation', async () => {
    expect(await verify(once(fault.badSignature('rotated')))).toEqual(['ok'])
  })

  test('are rejected with a clock far behind, and accepted with one slightly behind or ahead, because this SDK ignores iat', async () => {
    expect(await verify(once(fault.clockSkew('-10m')))).toEqual([
      expect.stringContaining('signature verification failed'),
    ])
    expect(await verify(once(fault.clockSkew('-4m')))).toEqual(['ok'])
    expect(await verify(once(fault.clockSkew('10m')))).toEqual(['ok'])
  })

  test('have the defect only in the affected attempt, not in its retry', async () => {
    const at = world(once(fault.badSignature('key')))
    const { current, next } = at.sandbox.queue.signingKeys
    const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next })
    at.sandbox.destinations.on(shop, async (request) => {
      await receiver.verify({ signature: request.headers.get('upstash-signature')!, body: await request.text() })
      return new Response()
    })
    at.publish()
    await at.drain()
    expect(at.attempts().map(([, code]) => code)).toEqual([500, 200])
  })
})

describe('restarts and outages', () => {
  test('a restart after the handler repeats the delivery without counting a retry', async () => {
    const at = world(once(fault.restart('20s')))
    at.publish('a', { retries: 0 })
    await at.drain()
    expect(at.handled).toEqual([
      [0, 'a'],
      [20_000, 'a'],
    ])
    expect(at.sandbox.traffic.ofType('attempt').map(({ retried, outcome }) => [retried, outcome!.state])).toEqual([
      [0, 'RETRY'],
      [0, 'DELIVERED'],
    ])
    expect(at.notes()[0]).toMatch(/handler ran.*200.*restarted before/)
  })

  test('a restart before the handler skips it', async () => {
    const at = world(once(fault.restart(), { phase: 'before' }))
    at.publish('a', { retries: 0 })
    await at.drain()
    expect(at.handled).toEqual([[0, 'a']])
    expect(at.attempts()).toEqual([
      [0, 0, 'the service restarted', 0],
      [0, 200, '', 0],
    ])
  })

  test('a restart breaks everything in flight, delays due deliveries, and refuses publishers', async () => {
    const at = world({ on: 'queue.request', match: { path: '/v2/keys' }, fault: fault.restart('1m') })
    at.sandbox.destinations.on(shop, async (_request, task) => {
      at.handled.push([at.sandbox.clock.now() - start, 'slow'])
      await task.sleep('10s')
      return new Response()
    })
    at.publish('a', { retries: 0 })
    at.publish('b', { retries: 0, delay: '30s' })
    const ask = (): Promise<Response> =>
      at.sandbox.fetch(`${at.sandbox.urls.queue}/v2/keys`, {
        headers: { authorization: `Bearer ${at.sandbox.tokens.queue}` },
      })
    await at.sandbox.clock.advance('5s')
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
    await at.drain()
    expect(at.handled).toEqual([
      [0, 'slow'],
      [65_000, 'slow'],
      [65_000, 'slow'],
    ])
    expect(at.attempts()[0]).toEqual([0, 0, 'the service restarted', 5000])
    expect(at.notes()[0]).toMatch(/200 5 s after.*restart/)
  })

  test('deliveries wait for the end of an outage of the region', async () => {
    const at = world({ on: 'queue.delivery', fault: fault.outage({ region: 'eu-central-1' }), until: '10m' })
    at.publish()
    await at.drain()
    expect(at.handled).toEqual([[600_000, 'a']])
  })
})

describe('fires of a schedule', () => {
  const nightly = async (...rules: FaultRule[]) => {
    const at = world(...rules)
    const { urls, tokens, clock } = at.sandbox
    await at.sandbox.fetch(`${urls.queue}/v2/schedules/${shop}`, {
      method: 'POST',
      body: 'night',
      headers: {
        authorization: `Bearer ${tokens.queue}`,
        'Upstash-Cron': '0 3 * * *',
        'Upstash-Schedule-Id': 'nightly',
      },
    })
    await clock.advance('2d')
    return at
  }
  const hour = 3_600_000

  test.each<[string, FaultRule, number[]]>([
    ['nothing', { on: 'schedule.fire', fault: fault.pass() }, [3, 27]],
    ['dropped once', { on: 'schedule.fire', fault: fault.drop(), times: 1 }, [27]],
    ['delayed once', { on: 'schedule.fire', fault: fault.delay('2h'), times: 1 }, [5, 27]],
    ['slow once', { on: 'schedule.fire', fault: fault.latency('1h'), times: 1 }, [4, 27]],
    [
      'fired twice',
      { on: 'schedule.fire', fault: fault.duplicate({ after: '1h' }), match: { scheduleId: 'nightly' }, times: 1 },
      [3, 4, 27],
    ],
    ['another schedule', { on: 'schedule.fire', fault: fault.drop(), match: { scheduleId: 'other' } }, [3, 27]],
    ['on the second night only, by cron', { on: 'schedule.fire', fault: fault.drop(), cron: '0 3 2 1 *' }, [3]],
  ])('publish at the expected hours when affected by: %s', async (_, rule, hours) => {
    const { handled } = await nightly(rule)
    expect(handled.map(([time]) => time / hour)).toEqual(hours)
  })
})

describe('faults in the script of a destination', () => {
  test('can be every fault that a rule can inject into an attempt', async () => {
    const at = world()
    at.sandbox.destinations.script(shop, [
      fault.latency('1s'),
      fault.truncate(3),
      fault.duplicate(),
      fault.rateLimited({ limit: 'burst', retryAfter: '5s' }),
      fault.badSignature('expired'),
    ])
    for (const body of ['a', 'b', 'c', 'd', 'e']) at.publish(body, { retries: 0 })
    await at.drain()
    expect(at.sandbox.destinations.unused).toEqual([])
    expect(at.attempts().map(([time, code, error, end]) => [time, code, error, end])).toEqual([
      [0, 200, '', 1000],
      [0, 0, 'unexpected EOF', 0],
      [0, 200, '', 0],
      [0, 429, '429 Too Many Requests', 0],
      [0, 200, '', 0],
    ])
    expect(at.handled.filter(([, body]) => body === 'c')).toHaveLength(2)
  })

  test('are not used if a rule determines the response, and are used if a rule changes it', async () => {
    const at = world(once(fault.status(500)), once(fault.latency('3s')))
    at.sandbox.destinations.script(shop, [fault.status(501), fault.status(502)])
    at.publish('a', { retries: 2 })
    await at.drain()
    expect(at.attempts()).toEqual([
      [0, 500, '500 Internal Server Error', 0],
      [10_000, 501, '501 Not Implemented', 13_000],
      [23_000, 502, '502 Bad Gateway', 23_000],
    ])
  })

  test.each([
    [{ kind: 'restart' }, 'restart cannot be a step of a script'],
    [{ kind: 'constructor' }, 'there is no step "constructor"'],
    [{ kind: 'resett' }, 'there is no step "resett". Did you mean "reset"?'],
  ])('throw for %j', (step, sentence) => {
    const at = world()
    expect(() => at.sandbox.destinations.script(shop, [step as never])).toThrow(sentence)
  })
})

describe('conditions of a rule', () => {
  test.each<[string, FaultRule['match'], boolean]>([
    ['the url', { url: shop }, true],
    ['another url', { url: 'https://shop.test/refunds' }, false],
    ['a label', { label: 'vip' }, true],
    ['the queue', { queue: 'line' }, true],
    ['the flow-control key', { flowControlKey: 'k' }, true],
    ['the first attempt', { attempt: 1 }, true],
    ['the second attempt', { attempt: 2 }, false],
    ['attempts up to the second', { attempt: { to: 2 } }, true],
    ['a header', { headers: { 'x-own': 'y*s' } }, true],
    ['another header', { headers: { 'x-own': 'no' } }, false],
    ['the method', { method: 'POST' }, true],
    ['a group', { urlGroup: 'g' }, false],
  ])('select a delivery by %s, or not', async (_, match, strikes) => {
    const at = world(once(fault.status(500), { match: match! }))
    at.publish('a', {
      queue: 'line',
      label: 'vip',
      flowControlKey: 'k',
      flowControlValue: 'parallelism=1',
      headers: { 'X-Own': 'yes' },
    })
    await at.drain()
    expect(at.attempts()[0]![1]).toBe(strikes ? 500 : 200)
  })

  test.each<[string, FaultConditions, number[]]>([
    ['the second attempt', { match: { attempt: 2 } }, [503, 500, 503, 503]],
    ['the attempts from the third', { match: { attempt: { from: 3 } } }, [503, 503, 500, 500]],
    ['what comes after the first moment', { skip: 1 }, [503, 500, 500, 500]],
    ['every second moment after the first', { skip: 1, every: 2 }, [503, 500, 503, 500]],
    ['the minutes of a pattern', { cron: '2 * * * *' }, [503, 503, 500, 503]],
    ['a window that begins later', { from: '1m' }, [503, 500, 500, 500]],
  ])('select attempts of one message: %s', async (_, more, statuses) => {
    const at = world({ on: 'queue.delivery', fault: fault.status(500), ...more })
    at.sandbox.destinations.respond(shop, 503)
    at.publish('a', { retries: 3, retryDelay: '60000' })
    await at.drain()
    expect(at.attempts().map(([, found]) => found)).toEqual(statuses)
  })

  test('select a group endpoint by its name', async () => {
    const at = world(once(fault.status(500), { match: { urlGroup: 'g', endpointName: 'two' } }))
    at.sandbox.queue.urlGroups.addEndpoints('g', [
      { url: 'https://shop.test/1', name: 'one' },
      { url: 'https://shop.test/2', name: 'two' },
    ])
    at.sandbox.queue.publish({ to: 'g', retries: 0 })
    await at.drain()
    expect(at.sandbox.traffic.ofType('attempt').map(({ url, outcome }) => [url, outcome!.status])).toEqual([
      ['https://shop.test/1', 200],
      ['https://shop.test/2', 500],
    ])
  })

  test('select one message by its ID', async () => {
    const at = world()
    at.publish('a')
    const { id } = at.publish('b')
    at.sandbox.faults.add({
      on: 'queue.delivery',
      match: { messageId: id, attempt: { from: 1 } },
      fault: fault.status(500),
    })
    await at.drain()
    expect(at.handled.map(([, body]) => body)).toEqual(['a'])
  })
})
