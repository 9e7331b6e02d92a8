import { expect } from 'stuntdouble/vitest'
import { story } from './story.ts'
import * as asItWas from './three-retries/broken.ts'
import * as mended from './three-retries/fixed.ts'

const cause = /3 retries mean 4 attempts/

story('three-retries', { asItWas, mended, cause }, (test, app) => {
  test('asks a provider that is down three times', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.respond(app.textUrl, 503)

    await app.sendCode('+49 30 1234', '4711')
    await clock.drain()

    expect(queue).toHaveDeadLetter({ to: app.textUrl, attempts: 3 })
  })
})
