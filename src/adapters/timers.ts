import type { ClockFollower } from '../kernel/clock.js'

/** Fake timers of Vitest (`vi`) and Jest (`jest`). */
export interface RunnerTimers {
  advanceTimersByTimeAsync(milliseconds: number): Promise<unknown>
  isFakeTimers?(): boolean
}

/** Fake timers of @sinonjs/fake-timers. */
export interface SinonClock {
  tickAsync(milliseconds: number): Promise<unknown>
}

/**
 * Adapts fake timers of the test runner to follow a sandbox's clock, so that a client's 2-second timeout fires after 2
 * seconds of virtual time. While the fake timers follow the clock, `clock.advance()` throws if no fake timers are
 * installed.
 * @param host `vi`, `jest`, or the clock that `install()` of @sinonjs/fake-timers returned
 * @throws TypeError when the argument has no fake timers
 * @example
 * vi.useFakeTimers({ now: sandbox.clock.now() })
 * const leave = sandbox.clock.follow(fakeTimers(vi))
 */
export function fakeTimers(host: RunnerTimers | SinonClock): ClockFollower {
  if (isObject(host) && 'tickAsync' in host) return followerOf(() => host as FakeClock, host.tickAsync.bind(host))
  if (!isObject(host) || !('advanceTimersByTimeAsync' in host)) {
    throw new TypeError(
      'fakeTimers(): the argument must be the fake timers of the test runner. Use fakeTimers(vi), fakeTimers(jest), or the clock that install() of @sinonjs/fake-timers returned.',
    )
  }
  const installed = (): FakeClock | undefined => (isFaking(host) ? installedClock() : undefined)
  return followerOf(installed, (by) => {
    // Without fake timers, Jest prints only a warning, and its time does not move.
    if (!isFaking(host)) throw new Error(notFaked)
    return host.advanceTimersByTimeAsync(by)
  })
}

/** Members of the fake clock that exist in all supported versions. */
export interface FakeClock extends SinonClock {
  readonly now: number
  /** A `Map`, or an object in older versions. In Jest, the `Map` belongs to another realm, so `instanceof` fails. */
  readonly timers?: ReadonlyMap<unknown, FakeTimer> | Readonly<Record<string, FakeTimer>>
  /** Moves time to the next timer and fires it. */
  next(): unknown
  tick(milliseconds: number): unknown
  setSystemTime(now?: number | Date): void
  uninstall(): unknown
}

interface FakeTimer {
  readonly callAt: number
  readonly createdAt: number
  /** Interval of a recurring timer in milliseconds. */
  readonly interval?: number
  readonly func?: unknown
}

/**
 * @param clock returns the installed fake clock, or `undefined` if its internal list of timers is unknown
 * @param move moves time by a duration and fires all timers that are due
 */
function followerOf(clock: () => FakeClock | undefined, move: (by: number) => Promise<unknown>): ClockFollower {
  const nextIn = (): number | undefined => {
    const fake = clock()
    if (fake === undefined) return undefined
    let first = Number.POSITIVE_INFINITY
    for (const { callAt } of timersOf(fake)) first = Math.min(first, callAt)
    return first === Number.POSITIVE_INFINITY ? undefined : Math.max(0, first - fake.now)
  }
  /**
   * Number of sockets and files that were open while no code was running. Idle sockets stay open, so only resources
   * beyond this number are in use.
   */
  let before = openResources()
  return {
    nextIn() {
      before = openResources()
      return nextIn()
    },
    setJustNow() {
      const fake = clock()
      // If sockets or files were opened since the latest call of `nextIn()`, running work may be waiting for them and
      // not for a fake timer.
      if (fake === undefined || openResources() > before) return undefined
      const fresh = [...timersOf(fake)].filter(({ createdAt }) => createdAt === fake.now)
      if (fresh.length === 0) return undefined
      const due = new Map(fresh.map((timer) => [timer, timer.callAt]))
      return () => {
        const left = new Set(timersOf(fake))
        return fresh.some((timer) => !left.has(timer) || timer.callAt !== due.get(timer))
      }
    },
    async advanceBy(by) {
      const fake = clock()
      const next = nextIn()
      if (fake === undefined || (next !== undefined && next < by)) await move(by)
      else if (next === by) fake.next()
      else fake.tick(by)
    },
  }
}

/** Returns the number of active resources that the host reports: sockets, files and DNS look-ups. */
export function openResources(): number {
  const { process } = globalThis as { process?: { getActiveResourcesInfo?(): readonly string[] } }
  const open = process?.getActiveResourcesInfo?.() ?? []
  return open.filter((kind) => !/^(Timeout|Immediate|MessagePort)$/.test(kind)).length
}

export function timersOf({ timers = {} }: FakeClock): Iterable<FakeTimer> {
  return typeof timers.values === 'function' ? timers.values() : Object.values(timers as Record<string, FakeTimer>)
}

/**
 * Returns the fake clock from the `clock` property that @sinonjs/fake-timers adds to the functions that it replaces.
 */
export function installedClock(): FakeClock | undefined {
  for (const replaced of [globalThis.setTimeout, globalThis.setInterval, globalThis.Date]) {
    if ('clock' in replaced) return replaced.clock as FakeClock
  }
  return undefined
}

const notFaked =
  "clock.follow(fakeTimers(…)): no fake timers are installed. Call vi.useFakeTimers({ now: sandbox.clock.now() }) or jest.useFakeTimers({ now: sandbox.clock.now(), doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }) first, or stop following with the function that follow() returned."

function isFaking(host: RunnerTimers): boolean {
  return host.isFakeTimers?.() ?? installedClock() !== undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
