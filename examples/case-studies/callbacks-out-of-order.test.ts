import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import * as broken from './callbacks-out-of-order/broken.ts'
import * as fixed from './callbacks-out-of-order/fixed.ts'
import { caseStudy } from './case-study.ts'

const cause = /Callbacks .*out of order: first the callback about attempt 2 .*then the callback about attempt 1/

caseStudy('callbacks-out-of-order', { broken, fixed, cause }, (test, app) => {
  test('keeps a document done after a late callback', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.script(app.reader, [fault.status(503)])
    // The site is being deployed while the first callback arrives.
    destinations.on(app.reportUrl, app.report).script(app.reportUrl, [fault.status(502)])

    await app.read('faust')
    await clock.drain()

    expect(store).toHaveKey('state:faust', { value: 'done' })
  })
})
