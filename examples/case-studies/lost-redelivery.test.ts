import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './lost-redelivery/broken.ts'
import * as fixed from './lost-redelivery/fixed.ts'

const cause = /not delivered because it is a duplicate: .*fetch-teapots-2030-01-01.*dead-letter queue/

caseStudy('lost-redelivery', { broken, fixed, cause }, (test, app) => {
  test('fetches a failed repository when the webhook is sent again', async ({
    sandbox: { clock, destinations, store },
  }) => {
    destinations.on(app.fetchUrl, app.fetchRepository).script(app.fetchUrl, [fault.status(500)])
    const push = { repository: 'teapots', day: '2030-01-01' }

    await app.pushed({ id: 'first', ...push })
    await clock.advance('5m')
    await app.pushed({ id: 'again', ...push })
    await clock.drain()

    expect(store).toHaveKey('fetched:teapots', { value: 1 })
  })
})
