import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { createRandom, type Random } from '../../src/kernel/random.js'
import type { PastInstant } from '../../src/sandbox/past.js'
import { runs } from '../support/effort.js'
import { acts, apps, appsIn, connectionsOf, course, register, traceOf } from './random-world.js'

interface Moment {
  readonly at: PastInstant
  readonly trace: string
  /** A state within a clock move cannot be requested, so it is compared at the target of the move. */
  readonly dump?: string
}

/** Forks, their forks and the forks of those continue in the same way, regardless of where they were created. */
async function expectForksOfForksToBeForks(sandbox: Sandbox, at: PastInstant, random: Random): Promise<void> {
  using first: Sandbox = await sandbox.fork({ at, destinations: appsIn(() => first) })
  using second: Sandbox = await first.fork({ destinations: appsIn(() => second) })
  expect(traceOf(second)).toBe(traceOf(first))
  const instant = first.clock.now() + random.int(60_000)
  for (const fork of [first, second]) {
    await fork.clock.advanceTo(instant)
    fork.queue.publish({ to: apps[3]!, body: 'xxx', retries: 1 })
    await fork.clock.advance('1500ms')
  }
  using fourth = await first.fork({ at: instant })
  using fifth = await fourth.fork({ at: instant })
  expect(traceOf(fifth)).toBe(traceOf(fourth))
  for (const fork of [first, second]) await fork.clock.advance('10m')
  expect(JSON.stringify(second.dump())).toBe(JSON.stringify(first.dump()))
  expect(course(second)).toEqual(course(first))
  using third: Sandbox = await second.fork({ at: '-10m', destinations: appsIn(() => third) })
  await third.clock.advance('10m')
  expect(JSON.stringify(third.dump())).toBe(JSON.stringify(first.dump()))
  expect(course(third)).toEqual(course(first))
}

const worlds = runs(5, 20, 200)

test.each(Array.from({ length: worlds }, (_, index) => index + 1))(
  'forks of random sandbox %i equal it at ten instants, and continue in the same way',
  async (seed) => {
    const random = createRandom(`fork ${seed}`)
    using sandbox = createSandbox({ seed, onWarning: () => {} })
    register(sandbox)
    sandbox.store.run('XGROUP', 'CREATE', 'stream', 'group', '$', 'MKSTREAM')
    const moments: Moment[] = []
    const leave = sandbox.clock.onMove((from) => {
      // When time leaves an instant, everything at it is over. A move that has just begun belongs to the next instant.
      if (random.chance(1, 5) && sandbox.traffic.last()?.type !== 'clock')
        moments.push({ at: from, trace: traceOf(sandbox) })
    })
    for (let step = 0; step < 40; step++) {
      await acts[random.int(acts.length)]!(sandbox, random)
      await sandbox.clock.settle()
      if (!random.chance(1, 4) || sandbox.traffic.last()?.at !== sandbox.clock.now()) continue
      const dump = JSON.stringify(sandbox.dump())
      moments.push({ at: { seq: sandbox.traffic.last()!.seq }, trace: traceOf(sandbox), dump })
      await sandbox.clock.advance('1ms')
    }
    // A fork continues without connections, so it differs from a sandbox that has them.
    for (const connection of connectionsOf(sandbox)) connection.close()
    await sandbox.clock.advance('1ms')
    const last = sandbox.clock.now()
    await sandbox.clock.advance('10m')
    leave()
    const ten = Array.from({ length: 10 }, () => moments[random.int(moments.length)]!)
    for (const { at, trace, dump } of ten) {
      using fork = await sandbox.fork({ at })
      expect(JSON.parse(traceOf(fork))).toEqual(JSON.parse(trace))
      expect(traceOf(fork)).toBe(trace)
      expect(JSON.parse(JSON.stringify(sandbox.asOf(at).traffic.toTrace().entries))).toEqual(JSON.parse(trace))
      if (dump === undefined) continue
      expect(fork.dump()).toEqual(JSON.parse(dump))
      expect(JSON.stringify(fork.dump())).toBe(dump)
    }
    for (const { at } of ten.slice(0, 3)) await expectForksOfForksToBeForks(sandbox, at, random)
    const later = moments.filter(({ at }) => typeof at === 'number' && at > last)
    for (let count = 0; count < 3 && later.length > 0; count++) {
      const { at } = later[random.int(later.length)]!
      const destinations = appsIn(() => fork)
      using fork: Sandbox = await sandbox.fork({ at, destinations })
      await fork.clock.advanceTo(sandbox.clock.now())
      expect(course(fork)).toEqual(course(sandbox))
    }
    // Reading finds expired keys, which is an input, so it comes last.
    expect(sandbox.asOf(sandbox.clock.now()).store.dump()).toEqual(sandbox.store.dump())
  },
)
