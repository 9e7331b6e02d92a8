import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSandbox, fault } from '../../../../src/index.js'
import { runs } from '../../../../test/support/effort.js'
import { AxisState } from '../../src/axis/axis-state.js'
import { type Label, labelsOf } from '../../src/axis/labels.js'
import { AxisCoverage, lines, marksOf, placed } from '../../src/axis/marks.js'
import { distinct, scaleOf } from '../../src/axis/scale.js'
import { tones } from '../../src/entry-kinds.js'
import { PageView } from '../../src/view.js'

const start = Date.parse('2030-01-01T09:00:00Z')
/** Instants within two months, some of them close together. */
const instants = fc
  .array(fc.oneof(fc.nat(5_000), fc.nat(60 * 86_400_000)), { minLength: 1, maxLength: 60 })
  .map((list) => distinct(Float64Array.from(list, (offset) => start + offset)))
const kind = fc.constantFrom('steps' as const, 'time' as const)
/** The width of a font as wide as that of the page, or narrower. */
const measure = (text: string): number => text.length * 6.6

describe('the scale of the axis', () => {
  test('maps an instant to its position and back, in order', () => {
    fc.assert(
      fc.property(instants, kind, (all, which) => {
        const scale = scaleOf(which, all)
        let before = -1
        for (const at of all) {
          const place = scale.place(at)
          expect(place).toBeGreaterThanOrEqual(before)
          expect(place).toBeLessThanOrEqual(1)
          before = place
          expect(Math.abs(scale.at(place) - at)).toBeLessThan(1)
        }
      }),
    )
  })

  test('has equal distances by steps, and distances proportional to time', () => {
    const all = Float64Array.of(0, 10, 1000)
    expect([0, 10, 1000].map(scaleOf('steps', all).place)).toEqual([0, 0.5, 1])
    expect([0, 10, 1000].map(scaleOf('time', all).place)).toEqual([0, 0.01, 1])
    const { neighbor } = scaleOf('time', all)
    expect([neighbor(10, 1), neighbor(10, -1), neighbor(500, 1), neighbor(500, -1), neighbor(1000, 1)]).toEqual([
      1000, 0, 1000, 10, 1000,
    ])
  })
})

test('ends at the time of the clock, not at the end of a wait; later instants cannot be shown', () => {
  using sandbox = createSandbox({ startAt: start })
  sandbox.queue.publish({ to: 'https://shop.test/later', delay: '2d' })
  const view = new PageView({ follow: () => () => {} })
  view.facts.value = { name: 'main', now: start }
  // The axis of a sandbox without entries begins at its time.
  expect(new AxisState(view).now.value).toBe(start)
  view.entries.value = sandbox.traffic.toTrace().entries
  const axis = new AxisState(view)
  expect([axis.now.value, axis.scale.value.last]).toEqual([start, start + 2 * 86_400_000])
  view.facts.value = { name: 'main', now: start + 3_600_000 }
  expect(axis.now.value).toBe(start + 3_600_000)
  axis.lookAt(start + 1000.4)
  expect(view.instant.value).toBe(start + 1000)
  axis.lookAt(start + 86_400_000)
  expect(view.instant.value).toBeUndefined()
})

describe('the labels of the axis', () => {
  test('have one label for one instant, at its position', () => {
    const scale = scaleOf('steps', Float64Array.of(start))
    const { times, dates } = labelsOf({ scale, from: 0, to: 1, width: 600, measure })
    expect(times).toEqual([expect.objectContaining({ text: '09:00', x: 300 })])
    expect(dates).toEqual([expect.objectContaining({ text: '2030-01-01', x: 300 })])
  })

  const overlaps = (labels: readonly Label[], width: number): boolean =>
    labels.some(({ left, width: wide }, at) => {
      const next = labels[at + 1]
      return left < 0 || left + wide > width + 0.5 || (next !== undefined && left + wide >= next.left)
    })

  test('never overlap and never leave the axis, for any part of several days, from 120 to 2,560 pixels', () => {
    fc.assert(
      fc.property(
        instants,
        kind,
        fc.integer({ min: 120, max: 2560 }),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        fc.double({ min: 1e-6, max: 1, noNaN: true }),
        (all, which, width, from, size) => {
          const { times, dates } = labelsOf({
            scale: scaleOf(which, all),
            from,
            to: Math.min(1, from + size),
            width,
            measure,
          })
          expect(times.length).toBeGreaterThan(0)
          expect(dates.length).toBeGreaterThan(0)
          expect([overlaps(times, width), overlaps(dates, width)]).toEqual([false, false])
        },
      ),
      { numRuns: runs(500, 500, 5000) },
    )
  })

  test('name each day, and are precise enough to distinguish times', () => {
    const day = 86_400_000
    const days = labelsOf({
      scale: scaleOf('time', Float64Array.of(start, start + 3 * day)),
      ...{ from: 0, to: 1, width: 1200, measure },
    })
    expect(days.dates.map(({ text }) => text)).toEqual(['2030-01-01', '2030-01-02', '2030-01-03', '2030-01-04'])
    expect(days.times.every(({ text }) => /^\d\d:\d\d$/.test(text))).toBe(true)
    const instant = labelsOf({
      scale: scaleOf('time', Float64Array.of(start, start + 50)),
      ...{ from: 0, to: 1, width: 1200, measure },
    })
    expect(new Set(instant.times.map(({ text }) => text)).size).toBe(instant.times.length)
    expect(instant.dates).toHaveLength(1)
  })
})

test('the coverage of the axis contains exactly the pixels of the marks, for any visible part', async () => {
  const sandbox = createSandbox({ seed: 7 })
  sandbox.destinations.script('https://shop.test/a', [fault.status(500)])
  sandbox.queue.publish({ to: 'https://shop.test/a', delay: '1h' })
  for (let count = 0; count < 30; count++) sandbox.store.run('SET', `k${count}`, 'v')
  await sandbox.clock.drain()
  const { entries } = sandbox.traffic.toTrace()
  const marks = marksOf(entries, new Set())
  const scale = scaleOf('steps', marks.instants)
  const all = placed(marks, scale)
  const width = 400
  for (const [from, to] of [
    [0, 1],
    [0.2, 0.4],
    [0.9, 1],
  ] as const) {
    const coverage = new AxisCoverage()
    coverage.fill(all, from, to, width)
    const covered = new Set<string>()
    for (let line = 0; line < lines; line++) {
      tones.forEach((_, tone) => {
        coverage.each(line, tone, (left, wide) => {
          expect(left).toBeGreaterThanOrEqual(0)
          expect(left + wide).toBeLessThanOrEqual(width)
          for (let x = left; x < left + wide; x++) covered.add(`${line} ${tones[tone]} ${x}`)
        })
      })
    }
    // The same result, computed mark by mark.
    const expected = new Set<string>()
    const pixel = (place: number): number => Math.trunc(((place - from) / (to - from)) * width)
    for (let at = 0; at < all.size; at++) {
      const [left, right, rest] = [pixel(all.left[at]!), pixel(all.right[at]!), pixel(all.waits[at]!)]
      const draw = (tone: string, begin: number, end: number): void => {
        for (let x = Math.max(0, begin); x < Math.min(width, end); x++) expected.add(`${all.line[at]} ${tone} ${x}`)
      }
      // A mark at the right edge is drawn inside of the picture, where it is visible next to the line of the present.
      const isAtEdge = left > width - 4
      const begin = isAtEdge ? width - 4 : left
      if (left <= width && right >= 0) draw(tones[all.tone[at]!]!, begin, Math.max(isAtEdge ? width : left + 2, right))
      if (left <= width && rest > right + 1) draw('wait', right, rest)
    }
    expect([...covered].sort()).toEqual([...expected].sort())
  }
})

describe('the axis of a double charge', () => {
  /** A script loses the response to the first charge: of the destination, or of the bank that it calls. */
  async function charged(way: 'delivery' | 'call') {
    const orders = 'https://shop.test/orders'
    const bank = 'https://bank.test/charges'
    using sandbox = createSandbox({ seed: 7 })
    sandbox.outbound.respond(bank, 201)
    if (way === 'call') sandbox.outbound.script(bank, [fault.lostAck(), 201])
    else sandbox.destinations.script(orders, [fault.lostAck(), fault.pass()])
    sandbox.destinations.on(orders, async () => {
      const answer = await sandbox.outbound.fetch(bank, { method: 'POST' }).catch(() => undefined)
      return new Response(null, { status: answer?.status ?? 500 })
    })
    sandbox.queue.publish({ to: orders })
    await sandbox.clock.drain()
    return sandbox.traffic.toTrace().entries
  }

  test.each(['delivery', 'call'] as const)('draws the second charge at the last instant: %s', async (way) => {
    const entries = await charged(way)
    const marks = marksOf(entries, new Set())
    const coverage = new AxisCoverage()
    coverage.fill(placed(marks, scaleOf('steps', marks.instants)), 0, 1, 600)
    const calls = [...marks.entry].flatMap((place, at) =>
      entries[place]!.type === 'outbound' && marks.tone[at] !== tones.indexOf('fault') ? [at] : [],
    )
    expect(calls).toHaveLength(2)
    for (const at of calls) {
      const drawn: [number, number][] = []
      coverage.each(marks.line[at]!, marks.tone[at]!, (left, width) => drawn.push([left, width]))
      expect(drawn.length).toBeGreaterThan(0)
      // One pixel may be covered by the line of the present.
      if (at === calls[1])
        expect(drawn.some(([left, width]) => left >= 590 && left + width > 597 && width > 2)).toBe(true)
    }
  })

  test.each(['delivery', 'call'] as const)('draws the fault of a script in the lane of faults: %s', async (way) => {
    const entries = await charged(way)
    expect(entries.filter(({ type }) => type === 'fault')).toEqual([])
    const { line, tone, entry, size } = marksOf(entries, new Set())
    const faults = [...line].flatMap((each, at) => (at < size && each === lines - 1 ? [at] : []))
    expect(faults.map((at) => [tones[tone[at]!], entries[entry[at]!]!.fault])).toEqual([['fault', 'lost-ack']])
  })
})
