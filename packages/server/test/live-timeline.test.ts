import { describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../../src/index.js'
import type { Entry } from '../../../src/kernel/traffic-log.js'
import { LiveTimeline } from '../src/programs/live-timeline.js'

const orders = 'https://shop.test/orders'

/** Plays retries, a handler that uses the store, a rate limit, and a gap of days. */
async function night(): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt: '2030-01-01T23:59:55Z', seed: 7 })
  const { clock, destinations, queue, store } = sandbox
  destinations.script(orders, [
    { kind: 'status', status: 503 },
    { kind: 'status', status: 503 },
  ])
  destinations.on(orders, async () => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    await sandbox.fetch(`${sandbox.urls.store}/incr/n`, { headers })
    store.run('SET', 'seen', '1', 'PX', 50)
    return new Response()
  })
  store.run('SET', 'a', '1')
  queue.publish({ to: orders, delay: '2s' })
  for (let n = 0; n < 2; n++) queue.publish({ to: orders, flowControlKey: 'k', flowControlValue: 'rate=1,period=10s' })
  await clock.advance('2d')
  store.run('SET', 'a', '2')
  return sandbox
}

const plain = (): LiveTimeline => new LiveTimeline((_, text) => text)

/** Splits lines into number, time, gap, indentation and text, independent of the width of the margin. */
const parts = (lines: readonly string[]): string[][] => {
  const heads = lines.filter((line) => /#\d+ {2}/.test(line))
  const margin = Math.min(...heads.map((line) => /^ *#\d+ {2}\S+ {2}(?:\+\S+)? */.exec(line)![0].length))
  return lines.map((line) => {
    const head = /^ *(#\d+) {2}(\S+) {2}(\+\S+)? *(.*)$/.exec(line)
    if (head === null) return [line.startsWith(' ') ? `${line.search(/\S/) - margin} ${line.trim()}` : line]
    const [, number, time, gap = '', text] = head as unknown as string[]
    return [number!, time!, gap, `${line.length - text!.length - margin}`, text!]
  })
}

describe('LiveTimeline', () => {
  test('names the added database of an entry', () => {
    using sandbox = createSandbox({ databases: ['us'] })
    sandbox.store.run('SET', 'a', '1')
    sandbox.storeIn('us').run('SET', 'b', '2')
    const lines = plain().lines(sandbox.traffic.entries)
    expect(lines.filter((line) => line.includes('(us)')).join()).toContain('b')
    expect(lines.filter((line) => !line.includes('(us)')).join()).toContain('SET a')
  })

  test('prints the same dates, gaps, waits and nesting as timeline()', async () => {
    using sandbox = await night()
    const told = plain().lines(sandbox.traffic.entries)
    const wanted = sandbox.traffic.timeline().split('\n')
    // A gap that is wider than its column moves the text of its line, so its indentation is not compared.
    const narrow = (rows: string[][]): string[][] =>
      rows.map((row) => (row[2] !== undefined && row[2].length > 8 ? row.filter((_, at) => at !== 3) : row))
    expect(narrow(parts(told))).toEqual(narrow(parts(wanted)))
    expect(wanted.filter((line) => /^\d{4}-\d\d-\d\d$/.test(line))).toEqual(['2030-01-01', '2030-01-02', '2030-01-03'])
    expect(told.join('\n')).toMatch(/\+1d23h59m40s {2}SET a 2/)
    expect(told.filter((line) => line.includes('waits 12s until 2030-01-02 00:00:0'))).toHaveLength(2)
  })

  test('prints each entry in its final form when entries arrive one by one', async () => {
    const lines: string[] = []
    const live = plain()
    const sandbox = createSandbox({ startAt: '2030-01-01T23:59:55Z' })
    const { clock, destinations, queue, traffic } = sandbox
    traffic.subscribe((entry) => lines.push(...live.lines([entry])))
    destinations.on(orders, () => {
      sandbox.store.run('INCR', 'n')
      return new Response()
    })
    queue.publish({ to: orders, delay: '10s' })
    await clock.drain()
    const last = new Map<string, string>()
    for (const line of lines) {
      const number = /#\d+/.exec(line)?.[0]
      if (number !== undefined)
        last.set(
          number,
          line.replace(/\+\S+/, (gap) => ' '.repeat(gap.length)),
        )
    }
    const whole = plain()
      .lines(traffic.entries)
      .filter((line) => line.includes('#'))
      .map((line) => line.replace(/\+\S+/, (gap) => ' '.repeat(gap.length)))
    expect([...last.values()].sort()).toEqual(whole.sort())
    sandbox.dispose()
  })

  test('prints nothing for an entry that arrives again unchanged', async () => {
    using sandbox = await night()
    const live = plain()
    const entries: readonly Entry[] = sandbox.traffic.entries
    expect(live.lines(entries).length).toBeGreaterThan(20)
    expect(live.lines(entries)).toEqual([])
  })

  test('names no delivery when several are in flight', async () => {
    using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
    const { clock, destinations, queue, store, traffic } = sandbox
    destinations.on(orders, async (_, task) => {
      await task.sleep('1s')
      store.run('INCR', 'n')
      return new Response()
    })
    queue.publish({ to: orders })
    queue.publish({ to: orders })
    await clock.drain()
    const told = plain().lines(traffic.entries)
    const [first] = told.filter((line) => line.includes('INCR'))
    expect(parts(told).find((row) => row[4]?.startsWith('INCR'))).toEqual(
      parts(traffic.timeline().split('\n')).find((row) => row[4]?.startsWith('INCR')),
    )
    expect(first).toBeDefined()
  })
})
