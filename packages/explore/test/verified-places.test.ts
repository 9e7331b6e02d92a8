import { Receiver } from '@upstash/qstash'
import { verifySignatureAppRouter } from '@upstash/qstash/nextjs'
import type { Sandbox } from 'stuntdouble'
import { arb, assertResilient, type DeliveryHandler, ResilienceError } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'

const orders = 'https://shop.test/api/orders'
const mails = 'https://shop.test/api/mails'
const keys = { current: 'sig_currentcurrentcurrent', next: 'sig_nextnextnextnextnext' }
const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next })
const sandbox = { dialect: 'upstash', signingKeys: { current: keys.current, next: keys.next } } as const
type Options = Parameters<typeof assertResilient>[0]

async function brokenBy(options: Options): Promise<ResilienceError> {
  const error = await assertResilient(options).catch((thrown: unknown) => thrown)
  if (error instanceof ResilienceError) return error
  throw new Error(`nothing was found: ${JSON.stringify(error)} ${error}`)
}

const isSigned = async (request: Request) =>
  receiver
    .verify({
      signature: request.headers.get('upstash-signature') ?? '',
      body: await request.clone().text(),
      url: request.url,
    })
    .catch(() => false)

/** Handles an order once for each message, and then publishes a mail. */
const order: DeliveryHandler = (request, _, { store, queue }) => {
  const id = request.headers.get('upstash-message-id')!
  if (store.run('SET', `seen:${id}`, 1, 'NX') !== null) queue.publish({ to: mails, body: { order: 1 } })
  return new Response()
}
const mail: DeliveryHandler = (request, _, { store }) => {
  store.run('SADD', 'mails', request.headers.get('upstash-message-id')!)
  return new Response()
}
const verified =
  (handler: DeliveryHandler, refused: () => Response = () => new Response(null, { status: 401 })): DeliveryHandler =>
  async (request, task, world) =>
    (await isSigned(request)) ? handler(request, task, world) : refused()

const shop: Omit<Options, 'handler'> = {
  sandbox,
  publish: ({ queue }: Sandbox) => queue.publish({ to: orders, body: { id: 1 } }),
  holds: ({ store }: Sandbox) => store.run('SCARD', 'mails') === 1,
  runs: 40,
}

describe('assertResilient() with an app that verifies one route and not the other', () => {
  test('finds the route by default and names it', async () => {
    const { message, faults } = await brokenBy({ ...shop, handler: { [orders]: verified(order), [mails]: mail } })
    expect(faults).toEqual([
      { on: 'queue.delivery', skip: 1, times: 1, fault: { kind: 'bad-signature', flaw: 'body' } },
    ])
    expect(message.split('\n\n')[0]).toMatchInlineSnapshot(`
      "Fails after 48 of 54 fault plans (seed 1):
        message 1, attempt 1  ok             responded 200
        message 2, attempt 1  bad-signature  signed wrongly: body
        → https://shop.test/api/mails responded 200 to a delivery that was signed wrongly (claim "body" is the hash of another body). https://shop.test/api/orders rejects such deliveries. Verify signatures at https://shop.test/api/mails too."
    `)
  })

  test('passes for the fixed app', async () => {
    await assertResilient({ ...shop, handler: { [orders]: verified(order), [mails]: verified(mail) } })
  })

  test('does not require verification at an external destination', async () => {
    const elsewhere = 'https://mailer.test/send'
    const sends: DeliveryHandler = (_, __, { queue, store }) => {
      if (store.run('SET', 'sent', 1, 'NX') !== null) queue.publish({ to: elsewhere })
      return new Response()
    }
    await assertResilient({ ...shop, handler: { [orders]: verified(sends), [elsewhere]: mail } })
  })

  test('finds a callback that is not verified', async () => {
    const done = 'https://shop.test/api/done'
    const publish = ({ queue }: Sandbox) => queue.publish({ to: orders, body: { id: 1 }, callback: done })
    const handler = { [orders]: verified(order), [mails]: verified(mail) }
    const open = await brokenBy({ ...shop, publish, handler: { ...handler, [done]: () => new Response() } })
    expect(open.faults).toEqual([{ on: 'queue.callback', times: 1, fault: { kind: 'bad-signature', flaw: 'body' } }])
    expect(open.message).toMatch(new RegExp(`${done} responded 200 .*signed wrongly`))
    await assertResilient({
      ...shop,
      publish,
      handler: { ...handler, [done]: verified(() => new Response()) },
    })
  })
})

describe('assertResilient() with an app that responds 200 to deliveries that it rejects', () => {
  // The app responds 200 to prevent retries. A delivery whose signature was damaged on the way is then lost.
  const ok = () => new Response('ignored')

  test('finds the lost message', async () => {
    const { message, faults } = await brokenBy({
      ...shop,
      handler: { [orders]: verified(order, ok), [mails]: verified(mail, ok) },
    })
    expect(faults).toMatchObject([{ on: 'queue.delivery', times: 1, fault: { kind: 'bad-signature' } }])
    expect(message.split('\n\n')[0]).toMatchInlineSnapshot(`
      "Fails after 41 of 54 fault plans (seed 1):
        attempt 1  bad-signature  signed wrongly: body
        → https://shop.test/api/orders responded 200 to a delivery that was signed wrongly (claim "body" is the hash of another body): the queue counts it as delivered and never retries it
        → seen:msg_YsBkV6XkNTZU7G3iE7oPccLh3rpWEgAQ448fckKAJjL6uMxYLvaWcvahbtDP does not exist, without faults it is "1"
        → mails does not exist, without faults it is {"msg_1oUwC6mDWEsJ6YfJ9kQTbbx9keUUnAfErNKVZVWdq1tgLWq8U73p4J2sBTLa"}
        → POST https://shop.test/api/mails "{\\"order\\":1}" was sent 0 times, without faults once"
    `)
  })
})

describe('assertResilient() with an incomplete verification', () => {
  test('finds the flaw at the route that verifies', async () => {
    const ignoresTime: DeliveryHandler = async (request, task, world) => {
      const signature = request.headers.get('upstash-signature') ?? ''
      const isRight = await receiver
        .verify({ signature, body: await request.clone().text(), clockTolerance: 1e12 })
        .catch(() => false)
      return isRight ? order(request, task, world) : new Response(null, { status: 401 })
    }
    const { message, faults } = await brokenBy({ ...shop, handler: { [orders]: ignoresTime, [mails]: verified(mail) } })
    expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'bad-signature', flaw: 'expired' } }])
    expect(message).toMatch(
      new RegExp(`${orders} responded 200 .*signed wrongly.*\\bexp\\b.*past.*although.*wrong key`),
    )
  })
})

describe('assertResilient() does not try wrong signatures for', () => {
  test('an app that verifies nowhere', async () => {
    expect(await assertResilient({ ...shop, handler: { [orders]: order, [mails]: mail } })).toMatchObject({ runs: 40 })
  })

  test('an app that fails without a fault, always or sometimes', async () => {
    const down: DeliveryHandler = () => new Response(null, { status: 503 })
    const publish = ({ queue }: Sandbox) => {
      queue.publish({ to: orders, body: { id: 1 }, retries: 0 })
      queue.publish({ to: mails, body: { id: 1 } })
    }
    const options = { ...shop, publish, holds: () => true }
    await assertResilient({ ...options, handler: { [orders]: down, [mails]: mail } })
    for (const every of [2, 3, 5, 7]) {
      let times = 0
      const flaky: DeliveryHandler = () => new Response(null, { status: ++times % every === 0 ? 500 : 200 })
      await assertResilient({ ...options, handler: { [orders]: flaky, [mails]: mail } })
    }
  })

  test('the wrapper of the SDK, which does not compare the URL', async () => {
    const wrapped =
      (handler: DeliveryHandler): DeliveryHandler =>
      (request, task, world) =>
        (
          verifySignatureAppRouter((inner: Request) => handler(inner, task, world), {
            currentSigningKey: keys.current,
            nextSigningKey: keys.next,
          }) as unknown as (request: Request) => Promise<Response>
        )(request)
    await assertResilient({ ...shop, handler: { [orders]: wrapped(order), [mails]: wrapped(mail) } })
  })

  test('an app that rejects forged deliveries without a retry', async () => {
    const never = () => new Response(null, { status: 489, headers: { 'upstash-nonretryable-error': 'true' } })
    const handler = { [orders]: verified(order, never), [mails]: verified(mail, never) }
    // The guide also tries fault plans that hit every attempt of a message.
    expect((await assertResilient({ ...shop, handler, guidance: 'none' })).skipped).toBe(0)
    const { message } = await brokenBy({ ...shop, handler: { ...handler, [mails]: mail } })
    expect(message).toContain('Verify signatures at https://shop.test/api/mails too.')
  })

  test('assertResilient() injects only the given faults if `faults` is set', async () => {
    const faults = arb.deliveryFaults({ kinds: ['lost-ack', 'bad-signature'] })
    await assertResilient({ ...shop, faults, handler: { [orders]: verified(order), [mails]: mail } })
  })
})

test('assertResilient() replays a failed verification with the printed line, alone', async () => {
  const options: Options = { ...shop, handler: { [orders]: verified(order), [mails]: mail }, seed: 9 }
  const first = await brokenBy(options)
  expect(first.message).toContain(`Replay: assertResilient({ …, seed: 9, path: '${first.path}' })`)
  let runs = 0
  const deliver = (world: Sandbox) => {
    runs++
    return shop.publish(world)
  }
  const again = await brokenBy({ ...options, publish: deliver, path: first.path })
  expect(again.message).toBe(first.message)
  // The search for verifying routes takes two undisturbed runs, and two runs for each of two deliveries. Then the plan
  // itself runs, and again for the report with a comparison.
  expect(runs).toBe(2 + 2 * 2 + 1 + 2)
})

test('assertResilient() draws the same plans whether or not an app verifies', async () => {
  const seen: string[] = []
  const faults = arb.deliveryFaults()
  const record = (world: Sandbox) => void seen.push(JSON.stringify(world.faults.rules.map(({ rule }) => rule)))
  const observed = async (handler: DeliveryHandler, more: Partial<Options>) => {
    seen.length = 0
    const holds = (world: Sandbox) => {
      record(world)
      return true
    }
    // The plans of a guide depend on what it has seen.
    const subject = { ...shop, handler: { [orders]: handler, [mails]: mail }, guidance: 'none' } as const
    await assertResilient({ ...subject, ...more, holds, includeExhausted: true }).catch(() => {})
    return seen.slice(0, 40)
  }
  const plain = await observed(order, { faults })
  expect(plain).toHaveLength(40)
  expect(await observed(order, {})).toEqual(plain)
  expect(await observed(verified(order), {})).toEqual(plain)
})
