import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './manual-retry/broken.ts'
import * as fixed from './manual-retry/fixed.ts'

const cause = /set retried:evt_1 .*had no effect, because the key already existed/

caseStudy('manual-retry', { broken, fixed, cause }, (test, app) => {
  test('delivers the event with the second manual retry', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.on(app.failedUrl, app.failed).script(app.customer, [fault.status(503), fault.status(503)])

    await app.happened('evt_1')
    await clock.advance('1h')
    await app.retry('evt_1')
    await clock.advance('1h')
    await app.retry('evt_1')
    await clock.drain()

    expect(queue).toHaveDelivered({ to: app.customer, status: 200 })
  })
})
