import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './poison/broken.ts'
import * as fixed from './poison/fixed.ts'

const cause = /msg_y64… waits in queue accounts: msg_xTq… must finish first/

caseStudy('poison', { broken, fixed, cause, options: { strict: { pending: false } } }, (test, app) => {
  test('delivers the next change after an unreadable one', async ({ sandbox }) => {
    const { clock, destinations, queue } = sandbox
    destinations.on(app.changesUrl, app.applyChange)

    await app.change({ account: 'ada', adress: { city: 'London' } })
    await app.change({ account: 'ben', address: { city: 'Paris' } })
    await clock.advance('1h')

    expect(queue).toHaveDelivered({ to: app.changesUrl, body: { account: 'ben' } })
  })
})
