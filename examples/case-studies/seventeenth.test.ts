import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './seventeenth/broken.ts'
import * as fixed from './seventeenth/fixed.ts'

const cause =
  /until 09:00:45\.000, .* 5 of 5 calls .*1 message is before it; the pause from #\d+ to #\d+ extended the wait by up to 20s/

caseStudy('seventeenth', { broken, fixed, cause, options: { strict: { pending: false } } }, (test, app) => {
  test('sends the letter to the seventeenth reader within 40 seconds', async ({ sandbox }) => {
    const { clock, destinations, queue } = sandbox
    destinations.respond(app.mailer, 202)

    await app.sendLetter()
    await clock.advance('5s')
    await app.pause()
    await clock.advance('20s')
    await app.resume()
    await clock.advance('15s')

    expect(queue).toHaveDelivered({ to: app.mailer, body: { reader: 17 } })
  })
})
