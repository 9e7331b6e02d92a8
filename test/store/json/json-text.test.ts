import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bytes, latin1, text, utf8 } from '../../../src/kernel/bytes.js'
import { addNumbers, floatText, multiplyNumbers } from '../../../src/store/values/json-number.js'
import { formatJson, JsonTextError, parseJson } from '../../../src/store/values/json-text.js'
import { depthOf, Float, type Json, maxDepth, typeName } from '../../../src/store/values/json-value.js'
import { runs } from '../../support/effort.js'

/** Returns the plain JavaScript value, for comparison with `JSON.parse`. */
function plain(value: Json): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [text(key), plain(member)]))
  if (value instanceof Float) return value.value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' ? text(value) : value
}

const roundTrip = (source: string): string => text(formatJson(parseJson(utf8(source))))

describe('parseJson() and formatJson()', () => {
  it.each([
    ['1', '1'],
    ['1.0', '1.0'],
    ['-0', '-0'],
    ['1.50', '1.50'],
    ['1e3', '1e3'],
    ['1E+3', '1e3'],
    ['1.6E+308', '1.6e308'],
    ['-2.50e+7', '-2.50e7'],
    ['1E-7', '1e-7'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551615', '18446744073709551615'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    [' [ 1 , 2 ] ', '[1,2]'],
    ['{"b":1,"2":2,"1":3,"a":4}', '{"b":1,"2":2,"1":3,"a":4}'],
    ['{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'],
    ['{"__proto__":1,"constructor":2}', '{"__proto__":1,"constructor":2}'],
    ['"é€😀"', '"é€😀"'],
    ['"\\u00e9\\u20ac\\ud83d\\ude00"', '"é€😀"'],
    ['"\\/\\u002f"', '"//"'],
    ['"\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\"', '"\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\"'],
    ['"\u007f<>&\u2028"', '"\u007f<>&\u2028"'],
    ['"\\ud800"', '"\ufffd"'],
    ['"\\ud800\\u0041"', '"\ufffdA"'],
    ['"\\udc00x"', '"\ufffdx"'],
    ['true', 'true'],
    ['null', 'null'],
    ['[]', '[]'],
    ['{}', '{}'],
    ['""', '""'],
    ['{"":{"":[]}}', '{"":{"":[]}}'],
  ])('preserve %s', (source, expected) => {
    expect(roundTrip(source)).toBe(expected)
  })

  it.each([
    ['', 'unexpected end', 0],
    [' ', 'unexpected end', 1],
    ['{', 'unexpected end', 1],
    ['[1', 'unexpected end', 2],
    ['[1,', 'unexpected end', 3],
    ['[1,]', 'unexpected "]"', 3],
    ['[,1]', 'unexpected ","', 1],
    ['{"a"}', 'unexpected "}"', 4],
    ['{"a":}', 'unexpected "}"', 5],
    ['{"a":1,}', 'unexpected "}"', 7],
    ["{'a':1}", 'unexpected "\'"', 1],
    ['{a:1}', 'unexpected "a"', 1],
    ['1 2', 'unexpected "2"', 2],
    ['01', 'unexpected "0"', 0],
    ['-', 'unexpected end', 1],
    ['1.', 'unexpected end', 2],
    ['.5', 'unexpected "."', 0],
    ['1e', 'unexpected end', 2],
    ['+1', 'unexpected "+"', 0],
    ['NaN', 'unexpected "N"', 0],
    ['Infinity', 'unexpected "I"', 0],
    ['1e999', 'number out of range', 0],
    ['tru', 'unexpected "t"', 0],
    ['truex', 'unexpected "x"', 4],
    ['"a', 'unexpected end', 2],
    ['"\n"', 'unexpected "\\n"', 1],
    ['"\\x41"', 'unexpected "x"', 2],
    ['"\\u12g4"', 'unexpected', 3],
    ['"a\\nb\tc"', 'unexpected "\\t"', 5],
    ['hello', 'unexpected "h"', 0],
    ['/* c */ 1', 'unexpected "/"', 0],
  ])('reject %j', (source, message, at) => {
    const error = failure(source)
    expect(error.message).toContain(message)
    expect([error.at, error.reason]).toEqual([at, 'syntax'])
  })

  it('reject bytes that are not UTF-8', () => {
    expect(() => parseJson(latin1('"\xff"'))).toThrow('invalid UTF-8')
  })

  it('accept at most 128 levels, for any number of brackets', () => {
    const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)
    expect(depthOf(parseJson(utf8(nested(maxDepth, '[', ']'))))).toBe(128)
    expect(failure(nested(maxDepth + 1, '[', ']')).reason).toBe('depth')
    expect(failure('['.repeat(1_000_000)).reason).toBe('depth')
    expect(failure('{"a":'.repeat(1_000_000)).reason).toBe('depth')
  })

  it.each([
    ['null', 'null'],
    ['true', 'boolean'],
    ['"x"', 'string'],
    ['1', 'integer'],
    ['-1', 'integer'],
    ['18446744073709551615', 'integer'],
    ['18446744073709551616', 'number'],
    ['1.0', 'number'],
    ['1e2', 'number'],
    ['[]', 'array'],
    ['{}', 'object'],
  ])('parse %s as type %s', (source, type) => {
    expect(typeName(parseJson(utf8(source)))).toBe(type)
  })

  it('agree with JSON.parse on every value', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (source) => {
        // An unpaired surrogate cannot be encoded in UTF-8: the double converts it to U+FFFD.
        expect(plain(parseJson(utf8(source)))).toEqual(wellFormed(JSON.parse(source)))
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })

  it('agree with JSON.parse on which texts are JSON', () => {
    const piece = fc.constantFrom(...'[]{},:"\\ -+.eE01u9n', 'true', 'null', '"a"', '\\u0041', '\n', '1.5', '{"a":1}')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const source = pieces.join('')
        expect(accepted(() => parseJson(utf8(source)))).toBe(accepted(() => JSON.parse(source)))
      }),
      { numRuns: runs(3000, 3000, 30_000) },
    )
  })

  it('write what JSON.stringify writes, compact and indented', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('  ', '\t', '    '), (source, indent) => {
        const [value, ours] = [wellFormed(JSON.parse(source)), parseJson(utf8(source))]
        // Compared for values whose numbers JavaScript formats in the same way and whose keys it does not reorder.
        fc.pre(JSON.stringify(value) === text(formatJson(ours)))
        const layout = { indent: latin1(indent), newline: latin1('\n'), space: latin1(' ') }
        expect(text(formatJson(ours, layout))).toBe(JSON.stringify(value, null, indent))
      }),
      { numRuns: runs(300, 300, 3000) },
    )
  })

  it.each([
    ['-', '', '', '{-"a":[--1,--2-],-"b":{}}'],
    ['', '\n', '', '{\n"a":[\n1,\n2\n],\n"b":{}\n}'],
    ['', '', ' ', '{"a": [1,2],"b": {}}'],
    ['\t', '\n', ' ', '{\n\t"a": [\n\t\t1,\n\t\t2\n\t],\n\t"b": {}\n}'],
  ])('formats with indent %j, newline %j, space %j', (indent, newline, space, expected) => {
    const layout = { indent: latin1(indent), newline: latin1(newline), space: latin1(space) }
    expect(formatJson(parseJson(utf8('{"a":[1,2],"b":{}}')), layout)).toBe(expected)
  })
})

describe('addNumbers() and multiplyNumbers()', () => {
  const number = (source: string) => parseJson(utf8(source)) as number | bigint | Float
  const shown = (value: number | bigint | Float | undefined) => (value === undefined ? undefined : formatJson(value))

  it.each([
    ['1', '2', '3'],
    ['1', '-1', '0'],
    ['1', '1.5', '2.5'],
    ['1', '1.0', '2.0'],
    ['1.5', '0.5', '2.0'],
    ['0.1', '0.2', '0.30000000000000004'],
    ['9007199254740991', '1', '9007199254740992'],
    ['9007199254740992', '1', '9007199254740993'],
    ['9223372036854775806', '1', '9223372036854775807'],
    ['9223372036854775807', '1', '9223372036854775808'],
    ['18446744073709551614', '1', '18446744073709551615'],
    ['18446744073709551615', '-1', '18446744073709551614'],
    ['18446744073709551615', '-9223372036854775808', '9223372036854775807'],
    ['18446744073709551615', '1', '1.8446744073709552e19'],
    ['-9223372036854775808', '-1', '-9.223372036854776e18'],
    ['1e308', '1e308', undefined],
  ])('compute %s + %s = %s', (a, b, sum) => {
    expect(shown(addNumbers(number(a), number(b)))).toBe(sum)
    expect(shown(addNumbers(number(b), number(a)))).toBe(sum)
  })

  it.each([
    ['6', '7', '42'],
    ['-1', '0', '0'],
    ['2', '0.5', '1.0'],
    ['3', '1.5', '4.5'],
    ['3037000500', '3037000500', '9223372037000250000'],
    ['4294967295', '4294967297', '18446744073709551615'],
    ['4294967296', '4294967296', '1.8446744073709552e19'],
    ['-4294967296', '4294967296', '-1.8446744073709552e19'],
    ['3037000499', '3037000499', '9223372030926249001'],
    ['4611686018427387904', '2', '9223372036854775808'],
    ['4611686018427387904', '-2', '-9223372036854775808'],
    ['1e200', '1e200', undefined],
  ])('compute %s × %s = %s', (a, b, product) => {
    expect(shown(multiplyNumbers(number(a), number(b)))).toBe(product)
    expect(shown(multiplyNumbers(number(b), number(a)))).toBe(product)
  })

  it('keep integers exact while they fit into 64 bits, signed or unsigned', () => {
    const [least, most] = [-(2n ** 63n), 2n ** 64n - 1n]
    const whole = fc.oneof(
      fc.bigInt({ min: least, max: most }),
      fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n }),
      fc.constantFrom(least, -1n, 0n, 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, most),
    )
    fc.assert(
      fc.property(whole, whole, (a, b) => {
        const [x, y] = [number(String(a)), number(String(b))]
        const sum = addNumbers(x, y)
        expect(sum instanceof Float).toBe(a + b < least || a + b > most)
        if (!(sum instanceof Float)) expect(shown(sum)).toBe(String(a + b))
        const product = multiplyNumbers(x, y)
        expect(product instanceof Float).toBe(a * b < least || a * b > most)
        if (!(product instanceof Float)) expect(shown(product)).toBe(String(a * b))
      }),
    )
  })

  // Format of serde_json: always a point or an exponent, the exponent from 1e16 up and below 1e-5. [RedisJSON src]
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-12.5, '-12.5'],
    [1.234, '1.234'],
    [123456789012345680, '1.2345678901234568e17'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e16'],
    [1.5e16, '1.5e16'],
    [1e21, '1e21'],
    [0.00001, '0.00001'],
    [0.000001, '1e-6'],
    [1.23e-7, '1.23e-7'],
    [5e-324, '5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e308'],
  ])('format %d as %s', (value, expected) => {
    expect(floatText(value)).toBe(expected)
  })

  it('format doubles so that they parse to the same value, as floats', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const read = parseJson(floatText(value))
        expect(read).toBeInstanceOf(Float)
        expect(Object.is((read as Float).value, value)).toBe(true)
      }),
    )
  })
})

function failure(source: string): JsonTextError {
  try {
    parseJson(utf8(source) as Bytes)
  } catch (error) {
    if (error instanceof JsonTextError) return error
    throw error
  }
  throw new Error(`${source} was accepted`)
}

function accepted(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return replaced(value)
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replaced(key), wellFormed(member)]))
}

function replaced(value: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(value))
}
