import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { defaultPolicy } from '../../src/policy/policy.js'
import { defaultBackoff, readWait } from '../../src/queue/delivery/retry.js'
import { parseRetryExpression } from '../../src/queue/settings/retry-expression.js'
import { shop, type World, world } from './world.js'

/** Returns the seconds between the attempts of one message whose destination responds 503 with these headers. */
async function gaps(
  headers: Record<string, string>,
  answer: Record<string, string> = {},
  at: World = world(),
): Promise<number[]> {
  at.destinations.respond(shop, { status: 503, headers: answer })
  await at.send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Retries': '6', ...headers } })
  await at.clock.drain()
  const times = at.traffic.ofType('attempt').map((attempt) => attempt.at)
  return times.slice(1).map((time, index) => (time - times[index]!) / 1000)
}

describe('the default backoff [queue.md 5.2]', () => {
  test('equals the published table: 12 s, 2 m 28 s, 30 m 8 s, 6 h 7 m 6 s, then 24 h', async () => {
    expect(await gaps({})).toEqual([12, 148, 1808, 22_026, 86_400, 86_400])
  })

  test('is min(86400, e^(2.5·n)) seconds, cut to whole seconds', () => {
    for (let n = 1; n < 20; n++) {
      expect(defaultBackoff(n, defaultPolicy)).toBe(Math.trunc(Math.min(86_400, Math.E ** (2.5 * n))) * 1000)
    }
  })

  test('can have the older factor 2 and exact values by policies', () => {
    expect(defaultBackoff(1, { ...defaultPolicy, backoffFactor: 2, roundBackoff: false })).toBe(7389)
  })
})

describe('retry-delay expressions [queue.md 5.2]', () => {
  test.each([
    ['1000', [1000, 1000, 1000]],
    ['1000 * (1 + retried)', [1000, 2000, 3000]],
    ['pow(2, retried) * 1000', [1000, 2000, 4000]],
    ['max(1000, pow(2, retried) * 100)', [1000, 1000, 1000]],
    ['min(1500, 1000 + retried * 1000)', [1000, 1500, 1500]],
    ['sqrt(1000000)', [1000]],
    ['abs(0 - 2000)', [2000]],
    ['floor(1999.9)', [1999]],
    ['ceil(1999.1)', [2000]],
    ['round(1999.5)', [2000]],
    ['exp(retried) * 1000', [1000, 2718.28, 7389.06]],
    ['10 - 4 - 3', [3]],
    ['100 / 10 / 5', [2]],
    ['2 + 3 * 4', [14]],
    ['-5 + 10', [5]],
    ['7 % 4', [3]],
    ['.5 * 4', [2]],
    ['1e3', [1000]],
    ['((((5))))', [5]],
    ['pow(2, max(1, min(3, retried)))', [2, 2, 4]],
  ])('evaluates %s', (text, values) => {
    const expression = parseRetryExpression(text)
    for (const [retried, value] of values.entries()) expect(expression.evaluate(retried)).toBeCloseTo(value, 1)
  })

  test.each([
    '',
    '1 +',
    '(1',
    '1)',
    'retries',
    'pow(1)',
    'pow(1,2,3)',
    'sqrt()',
    'sqrt(1, 2)',
    '1 2',
    '2 ** 3',
    'a',
    'constructor(1)',
    '1; 2',
    'retried()',
    '#',
  ])('rejects %j', (text) => {
    expect(() => parseRetryExpression(text)).toThrow(SyntaxError)
  })

  test('agree with JavaScript on random arithmetic', () => {
    const atom = fc.oneof(fc.integer({ min: 0, max: 999 }).map(String), fc.constant('retried'))
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        atom,
        fc
          .tuple(tie('tree'), fc.constantFrom(' + ', '-', '*', ' / ', '%'), tie('tree'))
          .map(([a, sign, b]) => `(${a})${sign}(${b})`),
        fc.tuple(tie('tree'), fc.constantFrom('+', ' - '), tie('tree')).map((parts) => parts.join(' ')),
        tie('tree').map((inner) => `-(${inner})`),
        fc
          .tuple(fc.constantFrom('floor', 'abs', 'ceil', 'sqrt'), tie('tree'))
          .map(([name, inner]) => `${name}(${inner})`),
        fc
          .tuple(fc.constantFrom('min', 'max', 'pow'), tie('tree'), tie('tree'))
          .map(([name, a, b]) => `${name}(${a}, ${b})`),
      ),
    }))
    fc.assert(
      fc.property(tree, fc.nat(5), (text, retried) => {
        const script = text.replace(/\b(floor|abs|ceil|sqrt|min|max|pow)\(/g, 'Math.$1(')
        const wanted = new Function('retried', `return ${script}`)(retried)
        expect(parseRetryExpression(text).evaluate(retried)).toEqual(wanted)
      }),
    )
  })

  test('are milliseconds, and `retried` is 0 before the first retry', async () => {
    expect(await gaps({ 'Service-Retries': '3', 'Service-Retry-Delay': '1000 * (1 + retried)' })).toEqual([1, 2, 3])
  })

  test('turn a negative result into 0, cap at a day, and use the default backoff for infinite results', async () => {
    expect(await gaps({ 'Service-Retries': '1', 'Service-Retry-Delay': '0 - 5' })).toEqual([0])
    expect(await gaps({ 'Service-Retries': '1', 'Service-Retry-Delay': '100000000' })).toEqual([86_400])
    expect(await gaps({ 'Service-Retries': '2', 'Service-Retry-Delay': '1 / retried' })).toEqual([12, 0.001])
    expect(await gaps({ 'Service-Retries': '1', 'Service-Retry-Delay': 'sqrt(0-1)' })).toEqual([12])
  })
})

describe('the delay that a destination asks for [queue.md 5.2]', () => {
  test.each([
    ['30', 30_000],
    ['0', 0],
    ['1.5', 1500],
    ['6m5s', 365_000],
    ['1h', 3_600_000],
    ['500ms', 500],
    ['1500us', 2],
    ['1500µs', 2],
    ['2000000ns', 2],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
    ['Wed, 02 Jan 2030 00:00:00 +0200', 79_200_000],
    ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
    ['Thu, 29 Feb 2032 12:00:00 GMT', 68_212_800_000],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    ['5 s', undefined],
    ['Tue, 41 Jan 2030 00:00:30 GMT', undefined],
  ])('is parsed: %j is %s ms', (value, wait) => {
    expect(readWait(value, Date.UTC(2030, 0, 1))).toBe(wait)
  })

  test('parses dates as JavaScript does', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
        (date) => {
          const text = date.toUTCString()
          expect(readWait(text, 0)).toBe(Math.max(0, Date.parse(text)))
        },
      ),
    )
  })

  test.each(['Retry-After', 'X-RateLimit-Reset', 'x-ratelimit-reset-requests', 'X-RateLimit-Reset-Tokens'])(
    'in %s overrides the backoff and the expression',
    async (header) => {
      expect(await gaps({ 'Service-Retries': '1' }, { [header]: '7' })).toEqual([7])
      expect(await gaps({ 'Service-Retries': '1', 'Service-Retry-Delay': '1000' }, { [header]: '7s' })).toEqual([7])
    },
  )

  test('yields to the expression when the policy requires it', async () => {
    const at = world({ policy: { retryHeadersOverrideExpression: false } })
    expect(await gaps({ 'Service-Retries': '1', 'Service-Retry-Delay': '1000' }, { 'Retry-After': '7' }, at)).toEqual([
      1,
    ])
  })

  test('is the first readable header in the documented order', async () => {
    const both = { 'X-RateLimit-Reset-Tokens': '4', 'X-RateLimit-Reset': '3', 'Retry-After': '2' }
    expect(await gaps({ 'Service-Retries': '1' }, both)).toEqual([2])
    expect(await gaps({ 'Service-Retries': '1' }, { ...both, 'Retry-After': 'soon' })).toEqual([3])
    expect(await gaps({ 'Service-Retries': '1' }, { 'Retry-After': 'soon' })).toEqual([12])
  })

  test('of 0 is immediate, of exactly a day is honored, and of more than a day is the backoff instead', async () => {
    expect(await gaps({ 'Service-Retries': '1' }, { 'Retry-After': '0' })).toEqual([0])
    expect(await gaps({ 'Service-Retries': '1' }, { 'Retry-After': '86400' })).toEqual([86_400])
    const at = world()
    expect(await gaps({ 'Service-Retries': '1' }, { 'Retry-After': '86401' }, at)).toEqual([12])
    expect(at.traffic.ofType('attempt')[1]!.waitReason).toMatch(/\b12 s .*default back-off.*Retry-After.*\b1d\b.*503/)
  })

  test('is ignored in a successful response', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(200, { headers: { 'retry-after': '5' } })])
    await at.send('POST', `/v2/publish/${shop}`)
    await at.clock.drain()
    expect(at.traffic.ofType('attempt')).toHaveLength(1)
  })
})
