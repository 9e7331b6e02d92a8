import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './nightly-gap/broken.ts'
import * as fixed from './nightly-gap/fixed.ts'

const cause = /did not fire.*clocks of Europe\/Berlin/
const options = { startAt: '2030-03-28T12:00:00Z' }

caseStudy('nightly-gap', { broken, fixed, cause, options }, (test, app) => {
  test('counts takings every night except during the audit', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.on(app.countUrl, app.count)
    await app.install()

    await clock.advanceTo('2030-03-29T12:00:00Z')
    await app.pause()
    await clock.advanceTo('2030-03-30T12:00:00Z')
    await app.resume()
    await clock.advanceTo('2030-04-02T12:00:00Z')
    expect(store).toHaveKey('nights', { value: 4 })

    await clock.advanceTo('2030-10-26T12:00:00Z')
    store.run('DEL', 'nights')
    await clock.advanceTo('2030-10-29T12:00:00Z')
    expect(store).toHaveKey('nights', { value: 3 })
  })
})
