import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import * as asItWas from './never-struck/broken.ts'
import * as mended from './never-struck/fixed.ts'
import { story } from './story.ts'

const cause = /Fault 'status' on store\.request \(.*never-struck\.test\.ts:14\) was never injected: no store request/

story('never-struck', { asItWas, mended, cause }, (test, app) => {
  test('serves the page while the store is down', async ({ sandbox: { faults, store } }) => {
    store.run('SET', 'page:home', 'Welcome!')
    await app.page('home')

    faults.add({ on: 'store.request', fault: fault.status(503) })

    expect(await app.page('home')).toBe('Welcome!')
  })
})
