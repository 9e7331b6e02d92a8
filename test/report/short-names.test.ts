import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/kernel/traffic-log.js'
import { shortNames } from '../../src/report/short-names.js'
import { runs } from '../support/effort.js'

/** The shortest length, of at least seven characters, at which the beginnings of all IDs differ. */
function plainLength(ids: readonly string[]): number {
  const all = [...new Set(ids)]
  for (let length = 7; ; length++) {
    if (new Set(all.map((id) => id.slice(0, length))).size === all.length) return length
  }
}

const idOf = fc.stringMatching(/^msg_[ab]{0,8}$/)

test('message names have as many characters as distinguish all IDs', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ messageId: idOf, sourceMessageId: fc.option(idOf, { nil: undefined }) })),
      (given) => {
        const ids = given.flatMap(({ messageId, sourceMessageId }) => [messageId, sourceMessageId ?? messageId])
        const name = shortNames(given as unknown as Entry[])
        const length = plainLength(ids)
        expect(ids.map(name)).toEqual(ids.map((id) => (id.length <= length + 1 ? id : `${id.slice(0, length)}…`)))
      },
    ),
    { numRuns: runs(200, 1000, 10_000) },
  )
})
