// Cost of a report after much traffic. It must depend on what the report shows, not on what was counted.
import { createSandbox } from 'stuntdouble'
import { type StatsPeriod, usage } from 'stuntdouble/stats'
import type { Figure, Variant } from '../harness.ts'

const start = Date.UTC(2030, 0, 1)
const month = 30 * 86_400_000

/** Adds this many entries to the traffic log of a sandbox, spread over a month, and then creates reports. */
async function reports(name: string, entries: number, period: StatsPeriod): Promise<Variant> {
  const sandbox = createSandbox({ startAt: start, policy: { maxTrafficEntries: undefined } })
  sandbox.destinations.respond('https://shop.test/orders', () => 200)
  // Each message has two entries: one for its publish and one for its delivery.
  for (let index = 0; index < entries / 2; index++) {
    const notBefore = Math.floor((start + (index / (entries / 2)) * month) / 1000) * 1000
    sandbox.queue.publish({ to: 'https://shop.test/orders', body: '{"id":1}', notBefore })
  }
  await sandbox.clock.advanceTo(start + month)
  if (sandbox.traffic.ofType('attempt').length !== entries / 2) throw new Error('Not every message was delivered.')
  return {
    name,
    run(times) {
      for (let count = 0; count < times; count++) sandbox.stats.queue.report(period)
    },
  }
}

async function afterMillion(period: StatsPeriod): Promise<Figure> {
  return {
    name: `a report (${period}) after 1M traffic entries over one after 1k`,
    baseline: await reports('1k entries', 1_000, period),
    variants: [await reports('1M entries', 1_000_000, period)],
    atMost: { '1M entries': 2 },
  }
}

const shortReport = (): Promise<Figure> => afterMillion('1h')
const longReport = (): Promise<Figure> => afterMillion('30d')

function storyReport(): Figure {
  const told = (name: string, steps: Parameters<ReturnType<typeof index>['script']>[0]): Variant => {
    const one = index()
    one.script(steps)
    return {
      name,
      run(times) {
        for (let count = 0; count < times; count++) one.report('30d')
      },
    }
  }
  const index = () => createSandbox({ startAt: start + month }).stats.search('products')
  const spikes = Array.from({ length: 100 }, (_, number) => usage.spikeAt(start + (number / 100) * month, 3))
  return {
    name: 'a report (30d) of a story of a hundred steps over one of one step',
    baseline: told('one step', [usage.steady({ queries: 100, updates: 10 })]),
    variants: [
      told('a hundred steps', [
        usage.steady({ queries: 100, updates: 10 }),
        usage.gap('-3d', '1h'),
        usage.monthEnd(3),
        ...spikes,
      ]),
    ],
    atMost: { 'a hundred steps': 2 },
  }
}

export const figures = [shortReport, longReport, storyReport]
