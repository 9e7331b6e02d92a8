import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './charged-twice/broken.ts'
import * as fixed from './charged-twice/fixed.ts'

const cause =
  /called POST https:\/\/bank\.test\/charges in each of 2 attempts\. .*response was lost after the host had done the work/

caseStudy('charged-twice', { broken, fixed, cause }, (test, app) => {
  test('charges an order once', async ({ sandbox: { outbound, clock, destinations } }) => {
    const charges = new Map<string, number>()
    outbound.on(app.bank, async (request) => {
      const { cents } = (await request.json()) as { cents: number }
      charges.set(request.headers.get('idempotency-key') ?? `charge ${charges.size}`, cents)
      return Response.json({ charged: cents }, { status: 201 })
    })
    outbound.script(app.bank, [fault.lostAck()]) // the bank charged the customer, and its response was lost
    destinations.on(app.payUrl, app.pay)

    await app.checkout({ id: '4711', cents: 1_990 })
    await clock.drain()

    expect([...charges.values()]).toEqual([1_990])
  })
})
