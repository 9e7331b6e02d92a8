import { describe, expect, test, vi } from 'vitest'
import { collectGarbage } from '../../packages/server/src/heap-watch.js'
import { Clock, type ClockFollower, stop } from '../../src/kernel/clock.js'
import { milliseconds } from '../../src/kernel/duration.js'
import { instant } from '../../src/kernel/instant.js'
import type { Task } from '../../src/kernel/time.js'

const start = Date.parse('2030-01-01T00:00:00Z')
const manual = (): Clock => new Clock({ startAt: start })

/** Returns a clock, and a log in which each line has the virtual time since the start. */
function logged(clock = manual()): { clock: Clock; log: string[]; note: (text: string) => void } {
  const log: string[] = []
  return { clock, log, note: (text) => log.push(`${clock.now() - start} ${text}`) }
}

describe('time', () => {
  test('does not move on its own', async () => {
    const clock = manual()
    expect(clock.now()).toBe(start)
    await clock.advance('1m30s')
    expect(clock.now()).toBe(start + 90_000)
    await clock.advance(500)
    expect(clock.now()).toBe(start + 90_500)
  })

  test.each([
    ['milliseconds', start + 5_000],
    ['an ISO text', '2030-01-01T00:00:05Z'],
    ['a Date', new Date(start + 5_000)],
  ])('advanceTo() accepts %s', async (_, target) => {
    const clock = manual()
    await clock.advanceTo(target)
    expect(clock.now()).toBe(start + 5_000)
  })

  test('advanceTo() the present does nothing, and to the past throws', async () => {
    const clock = manual()
    await clock.advanceTo(start)
    await expect(clock.advanceTo(start - 1)).rejects.toThrow(
      'clock.advanceTo(): the instant must not be in the past (got 2029-12-31T23:59:59.999Z, now is 2030-01-01T00:00:00.000Z). Create a sandbox with an earlier startAt.',
    )
  })

  test('instant() throws for an invalid text, with valid forms', () => {
    expect(() => instant('tomorrow')).toThrow('"tomorrow" is not a time. Use milliseconds, a Date or a text such as')
  })

  test('the constructor throws for an invalid startAt', () => {
    expect(() => new Clock({ startAt: Number.NaN })).toThrow('startAt must be')
  })

  test('onMove() listeners are called for every move until they unsubscribe', async () => {
    const clock = manual()
    const moves: [number, number][] = []
    const leave = clock.onMove((from, to) => moves.push([from - start, to - start]))
    clock.schedule(start + 10, 'a', () => {})
    await clock.advance(30)
    leave()
    await clock.advance(30)
    expect(moves).toEqual([
      [0, 10],
      [10, 30],
    ])
  })
})

describe('timers', () => {
  test('fire in the order of time, then of scheduling, each at its own instant', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 20, 'c', () => note('c'))
    clock.schedule(start + 10, 'a', () => note('a'))
    clock.schedule(start + 20, 'd', () => note('d'))
    clock.schedule(start + 10, 'b', () => note('b'))
    await clock.advance(20)
    expect(log).toEqual(['10 a', '10 b', '20 c', '20 d'])
  })

  test('fire up to and including the target, not beyond', async () => {
    const { clock, log, note } = logged()
    for (const at of [9, 10, 11]) clock.schedule(start + at, String(at), () => note('fired'))
    await clock.advance(10)
    expect(log).toEqual(['9 fired', '10 fired'])
    expect(clock.pending).toHaveLength(1)
  })

  test('fire at the present instant if they were scheduled in the past', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start - 1_000, 'late', () => note('late'))
    await clock.advance(0)
    expect(log).toEqual(['0 late'])
  })

  test('fire if other timers schedule them, also at the same instant', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 10, 'a', () => {
      note('a')
      clock.schedule(start + 10, 'b', () => note('b'))
      clock.schedule(start + 15, 'c', () => note('c'))
      clock.schedule(start + 25, 'd', () => note('d'))
    })
    await clock.advance(20)
    expect(log).toEqual(['10 a', '10 b', '15 c'])
    expect(clock.now()).toBe(start + 20)
  })

  test('do not fire after cancel(), which may be called repeatedly', async () => {
    const { clock, log, note } = logged()
    const fired = clock.schedule(start + 5, 'fired', () => note('fired'))
    const cancelled = clock.schedule(start + 10, 'cancelled', () => note('cancelled'))
    clock.schedule(start + 15, 'kept', () => note('kept'))
    cancelled.cancel()
    cancelled.cancel()
    await clock.advance(5)
    fired.cancel()
    await clock.drain()
    expect(log).toEqual(['5 fired', '15 kept'])
    expect(clock.pending).toEqual([])
  })

  test('keep their order when thousands are canceled', async () => {
    const { clock, log, note } = logged()
    for (let at = 1; at <= 3_000; at++) {
      const timer = clock.schedule(start + at, `t${at}`, () => note('kept'))
      if (at % 1_000 !== 0) timer.cancel()
    }
    expect(clock.pending.map((timer) => timer.label)).toEqual(['t1000', 't2000', 't3000'])
    await clock.drain()
    expect(log).toEqual(['1000 kept', '2000 kept', '3000 kept'])
  })

  test('pending lists them, earliest first', () => {
    const clock = manual()
    clock.schedule(start + 20, 'b', () => {})
    clock.schedule(start + 10, 'a', () => {}, { background: true })
    clock.schedule(start + 20, 'c', () => {})
    expect(clock.pending.map(({ at, label, background }) => [at - start, label, background])).toEqual([
      [10, 'a', true],
      [20, 'b', false],
      [20, 'c', false],
    ])
  })

  test('schedule() throws for an invalid instant', () => {
    expect(() => manual().schedule(Number.NaN, 'x', () => {})).toThrow(
      'schedule(): at must be a finite number of milliseconds (got NaN for "x").',
    )
  })
})

describe('drain()', () => {
  test('runs until no timer is left, and time is that of the last timer', async () => {
    const { clock, log, note } = logged()
    let round = 0
    const again = (): void => {
      note(`round ${++round}`)
      if (round < 3) clock.schedule(clock.now() + 60_000, 'again', again)
    }
    clock.schedule(start + 60_000, 'again', again)
    await clock.drain()
    expect(log).toEqual(['60000 round 1', '120000 round 2', '180000 round 3'])
    expect(clock.now()).toBe(start + 180_000)
  })

  test('does not wait for recurring timers, but fires those that are due on the way', async () => {
    const { clock, log, note } = logged()
    const tick = (): void => {
      note('tick')
      clock.schedule(clock.now() + 10, 'tick', tick, { background: true })
    }
    clock.schedule(start + 10, 'tick', tick, { background: true })
    clock.schedule(start + 25, 'work', () => note('work'))
    await clock.drain()
    expect(log).toEqual(['10 tick', '20 tick', '25 work'])
    expect(clock.pending.map((timer) => timer.label)).toEqual(['tick'])
  })

  test('throws after maxTimers timers, and names the timer that fired most often', async () => {
    const clock = manual()
    const spin = (): void => {
      clock.schedule(clock.now() + 1, 'spin', spin)
    }
    clock.schedule(start + 1, 'spin', spin)
    clock.schedule(start + 2, 'innocent', () => {})
    await expect(clock.drain({ maxTimers: 10 })).rejects.toThrow(
      /^clock\.drain\(\) stopped: 10 timers fired, the limit maxTimers\. Most often: "spin" \(9 of the last 10\); next: "spin" at 2030-01-01T00:00:00\.010Z; 1 pending\. If they never end, stop the code that schedules them\. Otherwise, raise the limit with clock\.drain\(\{ maxTimers \}\)\.$/,
    )
  })

  test('advance() throws for an endless loop at one instant', async () => {
    const clock = manual()
    const spin = (): void => {
      clock.schedule(clock.now(), 'spin', spin)
    }
    clock.schedule(start + 1, 'spin', spin)
    await expect(clock.advance(5)).rejects.toThrow('Most often: "spin"')
  })

  test('returns immediately on an idle clock', async () => {
    const clock = manual()
    await clock.drain()
    expect(clock.now()).toBe(start)
  })
})

describe('tasks', () => {
  test('block time while they run', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 10, 'slow', async () => {
      note('begins')
      await hostWork()
      note('ends')
    })
    clock.schedule(start + 11, 'next', () => note('next'))
    await clock.advance(20)
    expect(log).toEqual(['10 begins', '10 ends', '11 next'])
  })

  test('block advance() if they were tracked by outside code', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 10, 'timer', () => note('timer'))
    const work = clock.track('request', async () => {
      await hostWork()
      note('work ends')
      return 'result'
    })
    expect(clock.running).toEqual(['request'])
    await clock.advance(10)
    expect(log).toEqual(['0 work ends', '10 timer'])
    expect(await work).toBe('result')
    expect(clock.running).toEqual([])
  })

  test('let time move while they sleep, and continue at their own instants', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 10, 'sleeper', async (task) => {
      note('falls asleep')
      await task.sleep('30ms')
      note('wakes')
    })
    clock.schedule(start + 20, 'other', () => note('other'))
    await clock.advance(100)
    expect(log).toEqual(['10 falls asleep', '20 other', '40 wakes'])
  })

  test('can sleep concurrently', async () => {
    const { clock, log, note } = logged()
    const sleeper = (name: string, wait: number) => async (task: Task) => {
      await task.sleep(wait)
      note(name)
      await task.sleep(wait)
      note(name)
    }
    clock.schedule(start, 'a', sleeper('a', 10))
    clock.schedule(start, 'b', sleeper('b', 15))
    await clock.drain()
    expect(log).toEqual(['10 a', '15 b', '20 a', '30 b'])
  })

  test("do not wait for each other's parallel sleeps within one task", async () => {
    const { clock, log, note } = logged()
    clock.schedule(start, 'both', async (task) => {
      await Promise.all([task.sleep(20).then(() => note('long')), task.sleep(10).then(() => note('short'))])
      note('both')
    })
    await clock.drain()
    expect(log).toEqual(['10 short', '20 long', '20 both'])
  })

  test('stay asleep if they wake after the target of advance()', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start, 'sleeper', async (task) => {
      await task.sleep(50)
      note('wakes')
    })
    await clock.advance(49)
    expect(log).toEqual([])
    await clock.advance(1)
    expect(log).toEqual(['50 wakes'])
  })

  test('let the client of a request continue before time moves', async () => {
    const { clock, log, note } = logged()
    const client = async (): Promise<void> => {
      await clock.track('request 1', (task) => task.sleep(10))
      note('first answer')
      await clock.track('request 2', (task) => task.sleep(10))
      note('second answer')
    }
    const done = client()
    await clock.advance(100)
    await done
    expect(log).toEqual(['10 first answer', '20 second answer'])
  })

  test('reject a sleep after their work has ended', async () => {
    const clock = manual()
    let kept: Task | undefined
    clock.schedule(start, 'work', (task) => {
      kept = task
    })
    await clock.advance(0)
    await expect(kept!.sleep(1)).rejects.toThrow(
      'task.sleep() was called after "work" had ended. Await task.sleep() before the work ends.',
    )
  })

  test('reject a sleep with an invalid duration', async () => {
    const clock = manual()
    await expect(clock.track('work', (task) => task.sleep(-1))).rejects.toThrow('-1 is not a duration')
  })

  test('settle() resolves when nothing runs, without moving time', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 1, 'later', () => note('later'))
    void clock.track('work', async () => {
      await hostWork()
      note('work')
    })
    await clock.settle()
    expect(log).toEqual(['0 work'])
  })
})

describe('errors', () => {
  test('of a timer reject the clock move, and the next move runs the remaining timers', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 10, 'broken', () => {
      throw new Error('broken at once')
    })
    clock.schedule(start + 10, 'later broken', async () => {
      await hostWork()
      throw new Error('broken later')
    })
    clock.schedule(start + 20, 'fine', () => note('fine'))
    await expect(clock.advance(100)).rejects.toThrow('broken at once')
    await expect(clock.advance(0)).rejects.toThrow('broken later')
    await clock.drain()
    expect(log).toEqual(['20 fine'])
  })

  test('of tracked work reject for its caller only', async () => {
    const clock = manual()
    const work = clock.track('work', () => Promise.reject(new Error('mine')))
    await expect(work).rejects.toThrow('mine')
    await clock.advance(1)
    expect(clock.running).toEqual([])
  })

  test('are thrown for two clock moves at once', async () => {
    const clock = manual()
    clock.schedule(start + 1, 'slow', () => hostWork())
    const first = clock.advance(5)
    await expect(clock.drain()).rejects.toThrow(
      'clock.drain() was called while clock.advance() was still running. Await the first call, or use task.sleep() inside a handler.',
    )
    await first
    await clock.advance(1)
    expect(clock.now()).toBe(start + 6)
  })

  test('are thrown for a clock move inside a handler', async () => {
    const clock = manual()
    clock.schedule(start + 1, 'handler', () => clock.advance(1))
    await expect(clock.drain()).rejects.toThrow('clock.advance() was called while clock.drain() was still running.')
  })

  test('are thrown when a stopped clock is moved', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start + 1, 'a', () => note('a'))
    stop(clock)
    expect(clock.pending).toEqual([])
    await expect(clock.advance(1)).rejects.toThrow(
      'clock.advance() was called on a disposed sandbox or on a clock from before a reset. Create a new sandbox, or read sandbox.clock again.',
    )
    expect(log).toEqual([])
  })
})

describe('followers', () => {
  /** A minimal fake clock, as a test runner could have it. */
  class FakeTimers implements ClockFollower {
    now = 0
    timers: { at: number; run: () => void }[] = []
    after(wait: number, run: () => void): void {
      this.timers.push({ at: this.now + wait, run })
    }
    advanceBy(time: number): void {
      const target = this.now + time
      for (;;) {
        const next = this.timers.filter(({ at }) => at <= target).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        this.timers.splice(this.timers.indexOf(next), 1)
        this.now = next.at
        next.run()
      }
      this.now = target
    }
  }

  test("move in step, before the clock's own timers of the same instant fire", async () => {
    const { clock, log, note } = logged()
    const host = new FakeTimers()
    const leave = clock.follow(host)
    host.after(10, () => note('host timer'))
    clock.schedule(start + 10, 'ours', () => note('ours'))
    clock.schedule(start + 25, 'ours too', () => note(`ours too, host at ${host.now}`))
    await clock.advance(30)
    expect(log).toEqual(['10 host timer', '10 ours', '25 ours too, host at 25'])
    expect(host.now).toBe(30)
    leave()
    await clock.advance(30)
    expect(host.now).toBe(30)
  })

  test('are awaited if they are asynchronous', async () => {
    const { clock, log, note } = logged()
    clock.follow({
      advanceBy: async (time) => {
        await hostWork()
        note(`followed ${time}`)
      },
    })
    clock.schedule(start + 10, 'ours', () => note('ours'))
    await clock.advance(10)
    expect(log).toEqual(['10 followed 10', '10 ours'])
  })

  test('can be the fake timers of a runner', async () => {
    const { clock, log, note } = logged()
    vi.useFakeTimers({ now: clock.now() })
    const leave = clock.follow({ advanceBy: (time) => vi.advanceTimersByTimeAsync(time) })
    try {
      setTimeout(() => note(`host timer at ${Date.now() - start}`), 10)
      clock.schedule(start + 10, 'ours', async (task) => {
        note('ours')
        await task.sleep(5)
        note(`woke, host at ${Date.now() - start}`)
      })
      await clock.advance(20)
    } finally {
      leave()
      vi.useRealTimers()
    }
    expect(log).toEqual(['10 host timer at 10', '10 ours', '15 woke, host at 15'])
  })

  test('can cancel the timer that is due', async () => {
    const { clock, log, note } = logged()
    const timer = clock.schedule(start + 10, 'ours', () => note('ours'))
    clock.follow({ advanceBy: () => timer.cancel() })
    await clock.advance(20)
    expect(log).toEqual([])
    expect(clock.now()).toBe(start + 20)
  })
})

describe('mode auto', () => {
  const auto = (): Clock => new Clock({ startAt: start, mode: 'auto' })

  test('skips time to the next timer when nothing runs', async () => {
    const { clock, log, note } = logged(auto())
    const done = new Promise<void>((resolve) => {
      clock.schedule(start + 3_600_000, 'b', () => {
        note('b')
        resolve()
      })
    })
    clock.schedule(start + 60_000, 'a', async (task) => {
      note('a')
      await task.sleep('10m')
      note('a wakes')
    })
    await done
    expect(log).toEqual(['60000 a', '660000 a wakes', '3600000 b'])
  })

  test('ends the sleep of a request without a clock move', async () => {
    const clock = auto()
    await clock.track('request GET /', (task) => task.sleep('1h'))
    expect(clock.now() - start).toBe(milliseconds('1h'))
  })

  test('does not fire recurring timers without end', async () => {
    const { clock, log, note } = logged(auto())
    const tick = (): void => {
      note('tick')
      clock.schedule(clock.now() + 1_000, 'tick', tick, { background: true })
    }
    clock.schedule(start + 1_000, 'tick', tick, { background: true })
    await clock.track('request GET /', (task) => task.sleep(2_500))
    await hostWork()
    expect(log).toEqual(['1000 tick', '2000 tick'])
  })

  test('queues clock moves that are called during others', async () => {
    const { clock, log, note } = logged(auto())
    clock.schedule(start + 10, 'slow', async () => {
      await hostWork()
      note('slow')
    })
    await Promise.all([clock.advance(10), clock.advance(10), clock.advanceTo(start + 50), clock.drain()])
    expect(log).toEqual(['10 slow'])
    expect(clock.now()).toBe(start + 50)
  })
})

describe('mode real', () => {
  test('fires timers in order, not before their time', async () => {
    const { clock, log } = logged(new Clock({ mode: 'real' }))
    const now = clock.now()
    const early: string[] = []
    await new Promise<void>((resolve) => {
      const fired = (name: string, at: number) => () => {
        log.push(name)
        if (clock.now() < now + at) early.push(name)
        if (log.length === 3) resolve()
      }
      clock.schedule(now + 8, 'c', fired('c', 8))
      clock.schedule(now + 2, 'a', fired('a', 2))
      clock.schedule(now + 2, 'b', fired('b', 2))
    })
    expect(log).toEqual(['a', 'b', 'c'])
    expect(early).toEqual([])
    stop(clock)
  })

  test('fires late timers in the order of their times, not of scheduling', async () => {
    const { clock, log } = logged(new Clock({ mode: 'real' }))
    const now = clock.now()
    for (const ago of [10, 30, 20]) clock.schedule(now - ago, `${ago}`, () => void log.push(`${ago} ago`))
    await new Promise<void>((resolve) => clock.schedule(now + 1, 'after', () => resolve()))
    expect(log).toEqual(['30 ago', '20 ago', '10 ago'])
    stop(clock)
  })

  test.each(['advance', 'advanceTo', 'drain'] as const)('rejects clock.%s() with the modes to use', async (call) => {
    const clock = new Clock({ mode: 'real' })
    const before = Date.now()
    const moved = call === 'drain' ? clock.drain() : call === 'advance' ? clock.advance('1h') : clock.advanceTo(9e12)
    await expect(moved).rejects.toThrow(`clock.${call}() can't move time with clock: 'real'`)
    await expect(moved).rejects.toThrow("Use clock: 'manual' or 'auto'")
    expect(clock.now() - before).toBeLessThan(3_600_000)
    stop(clock)
  })

  test('prints a warning for the error of a timer', async () => {
    const warnings: string[] = []
    const clock = new Clock({ mode: 'real', warn: (text) => warnings.push(text) })
    clock.schedule(clock.now(), 'broken', () => {
      throw new Error('nobody waits')
    })
    await new Promise<void>((resolve) => clock.schedule(clock.now() + 1, 'after', () => resolve()))
    expect(warnings.join()).toContain('stuntdouble: "broken" failed: Error: nobody waits')
    stop(clock)
  })
})

/** Work that takes several turns of the host's event loop. */
async function hostWork(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('a canceled timer releases its callback', async () => {
  const clock = manual()
  const cancelled = (): WeakRef<object> => {
    const work = { large: true }
    clock.schedule(start + 2, 'work', () => void work.large).cancel()
    return new WeakRef(work)
  }
  clock.schedule(start + 1, 'kept', () => {})
  const work = cancelled()
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(work.deref()).toBeUndefined()
})
