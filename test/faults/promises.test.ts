import { createSandbox, type FaultRule, injectionPoints } from 'stuntdouble'
import { expect, test } from 'vitest'
import { catalog, faultKinds } from '../../src/faults/catalog.js'

const shop = 'https://shop.test/orders'

// Faults must not violate the invariants of the queue. The invariants know which faults suspend which of them by
// design.

test.each(
  faultKinds.filter((kind) =>
    catalog[kind].points.some((point) => point.startsWith('queue.') && point !== 'queue.request'),
  ),
)('the queue keeps its invariants under %s', async (kind) => {
  for (const on of injectionPoints.filter((point) => catalog[kind].points.includes(point))) {
    if (on !== 'queue.delivery' && on !== 'queue.callback') continue
    const sandbox = createSandbox({ onWarning: () => {} })
    const rule = {
      on,
      fault: kind === 'outage' ? { kind } : catalog[kind].example,
      every: 2,
      times: 4,
      ...(kind === 'outage' && { until: '10m' }),
    } as FaultRule
    sandbox.faults.add(rule)
    sandbox.destinations.on('https://shop.test/*', async (_request, task) => {
      await task.sleep('2s')
      return Response.json({ done: true })
    })
    for (let count = 0; count < 3; count++) {
      const shared = {
        to: shop,
        retries: 2,
        timeout: '30s' as const,
        callback: 'https://shop.test/back',
        failureCallback: 'https://shop.test/failed',
      }
      sandbox.queue.publish({ ...shared, delay: `${count}s` })
      sandbox.queue.publish({ ...shared, queue: 'line' })
      sandbox.queue.publish({ ...shared, flowControlKey: 'k', flowControlValue: 'parallelism=1, rate=1, period=1s' })
    }
    await sandbox.clock.drain()
    expect(sandbox.faults.unused).toEqual([])
    expect([
      on,
      sandbox.checkInvariants().violations.map(({ invariant, message: sentence }) => `${invariant}: ${sentence}`),
    ]).toEqual([on, []])
  }
})
