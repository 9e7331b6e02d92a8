import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ConnectionBroken } from '../../../../src/kernel/http.js'
import { type InputKind, ThrownError } from '../../../../src/kernel/input-journal.js'
import { SandboxDisposed } from '../../../../src/kernel/running-task.js'
import { decodeValue, encodeValue } from '../../src/cluster/journaled-values.js'

function moved<T>(value: T, kind: InputKind = 'direct'): T {
  return decodeValue(kind, JSON.parse(JSON.stringify([encodeValue(kind, value)]))[0]) as T
}

const anything = fc.anything({ withDate: true, withBigInt: true, withNullPrototype: false, withTypedArray: false })

test('encodeValue() and decodeValue() preserve any data', () => {
  const values = fc.oneof(anything, fc.uint8Array(), fc.dictionary(fc.constantFrom('\0', '__proto__', 'a'), anything))
  fc.assert(
    fc.property(values, (value) => {
      expect(moved([value])).toEqual([value])
    }),
  )
})

test('encodeValue() and decodeValue() preserve binary texts and lone surrogates', () => {
  const all = String.fromCharCode(...Array.from({ length: 256 }, (_, char) => char), 0xd800, 0xdfff)
  const request = { method: 'POST', url: 'http://a.test/', headers: [['a', all]], body: all }
  const back = JSON.parse(Buffer.from(JSON.stringify(encodeValue('request', request))).toString())
  expect(decodeValue('request', back)).toEqual(request)
})

test('encodeValue() and decodeValue() preserve the classes of errors', () => {
  const broken = moved(new ThrownError(new ConnectionBroken('ETIMEDOUT', 'too late')), 'settled')
  expect(broken).toBeInstanceOf(ThrownError)
  expect(broken.error).toBeInstanceOf(ConnectionBroken)
  expect(broken.error).toMatchObject({ code: 'ETIMEDOUT', message: 'too late' })
  expect((moved(new ThrownError(new SandboxDisposed()), 'returned') as ThrownError).error).toBeInstanceOf(
    SandboxDisposed,
  )
  const given = Object.assign(new TypeError('no', { cause: new Error('deep') }), { code: 7, bytes: new Uint8Array(2) })
  const back = moved(given)
  expect(back).toMatchObject({
    name: 'TypeError',
    message: 'no',
    code: 7,
    bytes: new Uint8Array(2),
    stack: given.stack,
  })
  expect((back.cause as Error).message).toBe('deep')
  expect(moved(new DOMException('gone', 'AbortError'))).toMatchObject({ name: 'AbortError', message: 'gone' })
})

test('encodeValue() and decodeValue() preserve undefined, which is not null', () => {
  expect(moved(undefined, 'returned')).toBeUndefined()
  expect(moved({ work: 1, value: undefined }, 'settled')).toEqual({ work: 1, value: undefined })
  expect(moved(null)).toBeNull()
})

test('encodeValue() replaces code by a function that throws the reason', () => {
  expect(() => moved(() => 200)()).toThrow(/function.*another node/)
  expect(() => encodeValue('acted', () => {})).toThrow('cannot be saved for other nodes')
})
