import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { place, run as runCommand } from '../../packages/server/test/command-line.js'
import { createSandbox, type Traffic } from '../../src/index.js'
import { diffTraces, formatTraceDiff, loadTrace } from '../../src/report/index.js'
import { askQueue, orders, orderWorld } from './worlds.js'

const read = (traffic: Traffic) => loadTrace(JSON.stringify(traffic))

interface Story {
  readonly status?: number
  readonly body?: object
  readonly extra?: boolean
  readonly startAt?: string
}

async function world({
  status = 500,
  body = { id: 42 },
  extra = false,
  startAt = '2030-01-01T09:00:00Z',
}: Story = {}): Promise<Traffic> {
  const sandbox = createSandbox({ seed: 7, startAt })
  let refusals = 1
  sandbox.destinations.respond(orders, () => (refusals-- > 0 ? status : 200))
  sandbox.store.run('SET', 'stock', 5)
  if (extra) sandbox.queue.publish({ to: 'https://shop.test/extra', delay: '1d' })
  await askQueue(sandbox, `/v2/publish/${orders}`, { body: JSON.stringify(body) })
  await sandbox.clock.advance('1h')
  return read(sandbox.traffic)
}

describe('diffTraces()', () => {
  test('reports equal traces for the same sandbox', async () => {
    const difference = diffTraces(await world(), await world())
    expect(difference).toEqual({ equal: true, context: [], changes: [] })
    expect(formatTraceDiff(difference, await world(), await world())).toBe('The traces are equal.')
  })

  test('ignores another start date', async () => {
    expect(diffTraces(await world(), await world({ startAt: '2030-01-02T09:00:00Z' })).changes).toEqual([])
  })

  test('reports changed fields by their path', async () => {
    const [before, after] = [await world(), await world({ status: 503, body: { id: 43 } })]
    const difference = diffTraces(before, after)
    expect(difference.equal).toBe(false)
    const changed = difference.changes.map((change) => [
      change.kind,
      'after' in change ? change.after.type : '',
      'fields' in change ? change.fields.map(({ path }) => path) : [],
    ])
    expect(changed).toEqual([
      ['changed', 'request', ['body.id']],
      ['changed', 'published', ['body.id']],
      ['changed', 'attempt', expect.arrayContaining(['body.id', 'outcome.status', 'outcome.error'])],
      ['changed', 'attempt', expect.arrayContaining(['body.id'])],
    ])
    const told = formatTraceDiff(difference, before, after)
    expect(told).toMatch(/^~ #\d+ 09:00:00\.000 POST .* → 200$/m)
    expect(told).toContain('    body.id: 42 → 43')
    expect(told).toContain('    outcome.status: 500 → 503')
    expect(told).toMatch(/0 removed, 0 added, 4 changed$/)
  })

  test('reports one added entry, although all later IDs and numbers differ', async () => {
    const [before, after] = [await world(), await world({ extra: true })]
    const added = diffTraces(before, after)
    expect(added.changes).toMatchObject([
      { kind: 'added', after: { type: 'published', url: 'https://shop.test/extra' } },
    ])
    expect(formatTraceDiff(added, before, after)).toMatch(
      /^\+ #\d+ 09:00:00\.000 published msg_\S+ to https:\/\/shop\.test\/extra/,
    )
    const removed = diffTraces(after, before)
    expect(removed.changes).toMatchObject([{ kind: 'removed', before: { url: 'https://shop.test/extra' } }])
  })

  test('reports another seed, but not every ID', async () => {
    const [one, other] = await Promise.all(
      [7, 8].map(async (seed) => read((await orderWorld({ seed })).sandbox.traffic)),
    )
    const difference = diffTraces(one!, other!)
    expect(difference.context).toEqual([{ path: 'seed', before: 7, after: 8 }])
    expect(difference.changes).toEqual([])
  })

  test('reports an ID that refers to another message', async () => {
    const trace = JSON.parse(JSON.stringify((await orderWorld()).sandbox.traffic))
    const swapped = structuredClone(trace)
    const attempts = swapped.entries.filter(
      ({ type, kind }: { type: string; kind: string }) => type === 'attempt' && kind === 'message',
    )
    const others = new Set(attempts.map(({ messageId }: { messageId: string }) => messageId))
    expect(others.size).toBe(2)
    attempts[0].messageId = [...others].find((id) => id !== attempts[0].messageId)
    expect(diffTraces(loadTrace(trace), loadTrace(swapped)).changes).toMatchObject([
      { kind: 'changed', fields: [{ path: 'messageId' }] },
    ])
  })

  test('compares traces without common entries, and empty ones', async () => {
    const [empty, full] = [read(createSandbox({ seed: 7 }).traffic), await world()]
    expect(diffTraces(empty, empty).equal).toBe(true)
    expect(diffTraces(empty, full).changes.map(({ kind }) => kind)).toEqual(full.entries.map(() => 'added'))
    expect(diffTraces(full, empty).changes.map(({ kind }) => kind)).toEqual(full.entries.map(() => 'removed'))
  })

  test('agrees with a simple implementation of the longest common subsequence', () => {
    let state = 1
    const below = (most: number): number => {
      state = (state * 1103515245 + 12345) % 2147483648
      return Math.floor((state / 2147483648) * most)
    }
    for (let round = 0; round < 200; round++) {
      const [left, right] = [0, 1].map(() => Array.from({ length: below(12) }, () => 'abc'[below(3)]!))
      const view = (keys: readonly string[]) =>
        loadTrace({
          format: 'stuntdouble/trace',
          version: 1,
          entries: keys.map((key, index) => ({ type: 'keyspace', seq: index + 1, at: 0, event: 'set', key })),
        })
      const { changes } = diffTraces(view(left!), view(right!))
      const length = Array.from({ length: left!.length + 1 }, () => new Array<number>(right!.length + 1).fill(0))
      for (let i = 1; i <= left!.length; i++)
        for (let j = 1; j <= right!.length; j++)
          length[i]![j] =
            left![i - 1] === right![j - 1]
              ? length[i - 1]![j - 1]! + 1
              : Math.max(length[i - 1]![j]!, length[i]![j - 1]!)
      const common = length[left!.length]![right!.length]!
      expect(changes.filter(({ kind }) => kind === 'removed')).toHaveLength(left!.length - common)
      expect(changes.filter(({ kind }) => kind === 'added')).toHaveLength(right!.length - common)
    }
  })
})

describe('stuntdouble diff', () => {
  const file = (name: string) => join(place, name)
  beforeAll(async () => {
    writeFileSync(file('a.json'), JSON.stringify(await world()))
    writeFileSync(file('b.json'), JSON.stringify(await world({ status: 503 })))
    writeFileSync(file('other.json'), '{"format":"something else"}')
  })
  const run = (...args: string[]) => runCommand('diff', ...args)

  test('exits with 0 for equal traces, and with 1 and the changes otherwise', async () => {
    expect(await run(file('a.json'), file('a.json'))).toEqual({ code: 0, out: 'The traces are equal.\n', err: '' })
    const { code, out, err } = await run(file('a.json'), file('b.json'))
    expect([code, err]).toEqual([1, ''])
    expect(out).toContain('outcome.status: 500 → 503')
  })

  test('prints the same as JSON', async () => {
    const { code, out } = await run('--json', file('a.json'), file('b.json'))
    expect(code).toBe(1)
    const { equal, context, changes } = JSON.parse(out)
    expect([equal, context]).toEqual([false, []])
    expect(changes.map(({ kind, type }: { kind: string; type: string }) => [kind, type])).toEqual([
      ['changed', 'attempt'],
      ['changed', 'attempt'],
    ])
    expect(changes[0].fields).toContainEqual({ path: 'outcome.status', before: 500, after: 503 })
    expect(changes[1].fields).toMatchObject([{ path: 'waitReason' }])
  })

  test('exits with 2 and a message for a missing or invalid file', async () => {
    expect(await run(file('a.json'), file('other.json'))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^stuntdouble: .*other\.json: This is not a valid trace/),
    })
    expect(await run(file('a.json'), file('none.json'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('The file does not exist.'),
    })
    expect(await run(file('a.json'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('stuntdouble diff [OPTIONS] A.json B.json'),
    })
    expect(await run('-', '-')).toMatchObject({ code: 2 })
  })
})
