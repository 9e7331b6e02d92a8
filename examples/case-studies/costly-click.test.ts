import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './costly-click/broken.ts'
import * as fixed from './costly-click/fixed.ts'

const cause = /messages: expected at most 3, received 6/

caseStudy('costly-click', { broken, fixed, cause }, (test, app) => {
  test('costs at most three messages and five commands per click', async ({ sandbox }) => {
    sandbox.destinations.respond('https://shop.test/*', 200)
    await app.buy({ customer: 'ben', items: { cup: 1 } })
    await sandbox.clock.drain()
    const before = sandbox.traffic.mark()

    await app.buy({ customer: 'ada', items: { teapot: 1, cup: 6 } })
    await sandbox.clock.drain()

    expect(sandbox).toHaveCost({ messages: '<=3', commands: '<=5' }, { since: before })
  })
})
