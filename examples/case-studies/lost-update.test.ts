import { exploreInterleavings } from 'stuntdouble/checks'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './lost-update/broken.ts'
import * as fixed from './lost-update/fixed.ts'

const cause = /Lost update/

caseStudy('lost-update', { broken, fixed, cause }, (test, app) => {
  test('sells one seat to each of three visitors', async () => {
    const tried = await exploreInterleavings({
      setup: ({ store }) => store.run('SET', 'seats', 100),
      clients: { ada: app.takeSeat, ben: app.takeSeat, cleo: app.takeSeat },
      stopOnFirstFailure: true,
    })
    expect(tried).toHold()
  })
})
