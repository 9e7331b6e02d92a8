import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatFloat32 } from '../../../src/kernel/float32.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { runs } from '../../support/effort.js'

// VECTOR.QUERY against a scan that is written from docs/protocol/vector.md alone.

const metric = fc.constantFrom('COSINE', 'EUCLIDEAN', 'DOT')
// Few different numbers, so that scores are often equal; and arbitrary floats.
const element = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(-1, 0, 0.5, 1, 2) },
  { weight: 2, arbitrary: fc.float({ min: -10, max: 10, noNaN: true }) },
  { weight: 1, arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true }) },
)
const id = fc.oneof(fc.constantFrom('a', 'b', 'B', 'é', '10', '9', 'zz'), fc.string({ minLength: 1, maxLength: 3 }))

interface World {
  readonly dimension: number
  readonly metric: string
  /** Vectors to add, or IDs to delete if the vector is absent. */
  readonly writes: readonly (readonly [id: string, vector: readonly number[] | undefined])[]
  readonly query: readonly number[]
  readonly top: number
}

const world: fc.Arbitrary<World> = fc.integer({ min: 1, max: 7 }).chain((dimension) => {
  const vector = fc.array(element, { minLength: dimension, maxLength: dimension })
  return fc.record({
    dimension: fc.constant(dimension),
    metric,
    writes: fc.array(fc.tuple(id, fc.option(vector, { freq: 4, nil: undefined })), { maxLength: 40 }),
    query: vector,
    top: fc.integer({ min: 1, max: 12 }),
  })
})

function filled({ dimension, metric, writes }: World, options: Parameters<typeof createSandbox>[0] = {}): Sandbox {
  const sandbox = createSandbox(options)
  sandbox.store.run('VECTOR.CREATE', 'i', 'DIM', dimension, 'METRIC', metric)
  for (const [name, vector] of writes) {
    if (vector === undefined) sandbox.store.run('VECTOR.DEL', 'i', name)
    else sandbox.store.run('VECTOR.ADD', 'i', name, 'VALUES', dimension, ...vector.map(String))
  }
  return sandbox
}

function asked({ store }: Sandbox, { query, top, dimension }: World, profile = 'BALANCED'): readonly string[][] {
  return store.run(
    'VECTOR.QUERY',
    'i',
    'TOPK',
    top,
    'PROFILE',
    profile,
    'VALUES',
    dimension,
    ...query.map(String),
  ) as never
}

/** The remaining vectors, as 32-bit floats. */
function left({ writes }: World): Map<string, number[]> {
  const vectors = new Map<string, number[]>()
  for (const [name, vector] of writes) {
    if (vector === undefined) vectors.delete(name)
    else vectors.set(name, vector.map(Math.fround))
  }
  return vectors
}

function naiveScore(kind: string, a: readonly number[], b: readonly number[]): number {
  const sum = (of: (at: number) => number): number => a.reduce((total, _, at) => total + of(at), 0)
  const dot = sum((at) => a[at]! * b[at]!)
  if (kind === 'EUCLIDEAN') return Math.fround(1 / (1 + sum((at) => (a[at]! - b[at]!) * (a[at]! - b[at]!))))
  if (kind === 'DOT') return Math.fround(Math.min(1, Math.max(0, (1 + dot) / 2)))
  const lengths = Math.sqrt(sum((at) => a[at]! * a[at]!)) * Math.sqrt(sum((at) => b[at]! * b[at]!))
  return Math.fround((1 + (lengths === 0 ? 0 : dot / lengths)) / 2)
}

function naive(world: World): [string, number][] {
  const query = world.query.map(Math.fround)
  const bytes = (text: string): string => Buffer.from(text).toString('hex')
  return [...left(world)]
    .map(([name, vector]): [string, number] => [name, naiveScore(world.metric, query, vector)])
    .sort(([a, one], [b, other]) => other - one || (bytes(a) < bytes(b) ? -1 : 1))
    .slice(0, world.top)
}

const shown = (found: readonly (readonly unknown[])[]): [unknown, number][] =>
  found.map(([name, score]) => [name, Math.fround(Number(score))])

describe('VECTOR.QUERY', () => {
  it('returns what a naive scan returns', () => {
    fc.assert(
      fc.property(world, (world) => {
        expect(shown(asked(filled(world), world))).toEqual(naive(world))
      }),
      { numRuns: runs(100, 2_000, 20_000) },
    )
  })

  it('returns the same for every order of writes', () => {
    fc.assert(
      fc.property(world, fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (world, order) => {
        const rest = [...left(world)]
        const shuffled = rest
          .map((one, at) => ({ one, at: order[at] ?? at }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one)
        // Vectors that are added only to be deleted again, in between.
        const writes = shuffled.flatMap(([name, vector]): World['writes'][number][] => [
          [`gone ${name}`, vector],
          [name, vector],
          [`gone ${name}`, undefined],
        ])
        expect(asked(filled({ ...world, writes }), world)).toEqual(asked(filled(world), world))
      }),
      { numRuns: runs(50, 1_000, 10_000) },
    )
  })

  it('finds the nearest among more vectors than one block holds', () => {
    const dimension = 2_000
    const { store } = createSandbox()
    store.run('VECTOR.CREATE', 'i', 'DIM', dimension, 'METRIC', 'EUCLIDEAN')
    const base64 = (fill: number): string =>
      Buffer.from(new Float32Array(dimension).fill(fill).buffer).toString('base64')
    for (let at = 0; at < 100; at++) store.run('VECTOR.ADD', 'i', `v${at}`, 'BASE64-FP32', base64(at))
    for (let at = 0; at < 100; at += 3) store.run('VECTOR.DEL', 'i', `v${at}`)
    const found = store.run('VECTOR.QUERY', 'i', 'TOPK', 3, 'BASE64-FP32', base64(50)) as string[][]
    expect(found.map(([name]) => name)).toEqual(['v50', 'v49', 'v52'])
    for (let at = 0; at < 100; at++) store.run('VECTOR.DEL', 'i', `v${at}`)
    expect(store.run('VECTOR.COUNT', 'i')).toBe(0)
    store.run('VECTOR.ADD', 'i', 'again', 'BASE64-FP32', base64(1))
    expect((store.run('VECTOR.GET', 'i', 'again') as string[]).every((one) => one === '1')).toBe(true)
  })
})

describe('policy.vectorRecall', () => {
  const vectors = Array.from({ length: 400 }, (_, at): [string, number[]] => [`v${at}`, [at / 400, 1]])
  const many: World = { dimension: 2, metric: 'EUCLIDEAN', writes: vectors, query: [0, 1], top: 100 }
  const foundBy = (vectorRecall: number | { fast?: number }, profile = 'BALANCED', seed = 1, of = many): string[] =>
    asked(filled(of, { policy: { vectorRecall }, seed }), of, profile).map(([name]) => name!)

  it('misses neighbors, and returns the next ones', () => {
    const exact = foundBy(1)
    const some = foundBy(0.8)
    expect(some).toHaveLength(100)
    const kept = exact.filter((name) => some.includes(name)).length
    expect(kept).toBeGreaterThan(65)
    expect(kept).toBeLessThan(95)
    expect(foundBy(0)).toEqual([])
  })

  it('applies to one profile', () => {
    const policy = { fast: 0.5 }
    expect(foundBy(policy, 'PRECISE')).toEqual(foundBy(1))
    expect(foundBy(policy, 'FAST')).not.toEqual(foundBy(1))
  })

  it('is the same for the same seed, in any order of writes', () => {
    const reversed = { ...many, writes: [...vectors].reverse() }
    expect(foundBy(0.8)).toEqual(foundBy(0.8, 'BALANCED', 1, reversed))
    expect(foundBy(0.8)).not.toEqual(foundBy(0.8, 'BALANCED', 2))
  })

  it('misses other neighbors of another query', () => {
    const sandbox = filled(many, { policy: { vectorRecall: 0.8 } })
    const names = (query: number[]): string[] => asked(sandbox, { ...many, query }).map(([name]) => name!)
    expect(names([0, 1])).toEqual(names([0, 1]))
    expect(names([0, 1])).not.toEqual(names([-1, 1]))
  })
})

describe('formatFloat32()', () => {
  it('writes the shortest decimal that reads back to the same float', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatFloat32(value)
        expect(Math.fround(Number(text))).toBe(value === 0 ? 0 : value)
        const digits = text
          .replace(/e.*$/, '')
          .replace(/[-.]/g, '')
          .replace(/^0+|0+$/g, '').length
        for (let fewer = 1; fewer < digits; fewer++)
          expect(Math.fround(Number(value.toPrecision(fewer)))).not.toBe(value)
      }),
      { numRuns: runs(500, 20_000, 200_000) },
    )
    expect([0.1, 1 / 3, 16_777_216, -0, 1e-45].map((value) => formatFloat32(Math.fround(value)))).toEqual([
      '0.1',
      '0.33333334',
      '16777216',
      '0',
      '1e-45',
    ])
  })
})
