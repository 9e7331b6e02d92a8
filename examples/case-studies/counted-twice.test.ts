import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './counted-twice/broken.ts'
import * as fixed from './counted-twice/fixed.ts'

const cause = /POST .* was sent .*got no response although the work was done/

caseStudy('counted-twice', { broken, fixed, cause }, (test, app) => {
  test('gives number 1 to the first visitor', async ({ sandbox: { faults } }) => {
    faults.add({ on: 'store.request', times: 1, fault: fault.lostAck() })

    expect(await app.buy('Ada')).toBe(1)
  })
})
