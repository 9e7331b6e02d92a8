import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { cases } from './cases.js'
import { Client } from './client.js'
import { type OpenWay, reasonAgainst, type WayKind } from './ways.js'

/** Every case through one way, but for what the table says it cannot carry. */
export function contractSuite(kind: WayKind): void {
  describe.skipIf(kind.missing !== undefined)(kind.name, () => {
    let way: OpenWay
    beforeAll(async () => {
      way = await kind.open()
    }, 30_000)
    afterAll(() => way.close())
    beforeEach(() => way.sandbox.reset())

    for (const { title, need, run } of cases) {
      if (reasonAgainst(kind.name, need) === undefined) test(title, () => run(new Client(way)), 20_000)
    }
  })
}
