import { expect } from 'stuntdouble/vitest'
import * as asItWas from './poison/broken.ts'
import * as mended from './poison/fixed.ts'
import { story } from './story.ts'

const cause = /msg_y64… waits in queue accounts: msg_xTq… must finish first/

story('poison', { asItWas, mended, cause, options: { strict: { pending: false } } }, (test, app) => {
  test('delivers the next change after an unreadable one', async ({ sandbox }) => {
    const { clock, destinations, queue } = sandbox
    destinations.on(app.changesUrl, app.applyChange)

    await app.change({ account: 'ada', adress: { city: 'London' } })
    await app.change({ account: 'ben', address: { city: 'Paris' } })
    await clock.advance('1h')

    expect(queue).toHaveDelivered({ to: app.changesUrl, body: { account: 'ben' } })
  })
})
