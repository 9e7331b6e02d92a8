import { playScenario } from 'stuntdouble/scenarios'
import { caseStudy } from './case-study.ts'
import * as broken from './pasted-dead-letter/broken.ts'
import * as fixed from './pasted-dead-letter/fixed.ts'
import { recorded } from './pasted-dead-letter/recorded.ts'

const cause = /code under test.*500.*Cannot read properties of null \(reading 'percent'\)[\s\S]*still fails as recorded/

caseStudy('pasted-dead-letter', { broken, fixed, cause }, (test, app) => {
  test('processes order 4711 of production', async () => {
    const play = await playScenario(recorded, {
      setup: (sandbox) => {
        sandbox.destinations.on('https://shop.example.org/api/orders', app.takeOrder)
      },
    })
    if (!play.holds) throw new Error([play.verdict(), play.timeline()].join('\n\n'))
  })
})
