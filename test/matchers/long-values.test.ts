import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutSecrets } from '../../matchers/failure/hidden-values.js'
import { sandboxMatchers } from '../../matchers/index.js'
import { literal } from '../../matchers/literal.js'
import { differingLines } from '../../matchers/text-diff.js'
import { createSandbox } from '../../src/index.js'
import { standardRedaction } from '../../src/report/redaction.js'
import { runs, seedOr } from '../support/effort.js'

const long = 300_000

test('a long text is printed like a short one, with its whole length and without its secret', () => {
  const start = fc.constantFrom(
    'plain text ',
    'password=hunter2hunter2 ',
    '{"token":"abcdefgh","a":"',
    'Bearer abcdefgh ',
  )
  fc.assert(
    fc.property(start, fc.stringMatching(/^[a-z ]{0,20}$/), (secret, more) => {
      const given = secret + more
      const whole = given.padEnd(long, 'x')
      const shown = literal(withoutSecrets(whole, standardRedaction))
      const plain = literal(standardRedaction.text(whole)).replace(/\(\d+ chars\)$/, `(${long} chars)`)
      expect(shown).toBe(plain)
      expect(shown).not.toMatch(/hunter2|abcdefgh/)
    }),
    { seed: seedOr(1), numRuns: runs(20, 100, 1000) },
  )
})

test('a value with many values is printed like one that is searched as a whole', () => {
  const value = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 400 }), (item, count) => {
      const list = Array.from({ length: count }, () => item)
      const fields = Object.fromEntries(list.map((one, index) => [`f${index}`, one]))
      for (const one of [list, fields]) expect(literal(withoutSecrets(one, standardRedaction))).toBe(literal(one))
    }),
    { seed: seedOr(1), numRuns: runs(30, 200, 1000) },
  )
})

test('the first difference of long texts is shown up to the character that is searched for secrets', () => {
  const safe = (text: string): unknown => withoutSecrets(text, standardRedaction)
  const text = 'a'.repeat(long)
  expect(differingLines(safe(`${text.slice(0, 1000)}b${text.slice(1001)}`), safe(text))).toEqual([
    `  at character 1000, of ${long} expected and ${long} received characters:`,
    `- …${'a'.repeat(20)}b${'a'.repeat(39)}…`,
    `+ …${'a'.repeat(60)}…`,
  ])
  expect(differingLines(safe(`${text}b`), safe(text))).toEqual([
    `  after the first 250000 characters, of ${long + 1} expected and ${long} received characters`,
  ])
})

test('a failure about a long body shows its difference and no secret', () => {
  using sandbox = createSandbox({ policy: { queueLimits: { maxMessageSize: 1e8 } } })
  sandbox.destinations.record('https://shop.test/*')
  const items = Array.from({ length: 20_000 }, (_, id) => ({ id, password: `hunter2-${id}` }))
  sandbox.queue.publish({ to: 'https://shop.test/orders', body: { items, last: 1 } })
  const { message } = sandboxMatchers.toHavePublished.call({}, sandbox, { body: { items, last: 2 } })
  expect(message()).toContain('body.last: expected 2, received 1')
  expect(message()).not.toContain('hunter2')
})
