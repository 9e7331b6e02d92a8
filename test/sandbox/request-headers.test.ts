import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { runs } from '../support/effort.js'

/** Writes credentials as the traffic log must show them. */
function shown(name: string, value: string): [string, string] {
  const secret = ['authorization', 'cookie'].includes(name.toLowerCase())
  return [name, secret ? (value.startsWith('Bearer ') ? 'Bearer ***' : '***') : value]
}

test('the traffic log keeps the headers of each request without credentials, however much it resembles the one before', () => {
  const name = fc.constantFrom('authorization', 'Authorization', 'cookie', 'x-a', 'content-type')
  const header = fc.tuple(name, fc.constantFrom('Bearer a', 'Bearer b', 'plain', 'application/json'))
  const requests = fc.array(fc.array(header, { maxLength: 3 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(requests, (lists) => {
      using sandbox = createSandbox()
      // The caller uses one list for all requests and changes it between them.
      const headers: [string, string][] = []
      for (const list of lists) {
        headers.splice(0, headers.length, ...list)
        sandbox.exchange({ method: 'POST', url: `${sandbox.urls.store}/`, headers, body: () => '["PING"]' as Bytes })
      }
      expect(sandbox.traffic.ofType('request').map((entry) => entry.headers)).toEqual(
        lists.map((list) => list.map((one) => shown(...one))),
      )
    }),
    { numRuns: runs(100, 1000, 5000) },
  )
})

test('a request with another spelling of "Bearer", or more spaces, has the same token', () => {
  using sandbox = createSandbox()
  const { store } = sandbox.tokens
  for (const value of [`Bearer ${store}`, `bearer ${store}`, `BEARER\t${store}`, `  Bearer  \t ${store} `, store]) {
    const answer = sandbox.exchange({
      method: 'POST',
      url: `${sandbox.urls.store}/`,
      headers: [['authorization', value]],
      body: () => '["PING"]' as Bytes,
    })
    expect(answer, value).toMatchObject({ status: 200 })
  }
})
