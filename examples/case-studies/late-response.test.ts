import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './late-response/broken.ts'
import * as fixed from './late-response/fixed.ts'

const cause = /Attempt 1 .*responded with 200, 1 s after the timeout, so attempt 2/

caseStudy('late-response', { broken, fixed, cause }, (test, app) => {
  test('mails a contract once', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.on(app.sendUrl, app.sendContract).script(app.sendUrl, [fault.lateResponse()])

    await app.completed({ id: 'lease', signers: ['ada'] })
    await clock.drain()

    expect(store).toHaveKey('outbox:ada', { value: ['The contract lease is signed.'] })
  })
})
