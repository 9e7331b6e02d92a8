import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './old-keys/broken.ts'
import * as fixed from './old-keys/fixed.ts'

const cause = /signature is valid: it uses the key that is current since the keys were rotated at 09:00:05/

caseStudy('old-keys', { broken, fixed, cause }, (test, app) => {
  test('accepts a click after a key rotation', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.on(app.clicksUrl, app.clicked).script(app.clicksUrl, [fault.status(503)])

    queue.publish({ to: app.clicksUrl, body: { link: 'abc' }, retries: 1 })
    await clock.advance('5s')
    queue.signingKeys.rotate() // the app still has the previous keys
    await clock.drain()

    expect(queue).toHaveDelivered({ to: app.clicksUrl, attempts: [503, 200] })
  })
})
