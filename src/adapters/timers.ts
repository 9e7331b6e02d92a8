import type { Follower } from '../kernel/clock.js'

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
 * const leave = sandbox.clock.follow(hostTimers(vi))
 */
export function hostTimers(host: RunnerTimers | SinonClock): Follower {
  if (isObject(host) && 'tickAsync' in host) return { advanceBy: (by) => host.tickAsync(by) }
  if (!isObject(host) || !('advanceTimersByTimeAsync' in host)) {
    throw new TypeError(
      'hostTimers() takes the fake timers of the test runner: hostTimers(vi), hostTimers(jest), or the clock that install() of @sinonjs/fake-timers returned.',
    )
  }
  return {
    async advanceBy(by) {
      // Jest without fake timers only warns, and time would stand still.
      if (!isFaking(host)) throw new Error(notFaked)
      await host.advanceTimersByTimeAsync(by)
    },
  }
}

const notFaked =
  "clock.follow(hostTimers(…)) needs fake timers, and none are installed. Call vi.useFakeTimers({ now: sandbox.clock.now() }), or jest.useFakeTimers({ now: sandbox.clock.now(), doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }), first, or call the function that follow() returned to stop following."

function isFaking(host: RunnerTimers): boolean {
  // `clock` is what @sinonjs/fake-timers, which is behind all of them, leaves on the functions that it replaces.
  return host.isFakeTimers?.() ?? 'clock' in globalThis.setTimeout
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
