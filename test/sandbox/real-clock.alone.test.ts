import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { createSandbox as CreateSandbox, Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.js'
import { runs } from '../support/effort.js'
import { type HostClock, underHostClock } from '../support/host-clock.js'

// With `clock: 'real'`, time is system time. The tests control the host's clock.

const noon = Date.parse('2031-03-03T12:00:00Z')
const hour = 3_600_000
let host: HostClock
let createSandbox: typeof CreateSandbox
beforeEach(async () => {
  const loaded = await underHostClock(noon, () => import('../../src/sandbox/sandbox.js'))
  host = loaded.host
  createSandbox = loaded.createSandbox
})

const real = (options: SandboxOptions = {}): Sandbox => createSandbox({ clock: 'real', ...options })

/** Fires the host's timers up to an instant, and lets deliveries end. */
async function due(until: number): Promise<void> {
  for (let turn = 0; turn < 40; turn++) {
    await new Promise((resume) => setImmediate(resume))
    host.fire(until)
  }
  host.now = until
}

describe('now() with a real clock is system time', () => {
  test('from the start of any sandbox', () => {
    const early = real()
    host.now += 57 * 60_000
    const late = real()
    const dump = early.dump()
    host.now += 1_000
    early.reset()
    for (const world of [early, late]) expect(world.clock.now()).toBe(host.now)
    late.load(dump)
    expect(late.clock.now()).toBe(host.now)
    for (const { store } of [early, late]) {
      store.run('SET', 'k', 'v', 'EXAT', String(host.now / 1000 + 2))
      expect(store.run('TTL', 'k')).toBe(2)
    }
  })

  test('and never goes back in any sandbox of the process, even if the host does', async () => {
    const step = fc.record({
      by: fc.oneof(fc.integer({ min: -hour, max: hour }), fc.constantFrom(-1, 0, 1)),
      next: fc.constantFrom('nothing', 'reset', 'load', 'another', 'schedule'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const worlds = [real()]
        let highest = worlds[0]!.clock.now()
        for (const { by, next } of steps) {
          // Within a turn of the host, time does not move for a sandbox that received an input.
          await new Promise((resume) => setImmediate(resume))
          host.now += by
          highest = Math.max(highest, host.now)
          const [world] = worlds
          if (next === 'reset') world!.reset()
          else if (next === 'load') world!.load(world!.dump())
          else if (next === 'another') worlds.unshift(real())
          else if (next === 'schedule') world!.queue.publish({ to: 'https://shop.test/', delay: '1m' })
          for (const { clock } of worlds) expect(clock.now()).toBe(highest)
        }
        for (const world of worlds) world.dispose()
      }),
      { numRuns: runs(50, 50, 500) },
    )
  })

  test('and the time of signatures, also in forks', async () => {
    const world = real()
    const url = 'https://shop.test/'
    const claimsOf = ({ traffic }: Sandbox): unknown => {
      const signature = new Headers(traffic.last('attempt')!.headers as [string, string][]).get('upstash-signature')!
      const { iat, nbf, exp } = JSON.parse(Buffer.from(signature.split('.')[1]!, 'base64url').toString())
      return { iat, nbf, exp }
    }
    world.destinations.respond(url, 200)
    await due(noon + 90_000)
    world.queue.publish({ to: url })
    await due(noon + 91_000)
    // [queue.md: nbf is 0 since September 2024]
    const claims = { iat: noon / 1000 + 90, nbf: 0, exp: noon / 1000 + 390 }
    expect(claimsOf(world)).toEqual(claims)
    const fork = await world.fork()
    expect(claimsOf(fork)).toEqual(claims)
    await fork.clock.advance('1h')
    expect(claimsOf(await fork.fork())).toEqual(claims)
  })

  test('and fires a timer after sixty days, although no host timer can wait that long', async () => {
    const { clock } = real()
    const firedAt: number[] = []
    clock.schedule(noon + 60 * 24 * hour, 'in sixty days', () => void firedAt.push(clock.now()))
    while (firedAt.length === 0 && host.fire()) expect(host.now).toBeLessThanOrEqual(noon + 60 * 24 * hour)
    expect(firedAt).toEqual([noon + 60 * 24 * hour])
    expect(host.longest).toBeLessThan(2 ** 31)
  })

  test('and does not delay a timer by the time that the machine slept', () => {
    const { clock } = real()
    const firedAt: number[] = []
    clock.schedule(noon + hour, 'in an hour', () => void firedAt.push(clock.now()))
    host.now = noon + 2 * hour
    // Timers of a host that ignores sleep are due at most a minute later.
    host.fire()
    expect(firedAt).toEqual([noon + 2 * hour])
    expect(host.longest).toBeLessThanOrEqual(60_000)
  })
})

describe('a state loaded from disk with a real clock', () => {
  test('runs timers that became due in the meantime, in the order of their times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 700 }),
        async (minutes, passed) => {
          const before = real()
          for (const delay of minutes) before.queue.publish({ to: `https://shop.test/${delay}`, delay: `${delay}m` })
          const dump = before.dump()
          const began = host.now
          host.now += passed * 60_000
          const world = real()
          const met: { url: string; at: number }[] = []
          world.load(dump)
          world.destinations.on('https://shop.test/*', ({ url }) => {
            met.push({ url, at: world.clock.now() })
            return new Response()
          })
          await due(host.now)
          const sooner = minutes.filter((delay) => delay <= passed).sort((a, b) => a - b)
          expect(met).toEqual(
            sooner.map((delay) => ({ url: `https://shop.test/${delay}`, at: began + passed * 60_000 })),
          )
          world.assertInvariants()
          for (const one of [before, world]) one.dispose()
        },
      ),
      { numRuns: runs(30, 30, 300) },
    )
  })

  test.each([
    ['manual', 30],
    ['real', 30],
  ] as const)('counts missed fire times of a schedule once, on a clock that is %s', async (clock, minutes) => {
    const options: SandboxOptions = clock === 'real' ? { clock } : { clock, startAt: noon }
    const before = createSandbox(options)
    const headers = { authorization: `Bearer ${before.tokens.queue}`, 'Service-Cron': '*/5 * * * *' }
    await before.fetch(`${before.urls.queue}/v2/schedules/https://shop.test/`, { method: 'POST', headers })
    const dump = before.dump()
    host.now += minutes * 60_000 + 1
    const world = createSandbox(options)
    world.load(dump, clock === 'real' ? {} : { at: host.now })
    world.destinations.respond('https://shop.test/', 200)
    const { now } = host
    if (clock === 'real') await due(now)
    else await world.clock.advance(0)
    expect(world.traffic.ofType('attempt').map(({ at }) => at)).toEqual([now])
    if (clock === 'real') await due(now + 5 * 60_000 - 1)
    else await world.clock.advanceTo(now + 5 * 60_000 - 1)
    expect(
      world.traffic
        .ofType('attempt')
        .map(({ at }) => at)
        .slice(1),
    ).toHaveLength(1)
    world.assertInvariants()
  })

  test('keeps a fire time that was due when the state was written', async () => {
    const before = real()
    const headers = { authorization: `Bearer ${before.tokens.queue}`, 'Service-Cron': '0 * * * *' }
    await before.fetch(`${before.urls.queue}/v2/schedules/https://shop.test/`, { method: 'POST', headers })
    // The hour has passed, and the host has not fired its timer.
    host.now = noon + hour + 3
    const dump = JSON.parse(JSON.stringify(before.dump()))
    before.dispose()
    const world = real()
    world.load(dump)
    world.destinations.respond('https://shop.test/', 200)
    await due(host.now)
    expect(world.traffic.ofType('attempt')).toHaveLength(1)
  })

  test('throws if it is from the future, with both times, and changes nothing', () => {
    const ahead = createSandbox({ startAt: noon + hour }).dump()
    const world = real()
    world.store.run('SET', 'k', 'mine')
    expect(() => world.load(ahead)).toThrow(TypeError)
    expect(() => world.load(ahead)).toThrow(
      /future.*dump 2031-03-03T13:00:00\.000Z, real clock 2031-03-03T12:00:00\.000Z/,
    )
    expect(world.store.get('k')).toBe('mine')
    world.load(ahead, { rebaseTime: true })
    expect([world.clock.now(), world.store.get('k')]).toEqual([noon, null])
  })
})

describe('moving a real clock', () => {
  test.each([noon, '2030-01-01', new Date(noon)])('throws for startAt %j with the modes to use', (startAt) => {
    expect(() => real({ startAt })).toThrow(TypeError)
    expect(() => real({ startAt })).toThrow(/clock: 'manual' or 'auto'.*omit startAt/)
  })

  test('throws for a load at another instant', () => {
    const world = real()
    expect(() => world.load(world.dump(), { at: noon + hour })).toThrow(/\bat must be omitted.*clock: 'real'/)
  })
})
