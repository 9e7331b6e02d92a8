import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './published-twice/broken.ts'
import * as fixed from './published-twice/fixed.ts'

const cause = /POST .* was sent .*got no response although the work was done/

caseStudy('published-twice', { broken, fixed, cause }, (test, app) => {
  test('ships an order once while the queue fails', async ({ sandbox }) => {
    const { clock, destinations, faults, queue } = sandbox
    destinations.respond(app.warehouse, 201)
    faults.add(
      [fault.rateLimited(), fault.status(500), fault.lostAck()].map((fault) => ({
        on: 'queue.request',
        times: 1,
        fault,
      })),
    )

    await app.checkout({ id: '4711', items: ['teapot'] })
    await clock.drain()

    expect(queue).toHaveDelivered({ to: app.warehouse }, { times: 1 })
  })
})
