import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './unlimited/broken.ts'
import * as fixed from './unlimited/fixed.ts'

const cause = /The app did not use this sandbox/
const options = { strict: { noTraffic: true } }

caseStudy('unlimited', { broken, fixed, cause, options }, (test, app) => {
  test('serves a team below its limit', async ({ sandbox: _ }) => {
    for (let count = 0; count < 5; count++) {
      expect((await app.readPage('red')).status).toBe(200)
    }
  })
})
