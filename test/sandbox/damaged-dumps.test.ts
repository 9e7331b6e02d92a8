import fc from 'fast-check'
import { createSandbox, type Sandbox, type SandboxDump } from 'stuntdouble'
import { beforeAll, describe, expect, test } from 'vitest'
import { isReplay, runs } from '../support/effort.js'
import { lived } from './lived.js'

// load() of a damaged dump either throws one message and changes nothing, or the sandbox works.

const start = Date.parse('2031-03-03T12:00:30Z')
let whole: string
beforeAll(async () => {
  const world = await lived(start)
  // An item for each list.
  world.queue.signingKeys.rotate()
  whole = JSON.stringify(world.dump())
})

type Node = Record<string, unknown>
interface Place {
  readonly in: Node
  readonly name: string
}

function placesOf(node: unknown): Place[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.keys(node).flatMap((name) => [{ in: node as Node, name }, ...placesOf((node as Node)[name])])
}

const deep = (): unknown => JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
const wrong: readonly (() => unknown)[] = [
  ...[null, true, 0, -1, 0.5, 3, 1e12, 1e15, 4e15, 5e15, 6e15, 9e15, -9e15, 1e308, 2 ** 53, 2 ** 64, -(2 ** 63)].map(
    (value) => () => value,
  ),
  ...['', 'x', '\n', '-1', '9999999999999999999', '\ud800', 'DELIVERED', 'RETRY', 'https://x.test/'].map(
    (value) => () => value,
  ),
  () => 'long '.repeat(50_000),
  () => [],
  () => ({}),
  () => ({ base64: '!' }),
  () => ({ base64: '/w==' }),
  deep,
]

const damage = fc.record({
  at: fc.nat(1_000_000),
  how: fc.oneof(
    { weight: 1, arbitrary: fc.constant('remove' as const) },
    { weight: 1, arbitrary: fc.constant('twice' as const) },
    { weight: 1, arbitrary: fc.constant('swap' as const) },
    { weight: 5, arbitrary: fc.nat(wrong.length - 1) },
  ),
  other: fc.nat(1_000_000),
})

function damaged(
  given: readonly { at: number; how: number | 'remove' | 'twice' | 'swap'; other: number }[],
): SandboxDump {
  const dump = JSON.parse(whole) as Node
  // State before the damaged dump was loaded.
  const places = placesOf(dump)
  const untouched = placesOf(JSON.parse(whole))
  for (const { at, how, other } of given) {
    const place = places[at % places.length]!
    if (how === 'remove') {
      if (Array.isArray(place.in)) place.in.splice(Number(place.name), 1)
      else delete place.in[place.name]
    } else if (how === 'twice') {
      if (Array.isArray(place.in)) place.in.push(place.in[Number(place.name)])
    } else if (how === 'swap') {
      const from = untouched[other % untouched.length]!
      place.in[place.name] = structuredClone(from.in[from.name])
    } else place.in[place.name] = wrong[how]!()
  }
  return dump as unknown as SandboxDump
}

function unlessTimeEnds({ message }: Error): void {
  expect(message).toMatch(/^clock\.drain\(\) stopped|is not a time/)
}

async function livesOn(world: Sandbox): Promise<void> {
  world.destinations.respond('https://*', 200)
  await world.clock.advance('1d').catch(unlessTimeEnds)
  // A schedule with times far in the future may fire too often for one drain.
  await world.clock.drain({ maxTimers: 2_000 }).catch(unlessTimeEnds)
  world.assertInvariants()
  world.load(JSON.parse(JSON.stringify(world.dump())))
  await world.clock.advance('1h').catch(unlessTimeEnds)
}

/** Everything that a rejected load could have changed. */
const stateOf = (world: Sandbox): unknown => [
  JSON.stringify(world.dump()),
  world.traffic.size,
  world.clock.pending.length,
]

describe('a damaged dump', () => {
  test('loads without counts of another format, regardless of their shape', () => {
    using world = createSandbox({ startAt: start })
    const dump = damaged([])
    for (const rings of [['no list'], [[60_000, 'no list']], [[60_000, { find: 1 }]], [null]]) {
      const counted = { ...dump.counted, tallies: ['of another version'], rings }
      try {
        world.load({ ...dump, counted } as never)
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        expect((error as Error).message).toMatch(/^This is not a dump of /)
      }
    }
  })

  test('throws one message, or the sandbox works', async () => {
    const mine = createSandbox({ startAt: start })
    mine.store.run('SET', 'k', 'mine')
    const before = stateOf(mine)
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (given) => {
        const dump = damaged(given)
        const world = createSandbox({ startAt: start })
        try {
          world.load(dump)
        } catch (error) {
          refused++
          expect(error).toBeInstanceOf(TypeError)
          expect((error as Error).message).toMatch(/^(?:load\(\): |This is not a dump of |The )[^\n]*$/)
          expect((error as Error).message.length).toBeLessThan(1_000)
          expect(() => mine.load(dump)).toThrow(TypeError)
          expect(stateOf(mine)).toEqual(before)
          return
        }
        await livesOn(world)
      }),
      { numRuns: runs(150, 150, 5000) },
    )
    if (!isReplay) expect(refused).toBeGreaterThan(20)
  })

  test('throws, or the sandbox works, if any value is a list nested 20,000 levels deep', async () => {
    const places = placesOf(JSON.parse(whole)).length
    for (let at = 0; at < places; at++) {
      const world = createSandbox({ startAt: start })
      try {
        world.load(damaged([{ at, how: wrong.indexOf(deep), other: 0 }]))
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        continue
      }
      await livesOn(world)
    }
  })

  test.each([
    ['queue.messages.0.due', 9e15],
    ['queue.messages.0.createdAt', 1e308],
    ['queue.flowControlKeys.0.ratePeriodStart', '1'],
    ['store.keys.0.expiresAt', 1e300],
    ['now', 9e15],
    ['loads', 2 ** 53],
    ['counted.rings.0.1.0.1.0', -1],
    ['access.tokens.standard', ''],
    ['functions.0', 7],
    ['queue.keys.current', ''],
  ])('throws with the path of an invalid %s', (place, value) => {
    const dump = JSON.parse(whole)
    const names = place.split('.')
    const last = names.pop()!
    names.reduce((node, name) => node[name], dump)[last] = value
    expect(() => createSandbox({ startAt: start }).load(dump)).toThrow(TypeError)
    expect(() => createSandbox({ startAt: start }).load(dump)).toThrow(
      `load() accepts only results of dump(). ${place}`,
    )
  })
})
