import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { createRandom } from '../../src/kernel/random.js'
import { defaultPolicy } from '../../src/policy/policy.js'
import { AccessControl } from '../../src/store/access/access-control.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { resp2, resp2Error } from '../../src/store/rest/rest-responses.js'
import { StoreEngine } from '../../src/store/store-engine.js'
import { runs } from '../support/effort.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { type ArrayPolicies, NaiveArray } from './array-naive.js'

// Random programs of array commands get the same replies as in a model with a map and loops. So do copies of the array.

const policies: fc.Arbitrary<ArrayPolicies> = fc.record({
  arrayScanReverse: fc.constantFrom('empty', 'error', 'reverse'),
  arrayLastItems: fc.constantFrom('length', 'values'),
  arrayRing: fc.constantFrom('inferred', 'stored'),
})

/** Small indexes, which often meet, and those at which a representation can go wrong. */
const index = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 9 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '4095',
      '4096',
      '9007199254740990',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '9223372036854775807',
      '9223372036854775808',
      '18446744073709551613',
      '18446744073709551614',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('18446744073709551615', '-1', 'x', '', '1.0', '99999999999999999999') },
)
const near = fc.nat({ max: 9 }).map(String)
const value = fc.constantFrom('a', 'b', 'ab', 'B', '1', '2', '-3', '7.5', '12', '', 'error: x')
const values = fc.array(value, { minLength: 1, maxLength: 7 })
const predicate = fc.oneof(
  fc.tuple(fc.constantFrom('EXACT', 'MATCH'), value),
  fc.tuple(fc.constant('GLOB'), fc.constantFrom('a*', '*b', '?', 'B', 'a?')),
  fc.tuple(fc.constant('RE'), fc.constantFrom('^a', 'b$', '[0-9]+', 'a|B', '^(a|b)*$', '^.{2}$')),
)
const limit = fc.integer({ min: 1, max: 3 }).map((count) => ['LIMIT', String(count)])
const grep = fc
  .tuple(
    fc.array(predicate, { minLength: 1, maxLength: 3 }),
    fc.subarray([['AND'], ['OR'], ['NOCASE'], ['WITHVALUES']]),
    fc.option(limit, { nil: [] }),
  )
  .map(([predicates, options, limit]) => [...predicates, ...options, limit].flat())
const bound = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('-', '+') }, { weight: 2, arbitrary: near })
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 7 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('18446744073709551614', '18446744073709551615', '9007199254740993') },
)
const operation = fc.oneof(
  fc.constantFrom('SUM', 'MIN', 'MAX', 'AND', 'OR', 'XOR', 'USED').map((name) => [name]),
  value.map((wanted) => ['MATCH', wanted]),
)

const command: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(index, values).map(([at, values]) => ['ARSET', at, ...values]) },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.tuple(index, value), { minLength: 1, maxLength: 4 })
      .map((pairs) => ['ARMSET', ...pairs.flat()]),
  },
  { weight: 4, arbitrary: values.map((values) => ['ARINSERT', ...values]) },
  { weight: 8, arbitrary: fc.tuple(size, values).map(([size, values]) => ['ARRING', size, ...values]) },
  { weight: 3, arbitrary: index.map((at) => ['ARSEEK', at]) },
  { weight: 3, arbitrary: fc.array(index, { minLength: 1, maxLength: 3 }).map((at) => ['ARDEL', ...at]) },
  { weight: 2, arbitrary: fc.tuple(index, index).map((range) => ['ARDELRANGE', ...range]) },
  { weight: 1, arbitrary: fc.tuple(near, near, near, near).map((ranges) => ['ARDELRANGE', ...ranges]) },
  { weight: 2, arbitrary: index.map((at) => ['ARGET', at]) },
  { weight: 2, arbitrary: fc.array(index, { minLength: 1, maxLength: 4 }).map((at) => ['ARMGET', ...at]) },
  { weight: 3, arbitrary: fc.tuple(near, near).map((range) => ['ARGETRANGE', ...range]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['ARGETRANGE', '18446744073709551614', '18446744073709551600'],
      ['ARGETRANGE', '9007199254740985', '9007199254741000'],
      ['ARGETRANGE', '0', '18446744073709551614'],
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(index, index, fc.option(limit, { nil: [] }))
      .map(([from, to, limit]) => ['ARSCAN', from, to, ...limit]),
  },
  { weight: 4, arbitrary: fc.tuple(bound, bound, grep).map(([from, to, grep]) => ['ARGREP', from, to, ...grep]) },
  {
    weight: 4,
    arbitrary: fc.tuple(index, index, operation).map(([from, to, operation]) => ['AROP', from, to, ...operation]),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat({ max: 12 }).map(String), fc.subarray(['REV']))
      .map(([count, rev]) => ['ARLASTITEMS', count, ...rev]),
  },
  { weight: 4, arbitrary: fc.constantFrom(['ARCOUNT'], ['ARLEN'], ['ARNEXT']) },
)

const program = fc.array(command, { minLength: 1, maxLength: 20 })

function shown(reply: RespReply): string {
  if ('error' in reply) return `-${reply.error}`
  if ('status' in reply) return `+${reply.status}`
  if ('integer' in reply) return reply.integer
  if ('nil' in reply) return 'nil'
  if ('bulk' in reply) return JSON.stringify(reply.bulk)
  return `[${reply.array.map(shown).join(', ')}]`
}

function storeWith(policies: Partial<ArrayPolicies>) {
  const store = new StoreEngine({
    clock: { now: () => 0 },
    random: createRandom(1),
    access: new AccessControl({ standard: 'standard', readOnly: 'read-only' }),
    policy: { ...defaultPolicy, ...policies },
    docs: 'docs.test',
  })
  const raw = (argv: readonly string[]): string => {
    try {
      return resp2(store.execute(argv as readonly string[] as readonly Bytes[]))
    } catch (error) {
      if (error instanceof ReplyError) return resp2Error(error)
      throw error
    }
  }
  const run = (...argv: readonly string[]): string => shown(decodeReply(raw(argv)))
  const ofArray = (key: string, [name, ...words]: readonly string[]): string => run(name!, key, ...words)
  return { run, raw, ofArray }
}

test('random programs get the replies of a model, and so do all copies of the array', () => {
  fc.assert(
    fc.property(policies, program, program, (policies, before, after) => {
      const { run, raw, ofArray } = storeWith(policies)
      const model = new NaiveArray(policies)
      for (const command of before) expect(ofArray('k', command), command.join(' ')).toBe(model.run(command))
      const keys = ['k']
      expect(run('EXISTS', 'k')).toBe(model.slots.size > 0 ? '1' : '0')
      if (model.slots.size > 0) {
        expect(run('TYPE', 'k')).toBe('+array')
        expect(run('COPY', 'k', 'copied')).toBe('1')
        const payload = (decodeReply(raw(['DUMP', 'k'])) as { bulk: string }).bulk
        expect(run('RESTORE', 'restored', '0', payload)).toBe('+OK')
        expect(run('RESTORE', 'other', '0', payload)).toBe('+OK')
        expect(run('RENAME', 'other', 'renamed')).toBe('+OK')
        keys.push('copied', 'restored', 'renamed')
      }
      for (const command of after) {
        const expected = model.run(command)
        for (const key of keys) expect(ofArray(key, command), `${key}: ${command.join(' ')}`).toBe(expected)
      }
    }),
    { numRuns: runs(800, 4000, 60_000) },
  )
})

test('forks, loaded dumps and past states have the array of random programs', async () => {
  await fc.assert(
    fc.asyncProperty(program, program, async (before, after) => {
      using sandbox = createSandbox({ onWarning: () => {} })
      const run = (target: Pick<typeof sandbox, 'store'>, [name, ...words]: readonly string[]): unknown => {
        try {
          return target.store.run(name!, 'k', ...words)
        } catch (error) {
          return String(error)
        }
      }
      for (const command of before) run(sandbox, command)
      const then = sandbox.store.dump()
      const seq = sandbox.traffic.last()!.seq
      using fork = await sandbox.fork()
      using loaded = createSandbox({ onWarning: () => {} })
      loaded.store.load(JSON.parse(JSON.stringify(then)))
      for (const command of after) {
        const reply = run(sandbox, command)
        expect(run(fork, command)).toEqual(reply)
        expect(run(loaded, command)).toEqual(reply)
      }
      expect(fork.store.dump()).toEqual(sandbox.store.dump())
      expect(loaded.store.dump()).toEqual(sandbox.store.dump())
      expect(sandbox.asOf({ seq }).store.dump()).toEqual(then)
    }),
    { numRuns: runs(30, 200, 2000) },
  )
})
