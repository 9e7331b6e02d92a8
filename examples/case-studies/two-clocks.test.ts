import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as app from './two-clocks/app.ts'

const cause = /timers: 'follow'/
const options = { broken: {}, fixed: { timers: 'follow' } } as const

caseStudy('two-clocks', { broken: app, fixed: app, cause, options }, (test, app) => {
  test('admits the visitor again a minute later', async ({ sandbox: { clock } }) => {
    await app.logIn('ada')
    await app.logIn('ada')
    expect((await app.logIn('ada')).status).toBe(429)

    await clock.advance('2m')

    expect((await app.logIn('ada')).status).toBe(200)
  })
})
