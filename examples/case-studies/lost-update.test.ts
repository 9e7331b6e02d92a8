import { exploreInterleavings } from 'stuntdouble/checks'
import { expect } from 'stuntdouble/vitest'
import * as asItWas from './lost-update/broken.ts'
import * as mended from './lost-update/fixed.ts'
import { story } from './story.ts'

const cause = /Lost update/

story('lost-update', { asItWas, mended, cause }, (test, app) => {
  test('sells one seat to each of three visitors', async () => {
    const tried = await exploreInterleavings({
      setup: ({ store }) => store.run('SET', 'seats', 100),
      clients: { ada: app.takeSeat, ben: app.takeSeat, cleo: app.takeSeat },
      stopOnFirstFailure: true,
    })
    expect(tried).toHold()
  })
})
