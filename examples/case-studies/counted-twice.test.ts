import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import * as asItWas from './counted-twice/broken.ts'
import * as mended from './counted-twice/fixed.ts'
import { story } from './story.ts'

const cause = /POST .* was sent .*got no response although the work was done/

story('counted-twice', { asItWas, mended, cause }, (test, app) => {
  test('gives number 1 to the first visitor', async ({ sandbox: { faults } }) => {
    faults.add({ on: 'store.request', times: 1, fault: fault.lostAck() })

    expect(await app.buy('Ada')).toBe(1)
  })
})
