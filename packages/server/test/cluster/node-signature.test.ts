import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/effort.js'
import type { ForwardedRequest } from '../../src/cluster/node-signature.js'
import { Signer, Verifier } from '../../src/cluster/node-signature.js'

const secret = 'a secret of all nodes, 32 bytes'
const header = fc.tuple(
  fc.constantFrom('Accept', 'authorization', 'X-A', 'x-a', 'host'),
  fc.string({ unit: 'binary-ascii' }),
)
const passages: fc.Arbitrary<ForwardedRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  target: fc.webPath().map((path) => `/${path}`),
  headers: fc.array(header, { maxLength: 6 }),
  body: fc.string({ unit: 'binary-ascii' }),
})
const plain: ForwardedRequest = {
  method: 'POST',
  target: '/w1/store',
  headers: [
    ['Authorization', 'Bearer t'],
    ['host', 'lb'],
  ],
  body: '["SET","a","b"]',
}

const pair = (now = { ms: 1_000_000 }) => ({
  now,
  signer: new Signer(secret, 'one', () => now.ms),
  verifier: new Verifier(secret, 'two', () => now.ms),
})

test('a signed request is accepted once by the other node', () => {
  const { signer, verifier } = pair()
  fc.assert(
    fc.property(passages, (passage) => {
      const signed = signer.sign(passage, 'two')
      expect(verifier.verify(signed, passage)).toEqual({ headers: passage.headers })
      expect(verifier.verify(signed, passage)).toEqual({ wrong: 'the same request was received before' })
    }),
  )
})

test('any change of a signed request is detected', () => {
  const { signer, verifier } = pair()
  const changes: ((passage: ForwardedRequest) => ForwardedRequest)[] = [
    (passage) => ({ ...passage, method: `${passage.method}X` }),
    (passage) => ({ ...passage, target: `${passage.target}?` }),
    (passage) => ({ ...passage, body: `${passage.body} ` }),
    (passage) => ({ ...passage, headers: [...passage.headers, ['authorization', 'Bearer other']] }),
    (passage) => ({ ...passage, headers: passage.headers.slice(1) }),
  ]
  const withHeaders = passages.filter(({ headers }) => headers.some(([name]) => name === 'authorization'))
  fc.assert(
    fc.property(withHeaders, fc.constantFrom(...changes), (passage, change) => {
      expect(verifier.verify(signer.sign(passage, 'two'), change(passage))).toHaveProperty('wrong')
    }),
  )
  fc.assert(
    fc.property(passages, fc.nat(), fc.constantFrom('A', '1', ';', ',', 'é'), (passage, at, char) => {
      const signed = signer.sign(passage, 'two')
      const place = at % signed.length
      fc.pre(signed[place] !== char)
      expect(verifier.verify(signed.slice(0, place) + char + signed.slice(place + 1), passage)).toHaveProperty('wrong')
    }),
  )
})

test('a head is checked before its body has arrived, and does not count as the request', () => {
  const { signer, verifier } = pair()
  const signed = signer.sign(plain, 'two')
  const { body: _, ...head } = plain
  expect(verifier.wrongWith(signed, head)).toBeUndefined()
  expect(verifier.wrongWith('I am a node', head)).toContain('--cluster-secret')
  expect(verifier.wrongWith(signer.sign(plain, 'three'), head)).toContain('another node')
  expect(verifier.wrongWith(signed, { ...head, target: '/_control/w1/state' })).toBeDefined()
  expect(verifier.verify(signed, { ...plain, body: '[]' })).toHaveProperty('wrong')
  expect(verifier.verify(signed, plain)).toHaveProperty('headers')
})

test('headers that a proxy adds are ignored', () => {
  const { signer, verifier } = pair()
  const signed = signer.sign(plain, 'two')
  const added: ForwardedRequest = { ...plain, headers: [['X-Request-Id', '7'], ...plain.headers] }
  expect(verifier.verify(signed, added)).toEqual({ headers: plain.headers })
})

test('another secret, node or time is rejected', () => {
  const { signer, verifier, now } = pair()
  const stranger = new Signer('another secret, also 32 bytes ..', 'one', () => now.ms)
  expect(verifier.verify(stranger.sign(plain, 'two'), plain)).toMatchObject({
    wrong: expect.stringContaining('--cluster-secret'),
  })
  expect(verifier.verify(signer.sign(plain, 'three'), plain)).toMatchObject({
    wrong: expect.stringContaining('another node'),
  })
  const early = signer.sign(plain, 'two')
  now.ms += 61_000
  expect(verifier.verify(early, plain)).toMatchObject({ wrong: expect.stringContaining('61 s') })
  expect(verifier.verify(signer.sign(plain, 'two'), plain)).toEqual({ headers: plain.headers })
})

test('signed requests may overtake each other, and each one is accepted once', () => {
  const { signer, verifier } = pair()
  const all = Array.from({ length: 500 }, () => signer.sign(plain, 'two'))
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: 1 }), (some) => {
      const fresh = pair().verifier
      for (const one of some) expect(fresh.verify(one, plain)).toHaveProperty('headers')
      for (const one of some) expect(fresh.verify(one, plain)).toHaveProperty('wrong')
    }),
    { numRuns: runs(10, 10, 100) },
  )
  expect(verifier.verify(all[499]!, plain)).toHaveProperty('headers')
  expect(verifier.verify(all[0]!, plain)).toHaveProperty('headers')
})
