import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { type OpenWay, openWay, type WayKind } from './adapter.js'
import { cases } from './cases.js'
import { Client } from './client.js'
import { echoSuite } from './echo-suite.js'

/** Every case through one way, but for what the table says it cannot carry. */
export function contractSuite(kind: WayKind): void {
  describe.skipIf(kind.missing !== undefined)(kind.name, () => {
    if (kind.leading !== undefined) echoSuite(kind.leading)

    if (kind.echoesOnly) return

    describe('a sandbox', () => {
      let way: OpenWay
      beforeAll(async () => {
        way = await openWay(kind)
      }, 30_000)
      afterAll(() => way.close())
      beforeEach(() => way.sandbox.reset())

      for (const { title, need, run } of cases) {
        if (kind.cannot[need] === undefined) test(title, () => run(new Client(way, kind.sight)), 20_000)
      }
    })
  })
}
