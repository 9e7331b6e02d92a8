import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Clock } from '../../src/kernel/clock.js'

const start = Date.parse('2030-01-01T00:00:00Z')

// The clock reads the host's timers when its module loads. Loading it again under fake timers makes a second take no
// time.
let create: (warn: (text: string) => void, mode?: 'manual' | 'auto') => Clock
beforeEach(async () => {
  vi.resetModules()
  vi.useFakeTimers()
  const fresh = await import('../../src/kernel/clock.js')
  create = (warn, mode = 'manual') => new fresh.Clock({ startAt: start, mode, warn })
})
afterEach(() => {
  vi.useRealTimers()
})

test('warns once about a sleeping request while the clock does not move, with the call to use', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  void clock.track('request POST /v2/publish', (task) => task.sleep('1m30s'))
  void clock.track('request GET /get/a', (task) => task.sleep('2m'))
  await vi.advanceTimersByTimeAsync(999)
  expect(warnings).toEqual([])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^stuntdouble: a request waits .*\b1 real second.*sleep in request POST \/v2\/publish \(due in 1m30s\), sleep in request GET \/get\/a \(due in 2m\).*clock\.advance\('1m30s'\).*clock\.drain\(\).*clock: 'auto'/,
    ),
  ])
})

test('warns about a sleeping command of a connection by its name', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  void clock.track('command INCR', (task) => task.sleep('3s'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([expect.stringMatching(/INCR\) waits .* \(due in 3s\)/)])
})

test('does not warn about a request that ended within the second, regardless of other pending work', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  const gone = new AbortController()
  void clock.track('request GET /get/a', (task) => task.sleep('1m', gone.signal))
  clock.schedule(start + 60_000, 'schedule nightly', () => {})
  await vi.advanceTimersByTimeAsync(500)
  gone.abort()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([])
  // No warning has been printed yet.
  void clock.track('request GET /get/b', (task) => task.sleep('2m'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toHaveLength(1)
})

test('does not warn if the clock moves in time', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  void clock.track('request GET /get/a', (task) => task.sleep('1m'))
  await clock.advance('30s')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([])
})

test('does not warn about a sleeping handler, because the clock is being moved', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  clock.schedule(start, 'delivery', (task) => task.sleep('1m'))
  await clock.advance(0)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([])
})

test('warns about a move that waits for endless work, and names the work', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text))
  let finish = (): void => undefined
  clock.schedule(start + 10, 'delivery of m1', () => new Promise<void>((resolve) => (finish = resolve)))
  const moved = clock.advance('1m')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^stuntdouble: clock\.advance\(\) .*\b1 real second.*blocks virtual time: delivery of m1\..*task\.sleep\(\)/,
    ),
  ])
  finish()
  await moved
})

test('does not warn on an automatic clock that waits for slow work', async () => {
  const warnings: string[] = []
  const clock = create((text) => warnings.push(text), 'auto')
  let finish = (): void => undefined
  clock.schedule(start + 10, 'delivery of m1', () => new Promise<void>((resolve) => (finish = resolve)))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(clock.running).toEqual(['delivery of m1'])
  expect(warnings).toEqual([])
  finish()
})

test('ignores fake timers that are installed later', async () => {
  vi.useRealTimers()
  vi.resetModules()
  const { Clock: Fresh, letOutsideContinue } = await import('../../src/kernel/clock.js')
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'setInterval', 'Date', 'performance'] })
  const clock = new Fresh({ startAt: start })
  const log: string[] = []
  clock.schedule(start + 10, 'a', async (task) => {
    await task.sleep(10)
    letOutsideContinue(clock)
    log.push('woke')
  })
  await clock.drain()
  expect(log).toEqual(['woke'])
})
