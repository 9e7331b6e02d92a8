import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { describe, test } from 'vitest'
import { changesWhenRewritten, otherSpelling } from '../../matchers/spellings.js'
import { utf8 } from '../../src/kernel/bytes.js'
import { failureOf } from './failure.js'

const shop = 'https://shop.test/orders'
const order = { name: 'Zoë', items: [{ id: 7, count: 1 }], at: '10:00, noon' }

/** JSON as `json.dumps` of Python writes it. */
const python = '{"name": "Zo\\u00eb", "items": [{"id": 7, "count": 1}], "at": "10:00, noon"}'
const pythonSorted = '{"at": "10:00, noon", "items": [{"count": 1, "id": 7}], "name": "Zo\\u00eb"}'

/** Returns the failure for an app that verifies other bytes than those published. */
async function told(published: string, verified: string): Promise<string> {
  using sandbox = createSandbox()
  sandbox.destinations.record(shop)
  sandbox.queue.publish({ to: shop, body: published })
  await sandbox.clock.drain()
  const { url, headers, body } = sandbox.traffic.ofType('attempt')[0]!
  expect({ url, headers, body: new TextEncoder().encode(published) }).toHaveValidSignature({
    keys: sandbox.queue.signingKeys,
  })
  expect(body).toBe(utf8(published))
  return failureOf(() =>
    expect({ url, headers, body: verified }).toHaveValidSignature({ keys: sandbox.queue.signingKeys }),
  )
}

describe('names how an app has serialized the body again', () => {
  const compact = JSON.stringify(order)
  test.each([
    ['published with white space', JSON.stringify(order, null, 2), compact, 'indented by 2'],
    [
      'published by a person',
      `${JSON.stringify(order, null, 4)}\n`,
      compact,
      'indented by 4, with a line break at its end',
    ],
    ['published by Python', python, compact, 'with spaces after , and :, with escaped non-ASCII characters'],
    [
      'published by Python, sorted',
      pythonSorted,
      compact,
      'with spaces after , and :, with sorted keys, with escaped non-ASCII characters',
    ],
    ['published compact, written with white space', compact, JSON.stringify(order, null, 2), 'without white space'],
    ['published compact, written by Python', compact, python, 'without white space'],
  ])('%s', async (_, published, verified, how) => {
    expect(await told(published, verified)).toContain(
      `received the hash of the same JSON, written ${how}. Verify the raw body`,
    )
  })

  test('reports the hash of a different body', async () => {
    const text = await told(compact, JSON.stringify({ ...order, name: 'Zoe' }))
    expect(text).toContain('received the hash of another body')
    expect(text).not.toContain('the same JSON')
  })
})

test('finds the variant of any JSON, but only of equal JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, 2, 3, 4, '\t'), (value, gap) => {
      const signed = JSON.stringify(value, null, gap)
      const again = JSON.stringify(JSON.parse(signed))
      const how = otherSpelling(utf8(again), (bytes) => bytes === utf8(signed))
      if (signed === again) expect(how).toBeUndefined()
      else expect(how).toMatch(/^indented/)
      expect(changesWhenRewritten(utf8(signed))).toBe(signed !== again)
    }),
  )
})

test('finds no variant of a body that is not JSON or too long', () => {
  const always = (): boolean => true
  expect(otherSpelling(utf8('{not json'), always)).toBeUndefined()
  expect(otherSpelling(utf8(JSON.stringify('x'.repeat(1_000_001))), always)).toBeUndefined()
  expect(changesWhenRewritten(utf8('not json'))).toBeUndefined()
})

// If the changed text alone explains the rejection, the hint does not name keys and URL.
test.each([
  ['{ "n": 1 }', true],
  ['[1.0]', true],
  ['"\\u00e9"', true],
  ['{"b":1,"a":2}\n', true],
  ['{"n":1}', false],
  ['n=1', false],
  ['', false],
])('names keys and URL, and the raw text where it matters, after rejecting %j', async (body, changes) => {
  using sandbox = createSandbox()
  sandbox.destinations.on(shop, () => new Response(null, { status: 401 }))
  sandbox.queue.publish({ to: shop, body, retries: 0 })
  await sandbox.clock.drain()
  const text = failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: shop }))
  const [hint = ''] = text.split('\n').filter((line) => line.includes('was rejected with 401'))
  expect(hint).toContain('signature is valid')
  expect(hint.includes('request.text()')).toBe(changes)
  expect(hint).toMatch(/\bkeys\b.*\bURL\b/)
})
