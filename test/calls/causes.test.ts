import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { arb } from '../../packages/explore/src/fast-check.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Entry } from '../../src/index.js'
import { runs, seedOr } from '../support/effort.js'

const bank = 'https://bank.test'

const plans = fc.record({
  /** Actions of each message's handler, in sequence or all at the same time. */
  messages: fc.array(
    fc.record({
      waits: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }),
      atOnce: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  faults: arb.outboundFaults({ maxRules: 3 }),
  alone: fc.nat({ max: 2 }),
})

describe('causes of outbound requests', () => {
  test('logs one entry per request, caused by its attempt, with the number of handler runs', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ messages, faults, alone }) => {
        const sandbox = createSandbox({ onWarning: () => {} })
        const restore = replaceFetch(sandbox)
        try {
          const sent: string[] = []
          const ran: string[] = []
          sandbox.outbound.on(`${bank}/*`, async (request, task) => {
            ran.push(request.headers.get('x-call')!)
            await task.sleep(Number(new URL(request.url).searchParams.get('sleep')) * 1000)
            return new Response()
          })
          const ask = async (name: string, sleep: number): Promise<unknown> => {
            sent.push(name)
            return fetch(`${bank}/charges?sleep=${sleep}`, { method: 'POST', headers: { 'x-call': name } }).catch(
              () => 0,
            )
          }
          messages.forEach(({ waits, atOnce }, at) => {
            const url = `https://shop.test/${at}`
            sandbox.destinations.on(url, async (request) => {
              // The app knows which delivery it works on, so its header is the ground truth.
              const who = `${request.headers.get('service-message-id')}/${request.headers.get('service-retried')}`
              if (atOnce) await Promise.all(waits.map((wait, nth) => ask(`${who}/${nth}`, wait)))
              else for (const [nth, wait] of waits.entries()) await ask(`${who}/${nth}`, wait)
              return new Response(null, {
                status: request.headers.get('service-retried') === '0' && at === 1 ? 500 : 200,
              })
            })
            sandbox.queue.publish({ to: url, retries: 1 })
          })
          sandbox.faults.add(faults)
          const moving = sandbox.clock.drain()
          // The test itself sends requests, too, while handlers sleep.
          const own = Promise.all(Array.from({ length: alone }, (_, nth) => ask(`test/${nth}`, nth)))
          await moving
          await sandbox.clock.drain()
          await own
          const calls = sandbox.traffic.ofType('outbound')
          const nameOf = (entry: Entry): string =>
            (entry as unknown as { header(name: string): string }).header('x-call')
          expect(calls.map(nameOf).sort()).toEqual([...sent].sort())
          for (const call of calls) {
            const cause = call.cause === undefined ? undefined : sandbox.traffic.get(call.cause)
            const maker = cause?.type === 'attempt' ? `${cause.messageId}/${cause.retried}` : 'test'
            expect(nameOf(call).startsWith(`${maker}/`), `${nameOf(call)} was made by ${maker}`).toBe(true)
            expect(call.possibleCauses).toBeUndefined()
          }
          const told = calls.flatMap((call) => Array.from({ length: call.handlerRuns }, () => nameOf(call)))
          expect(told.sort()).toEqual(ran.sort())
        } finally {
          restore()
          sandbox.dispose()
        }
      }),
      { numRuns: runs(40, 40, 400), seed: seedOr(17) },
    )
  })
})

test('lists both deliveries as possible causes when two deliveries over the network are in flight', async () => {
  const sandbox = createSandbox({ onWarning: () => {}, fetch: globalThis.fetch, clock: 'real' })
  onTestFinished(() => sandbox.dispose())
  sandbox.outbound.respond(`${bank}/*`, 200)
  // The app is behind a socket and responds once both deliveries have arrived.
  const waiting: (() => void)[] = []
  let arrived = (): void => {}
  const both = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const app = createServer((_request, response) => {
    waiting.push(() => response.end())
    if (waiting.length === 2) arrived()
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void app.close())
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/orders`
  for (const id of [1, 2]) sandbox.queue.publish({ to: url, body: { id } })
  await both
  const outside = { method: 'POST', url: `${bank}/charges`, headers: [], body: () => '' as never }
  await sandbox.outbound.exchange(outside, { outside: true })
  const attempts = sandbox.traffic.ofType('attempt').map(({ seq }) => seq)
  expect(sandbox.traffic.ofType('outbound')).toMatchObject([{ possibleCauses: attempts }])
  expect(sandbox.traffic.ofType('outbound')[0]!.cause).toBeUndefined()
  expect(sandbox.traffic.timeline()).toContain(`made by #${attempts[0]} or #${attempts[1]}`)
  const [first, second] = waiting
  first!()
  const isOver = (): boolean => sandbox.traffic.ofType('attempt').some(({ outcome }) => outcome !== undefined)
  while (!isOver()) await new Promise((resolve) => setImmediate(resolve))
  await sandbox.outbound.exchange(outside, { outside: true })
  const left = sandbox.traffic.ofType('attempt').find(({ outcome }) => outcome === undefined)
  expect(sandbox.traffic.ofType('outbound')[1]).toMatchObject({ cause: left!.seq })
  second!()
})
