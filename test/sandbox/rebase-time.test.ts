import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import type { SandboxDump } from '../../src/sandbox/sandbox-dump.js'
import { lived } from './lived.js'

// Two ways to the same state: the same calls a number of days later, and the dump of the first state moved by these
// days.

const day = 86_400_000
const start = Date.parse('2031-03-03T12:00:30Z')

/** IDs of dead letters contain their time and stay the same. */
const withoutLetterIds = (dump: SandboxDump): unknown => ({
  ...dump,
  queue: { ...dump.queue, deadLetters: dump.queue.deadLetters.map(({ id: _, ...letter }) => letter) },
})

describe('a dump with rebased times', () => {
  test.each([1, 3, 400])('equals that of a sandbox that ran %i days earlier', async (days) => {
    const late = await lived(start + days * day)
    const moved = createSandbox({ startAt: start })
    const by = days * day
    moved.load(late.dump(), { at: late.clock.now() - by, rebaseTime: true })
    const early = await lived(start)
    const twin = createSandbox({ startAt: start })
    twin.load(early.dump())
    expect(withoutLetterIds(moved.dump())).toEqual(withoutLetterIds(twin.dump()))
    for (const world of [moved, twin]) {
      world.destinations.respond('https://*.test/*', 200)
      await world.clock.advance('2d')
      world.assertInvariants()
    }
    const story = (world: Sandbox) => world.traffic.ofType('attempt').map(({ at, url }) => `${at} ${url}`)
    expect(story(moved)).toEqual(story(twin))
    expect(story(moved).length).toBeGreaterThan(200)
  })

  test('is not from the future after any shift, and works', async () => {
    const late = await lived(start)
    for (const by of [1, 59_999, 60_001, 7_777_777]) {
      const at = late.clock.now() - by
      const moved = createSandbox({ startAt: start })
      moved.load(late.dump(), { at, rebaseTime: true })
      expect(moved.clock.now()).toBe(at)
      moved.destinations.respond('https://*.test/*', 200)
      await moved.clock.advance('5h')
      moved.assertInvariants()
      moved.load(JSON.parse(JSON.stringify(moved.dump())))
    }
  })

  test('stays the same if it is not from the future', async () => {
    const world = await lived(start)
    const dump = world.dump()
    const [other, third] = [createSandbox({ startAt: start }), createSandbox({ startAt: start })]
    other.load(dump, { rebaseTime: true, at: dump.now + day })
    third.load(dump, { at: dump.now + day })
    expect(other.clock.now()).toBe(dump.now + day)
    expect(other.dump()).toEqual(third.dump())
  })
})
