import type { ClockFollower } from '../kernel/clock.js'

/** Fake timers as `vi` of Vitest and `jest` of Jest have them. */
export interface RunnerTimers {
  advanceTimersByTimeAsync(milliseconds: number): Promise<unknown>
  isFakeTimers?(): boolean
}

/** Fake timers as @sinonjs/fake-timers has them. */
export interface SinonClock {
  tickAsync(milliseconds: number): Promise<unknown>
}

/**
 * Fake timers of the host, made to follow a sandbox's clock: the client's own two-second timeout then fires when two
 * seconds of virtual time have passed.
 * @param host `vi`, `jest`, or the clock that `install()` of @sinonjs/fake-timers returned
 * @throws TypeError for anything else. While following, `advance` fails when the timers are not faked.
 * @example
 * vi.useFakeTimers({ now: sandbox.clock.now() })
 * const leave = sandbox.clock.follow(fakeTimers(vi))
 */
export function fakeTimers(host: RunnerTimers | SinonClock): ClockFollower {
  if (isObject(host) && 'tickAsync' in host) return followerOf(() => host as FakeClock, host.tickAsync.bind(host))
  if (!isObject(host) || !('advanceTimersByTimeAsync' in host)) {
    throw new TypeError(
      'fakeTimers() takes the fake timers of the test runner: fakeTimers(vi), fakeTimers(jest), or the clock that install() of @sinonjs/fake-timers returned.',
    )
  }
  const installed = (): FakeClock | undefined => (isFaking(host) ? installedClock() : undefined)
  return followerOf(installed, (by) => {
    // Jest without fake timers only warns, and time would stand still.
    if (!isFaking(host)) throw new Error(notFaked)
    return host.advanceTimersByTimeAsync(by)
  })
}

/** What the fake clock behind all of them has, whatever its version. */
export interface FakeClock extends SinonClock {
  readonly now: number
  /** A `Map`, in older versions an object; in Jest one of another realm. */
  readonly timers?: ReadonlyMap<unknown, FakeTimer> | Readonly<Record<string, FakeTimer>>
  /** Fires one timer at its time. */
  next(): unknown
  tick(milliseconds: number): unknown
  setSystemTime(now?: number | Date): void
  uninstall(): unknown
}

interface FakeTimer {
  readonly callAt: number
  readonly createdAt: number
  /** Of a timer that renews itself. */
  readonly interval?: number
  readonly func?: unknown
}

/** @param move moves all the way, whatever falls due: for clocks that are not known, and for who does not stop at timers */
function followerOf(clock: () => FakeClock | undefined, move: (by: number) => Promise<unknown>): ClockFollower {
  const nextIn = (): number | undefined => {
    const fake = clock()
    if (fake === undefined) return undefined
    let first = Number.POSITIVE_INFINITY
    for (const { callAt } of timersOf(fake)) first = Math.min(first, callAt)
    return first === Number.POSITIVE_INFINITY ? undefined : Math.max(0, first - fake.now)
  }
  /** As it was when nothing ran: sockets that are kept for later are open all the time. */
  let before = openResources()
  return {
    nextIn() {
      before = openResources()
      return nextIn()
    },
    setJustNow() {
      const fake = clock()
      // Where sockets or files are at work, time stands still for them as it does with real timers.
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

/** How much of the host is at work for somebody, as far as it tells: sockets, files, names that are looked up. */
export function openResources(): number {
  const { process } = globalThis as { process?: { getActiveResourcesInfo?(): readonly string[] } }
  const open = process?.getActiveResourcesInfo?.() ?? []
  return open.filter((kind) => !/^(Timeout|Immediate|MessagePort)$/.test(kind)).length
}

export function timersOf({ timers = {} }: FakeClock): Iterable<FakeTimer> {
  return typeof timers.values === 'function' ? timers.values() : Object.values(timers as Record<string, FakeTimer>)
}

/** What @sinonjs/fake-timers leaves on the functions that it replaces. */
export function installedClock(): FakeClock | undefined {
  for (const replaced of [globalThis.setTimeout, globalThis.setInterval, globalThis.Date]) {
    if ('clock' in replaced) return replaced.clock as FakeClock
  }
  return undefined
}

const notFaked =
  "clock.follow(fakeTimers(…)) needs fake timers, and none are installed. Call vi.useFakeTimers({ now: sandbox.clock.now() }), or jest.useFakeTimers({ now: sandbox.clock.now(), doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }), first, or call the function that follow() returned to stop following."

function isFaking(host: RunnerTimers): boolean {
  return host.isFakeTimers?.() ?? installedClock() !== undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
