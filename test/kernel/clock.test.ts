import { describe, expect, test, vi } from 'vitest'
import { collectGarbage } from '../../packages/server/src/heap-watch.js'
import { Clock, type ClockFollower, stop } from '../../src/kernel/clock.js'
import { milliseconds } from '../../src/kernel/duration.js'
import { instant } from '../../src/kernel/instant.js'
import type { Task } from '../../src/kernel/time.js'

const start = Date.parse('2030-01-01T00:00:00Z')
const manual = (): Clock => new Clock({ startAt: start })

/** A clock, and a log in which each note has the virtual time since the start. */
function logged(clock = manual()): { clock: Clock; log: string[]; note: (text: string) => void } {
  const log: string[] = []
  return { clock, log, note: (text) => log.push(`${clock.now() - start} ${text}`) }
}

describe('time', () => {
  test('stands still until it is moved', async () => {
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
  ])('advanceTo takes %s', async (_, target) => {
    const clock = manual()
    await clock.advanceTo(target)
    expect(clock.now()).toBe(start + 5_000)
  })

  test('advanceTo the present is no move, going back is refused', async () => {
    const clock = manual()
    await clock.advanceTo(start)
    await expect(clock.advanceTo(start - 1)).rejects.toThrow(
      'clock.advanceTo(): the instant must not be in the past (got 2029-12-31T23:59:59.999Z, now is 2030-01-01T00:00:00.000Z). Create a sandbox with an earlier startAt.',
    )
  })

  test('a text that is no time is told with the next step', () => {
    expect(() => instant('tomorrow')).toThrow('"tomorrow" is not a time. Use milliseconds, a Date or a text such as')
  })

  test('a start that is no time is refused', () => {
    expect(() => new Clock({ startAt: Number.NaN })).toThrow('startAt must be')
  })

  test('listeners hear of every move until they leave', async () => {
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
  test('fire in the order of time, then of scheduling, each at its own time', async () => {
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

  test('those of the past fire at the present instant', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start - 1_000, 'late', () => note('late'))
    await clock.advance(0)
    expect(log).toEqual(['0 late'])
  })

  test('those that others schedule take part, at the same instant too', async () => {
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

  test('a cancelled one does not fire; cancelling again, or after it fired, does nothing', async () => {
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

  test('thousands of cancelled ones leave the others in order', async () => {
    const { clock, log, note } = logged()
    for (let at = 1; at <= 3_000; at++) {
      const timer = clock.schedule(start + at, `t${at}`, () => note('kept'))
      if (at % 1_000 !== 0) timer.cancel()
    }
    expect(clock.pending.map((timer) => timer.label)).toEqual(['t1000', 't2000', 't3000'])
    await clock.drain()
    expect(log).toEqual(['1000 kept', '2000 kept', '3000 kept'])
  })

  test('pending() lists them earliest first', () => {
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

  test('a time that is none is refused', () => {
    expect(() => manual().schedule(Number.NaN, 'x', () => {})).toThrow(
      'schedule(): at must be a finite number of milliseconds (got NaN for "x").',
    )
  })
})

describe('drain', () => {
  test('runs until nothing is left and time is that of the last timer', async () => {
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

  test('does not wait for timers that renew themselves for ever, but runs those that fall due on the way', async () => {
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

  test('gives up after its budget and names the timer that would not stop', async () => {
    const clock = manual()
    const spin = (): void => {
      clock.schedule(clock.now() + 1, 'spin', spin)
    }
    clock.schedule(start + 1, 'spin', spin)
    clock.schedule(start + 2, 'innocent', () => {})
    await expect(clock.drain({ maxTimers: 10 })).rejects.toThrow(
      /^clock\.drain\(\) stopped: 10 timers fired, the limit maxTimers\. Most often: "spin" \(9 of the last 10\); next: "spin" at 2030-01-01T00:00:00\.010Z; 1 pending\. If they never end, stop what schedules them\. Otherwise, raise the limit with clock\.drain\(\{ maxTimers \}\)\.$/,
    )
  })

  test('advance gives up on an endless loop at one instant', async () => {
    const clock = manual()
    const spin = (): void => {
      clock.schedule(clock.now(), 'spin', spin)
    }
    clock.schedule(start + 1, 'spin', spin)
    await expect(clock.advance(5)).rejects.toThrow('Most often: "spin"')
  })

  test('on an idle clock it returns at once', async () => {
    const clock = manual()
    await clock.drain()
    expect(clock.now()).toBe(start)
  })
})

describe('tasks', () => {
  test('time stands still while one runs', async () => {
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

  test('advance also waits for work that was tracked from outside', async () => {
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

  test('a sleeping one lets time move and goes on at its own time', async () => {
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

  test('sleepers overlap', async () => {
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

  test('parallel sleeps of one task do not wait for each other', async () => {
    const { clock, log, note } = logged()
    clock.schedule(start, 'both', async (task) => {
      await Promise.all([task.sleep(20).then(() => note('long')), task.sleep(10).then(() => note('short'))])
      note('both')
    })
    await clock.drain()
    expect(log).toEqual(['10 short', '20 long', '20 both'])
  })

  test('advance leaves a sleeper asleep that wakes later', async () => {
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

  test('the client of a request goes on before time does', async () => {
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

  test('sleep after the end of its work is a misuse', async () => {
    const clock = manual()
    let kept: Task | undefined
    clock.schedule(start, 'work', (task) => {
      kept = task
    })
    await clock.advance(0)
    await expect(kept!.sleep(1)).rejects.toThrow(
      'task.sleep() was called after "work" had ended. Await the sleep inside that work.',
    )
  })

  test('a wait that is no duration is refused', async () => {
    const clock = manual()
    await expect(clock.track('work', (task) => task.sleep(-1))).rejects.toThrow('-1 is not a duration')
  })

  test('settled resolves when nothing runs, without moving time', async () => {
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
  test('of a timer reach whoever moves the clock, and the rest still runs on the next move', async () => {
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

  test('of tracked work reach its caller only', async () => {
    const clock = manual()
    const work = clock.track('work', () => Promise.reject(new Error('mine')))
    await expect(work).rejects.toThrow('mine')
    await clock.advance(1)
    expect(clock.running).toEqual([])
  })

  test('two moves at once are a misuse', async () => {
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

  test('moving from inside a handler is the same misuse', async () => {
    const clock = manual()
    clock.schedule(start + 1, 'handler', () => clock.advance(1))
    await expect(clock.drain()).rejects.toThrow('clock.advance() was called while clock.drain() was still running.')
  })

  test('a stopped clock has no timers and cannot be moved', async () => {
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
  /** As small as a fake clock of a test runner can be. */
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

  test('move in step, before our timers of the same time fire', async () => {
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

  test('one that answers later is waited for', async () => {
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

  test('the fake timers of a runner can follow', async () => {
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

  test('one that cancels the timer which is due has its way', async () => {
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

  test('time skips to the next timer when nothing runs', async () => {
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

  test('a request that sleeps is answered without anybody moving the clock', async () => {
    const clock = auto()
    await clock.track('request GET /', (task) => task.sleep('1h'))
    expect(clock.now() - start).toBe(milliseconds('1h'))
  })

  test('it does not chase timers that renew themselves for ever', async () => {
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

  test('moves that are asked for while others run wait their turn', async () => {
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
  test('timers fire by themselves, in order, not before their time', async () => {
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

  test('what is late fires in the order of its times, whatever the order it was scheduled in', async () => {
    const { clock, log } = logged(new Clock({ mode: 'real' }))
    const now = clock.now()
    for (const ago of [10, 30, 20]) clock.schedule(now - ago, `${ago}`, () => void log.push(`${ago} ago`))
    await new Promise<void>((resolve) => clock.schedule(now + 1, 'after', () => resolve()))
    expect(log).toEqual(['30 ago', '20 ago', '10 ago'])
    stop(clock)
  })

  test.each(['advance', 'advanceTo', 'drain'] as const)('%s is refused with the mode to use', async (call) => {
    const clock = new Clock({ mode: 'real' })
    const before = Date.now()
    const moved = call === 'drain' ? clock.drain() : call === 'advance' ? clock.advance('1h') : clock.advanceTo(9e12)
    await expect(moved).rejects.toThrow(`clock.${call}() can't move time with clock: 'real'`)
    await expect(moved).rejects.toThrow("Use clock: 'manual' or 'auto'")
    expect(clock.now() - before).toBeLessThan(3_600_000)
    stop(clock)
  })

  test('an error of a timer that nobody waits for is a warning', async () => {
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

test('a timer that was cancelled lets go of what it would have worked on', async () => {
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
