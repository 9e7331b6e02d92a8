import { Client } from '@upstash/qstash'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './raw-body/broken.ts'
import * as fixed from './raw-body/fixed.ts'

const cause = /signature is valid for the bytes that were sent\. .*verify await request\.text\(\)/

caseStudy('raw-body', { broken, fixed, cause }, (test, app) => {
  test('accepts signed prices', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.on(app.pricesUrl, app.takePrices)

    // The warehouse serializes JSON differently from JSON.stringify().
    await new Client().publish({ url: app.pricesUrl, body: '{"teapot": 19.90, "cup": 4.00}', retries: 0 })
    await clock.drain()

    expect(queue).toHaveDelivered({ to: app.pricesUrl, status: 200 })
  })
})
