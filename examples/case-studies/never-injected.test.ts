import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './never-injected/broken.ts'
import * as fixed from './never-injected/fixed.ts'

const cause = /Fault 'status' on store\.request \(.*never-injected\.test\.ts:14\) was never injected: no store request/

caseStudy('never-injected', { broken, fixed, cause }, (test, app) => {
  test('serves the page while the store is down', async ({ sandbox: { faults, store } }) => {
    store.run('SET', 'page:home', 'Welcome!')
    await app.page('home')

    faults.add({ on: 'store.request', fault: fault.status(503) })

    expect(await app.page('home')).toBe('Welcome!')
  })
})
