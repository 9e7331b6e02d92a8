import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import * as asItWas from './late-answer/broken.ts'
import * as mended from './late-answer/fixed.ts'
import { story } from './story.ts'

const cause = /Attempt 1 .*responded with 200, 1 s after the timeout, so attempt 2/

story('late-answer', { asItWas, mended, cause }, (test, app) => {
  test('mails a contract once', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.on(app.sendUrl, app.sendContract).script(app.sendUrl, [fault.lateResponse()])

    await app.completed({ id: 'lease', signers: ['ada'] })
    await clock.drain()

    expect(store).toHaveKey('outbox:ada', { value: ['The contract lease is signed.'] })
  })
})
