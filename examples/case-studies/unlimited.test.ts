import { expect } from 'stuntdouble/vitest'
import { story } from './story.ts'
import * as asItWas from './unlimited/broken.ts'
import * as mended from './unlimited/fixed.ts'

const cause = /The app did not use this sandbox/
const options = { strict: { noTraffic: true } }

story('unlimited', { asItWas, mended, cause, options }, (test, app) => {
  test('serves a team below its limit', async ({ sandbox: _ }) => {
    for (let count = 0; count < 5; count++) {
      expect((await app.readPage('red')).status).toBe(200)
    }
  })
})
