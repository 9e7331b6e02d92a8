import { fault } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { caseStudy } from './case-study.ts'
import * as broken from './unheard/broken.ts'
import * as fixed from './unheard/fixed.ts'

const cause =
  /went to the dead-letter queue:.*callbacks to https:..studio.test.api.done, 503.*; failure callback msg_\w+… to/

caseStudy('unheard', { broken, fixed, cause }, (test, app) => {
  test('reports failed videos while its own site is down', async ({ sandbox: { clock, destinations } }) => {
    destinations.script(app.renderer, [fault.pass(), fault.status(422), fault.status(422), fault.status(422)])
    destinations.respond(app.doneUrl, 503).respond(app.failedUrl, 503)

    await app.render('cats') // is ready
    await app.render('dogs') // cannot be rendered
    await clock.drain()

    expect(await app.report()).toContain('Look after')
  })
})
