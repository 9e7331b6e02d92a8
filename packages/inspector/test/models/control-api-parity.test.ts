import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import type { KeyChange } from '../../../../src/store/history/key-change.js'
import { controlOperations } from '../../../server/src/control/control.js'
import { type FaultKindInfo, faultOf, typedOf } from '../../src/models/fault-fields.js'
import { StoreModel } from '../../src/models/store-model.js'

/** Response of a control operation. */
function asked<T>(path: string, sandbox: Sandbox, query = ''): T | Promise<T> {
  const order = controlOperations.find((one) => one.path === path && one.method === 'GET')!
  return order.run(sandbox, undefined, { query: new URLSearchParams(query), params: {} } as never) as T | Promise<T>
}

const kinds = await asked<readonly FaultKindInfo[]>('/faults/catalog', createSandbox())

describe('the catalog of faults', () => {
  test('contains every fault with its fields', () => {
    expect(kinds.length).toBeGreaterThan(30)
    expect(kinds.find(({ kind }) => kind === 'status')?.fields).toContainEqual({ name: 'status', type: 'integer' })
  })

  test.each(kinds)('gives an initial form of $kind whose rule is valid at each of its points', (kind) => {
    for (const on of kind.points) {
      const { faults } = createSandbox()
      // An outage needs an end.
      const until = kind.kind === 'outage' ? { until: '5m' } : {}
      faults.add({ on, ...until, fault: faultOf(kind, typedOf(kind)) } as never)
      expect(faults.rules).toHaveLength(1)
    }
  })
})

test('the store model equals the dump of a sandbox after its changes, including long collections', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T00:00:00Z' })
  const { store, clock, traffic } = sandbox
  const taken: { seq: number; at: number; dump: readonly unknown[] }[] = []
  const run = (...words: (string | number)[]): void => {
    store.run(...words)
    taken.push({ seq: traffic.mark(), at: clock.now(), dump: shown(store.dump().keys) })
  }
  run('RPUSH', 'list', ...Array.from({ length: 200 }, (_, n) => n))
  run('HSET', 'hash', ...Array.from({ length: 300 }, (_, n) => n))
  for (let n = 0; n < 150; n++) {
    if (n % 3 === 0) run('LPUSH', 'list', `n${n}`)
    else if (n % 3 === 1) run('LSET', 'list', n, 'changed')
    else run('LREM', 'list', 1, n)
    if (n % 20 === 0) run('HSET', 'hash', `f${n}`, n)
    if (n === 70) run('HEXPIRE', 'hash', 30, 'FIELDS', 1, 'f40')
    if (n === 90) run('EXPIRE', 'list', 3600)
    if (n % 10 === 0) await clock.advance('10s')
  }
  const changes = await asked<readonly KeyChange[]>('/store/changes', sandbox)
  expect(changes.some(({ splice }) => splice !== undefined)).toBe(true)
  const model = new StoreModel()
  model.add(changes)
  const places = taken.map((_, n) => taken[(n * 61) % taken.length]!)
  for (const { seq, at, dump } of places) expect(shown([...model.at({ seq, at })].map(([, key]) => key))).toEqual(dump)
})

/** Fields of a hash and members of a set have no order. */
function shown(keys: readonly object[]): readonly unknown[] {
  const plain = keys as readonly { key: string; fields?: readonly unknown[] }[]
  return plain
    .map(({ fields, ...key }) => ({ ...key, ...(fields && { fields: fields.map(String).sort() }) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
}
