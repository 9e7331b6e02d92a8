import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './three-retries/broken.ts'
import * as fixed from './three-retries/fixed.ts'

const cause = /3 retries mean 4 attempts/

caseStudy('three-retries', { broken, fixed, cause }, (test, app) => {
  test('asks a provider that is down three times', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.respond(app.textUrl, 503)

    await app.sendCode('+49 30 1234', '4711')
    await clock.drain()

    expect(queue).toHaveDeadLetter({ to: app.textUrl, attempts: 3 })
  })
})
