import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { runs } from '../support/effort.js'

// A sandbox creates its queue when it is first used. What happens must not depend on when that is.

type Step = (sandbox: Sandbox) => unknown

const url = 'https://shop.test/api/orders'

/** Requests of a client, among them the first use of the queue. */
const schedule: fc.Arbitrary<Step> = fc.constant(({ fetch, env, urls }) =>
  fetch(`${urls.queue}/v2/schedules/${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.QSTASH_TOKEN}`, 'upstash-cron': '* * * * *' },
  }),
)

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.nat({ max: 3 }).map(
    (key): Step =>
      ({ store }) =>
        store.run('INCR', `key ${key}`),
  ),
  fc.nat({ max: 3 }).map(
    (key): Step =>
      ({ store }) =>
        store.run('SET', `key ${key}`, 1, 'EX', 5),
  ),
  fc.integer({ min: 1, max: 90 }).map(
    (seconds): Step =>
      ({ clock }) =>
        clock.advance(`${seconds}s`),
  ),
  fc.nat({ max: 9 }).map(
    (delay): Step =>
      ({ queue }) =>
        queue.publish({ to: url, body: `order ${delay}`, delay: `${delay}s` }),
  ),
  fc.constant<Step>(({ queueIn }) => void queueIn('us-east-1').publish({ to: url })),
  fc.constant<Step>(({ workflow }) => workflow.runs),
  fc.constant<Step>(async (sandbox) => (await sandbox.fork()).dispose()),
  schedule,
  fc.constant<Step>((sandbox) => sandbox.load(sandbox.dump())),
  fc.constant<Step>((sandbox) => sandbox.reset()),
)

async function traceOf(all: readonly Step[], begin: Step): Promise<string> {
  const sandbox = createSandbox({ seed: 7 })
  sandbox.destinations.on(url, () => new Response('no', { status: 500 }))
  begin(sandbox)
  for (const step of all) await step(sandbox)
  const told = JSON.stringify([sandbox.traffic.toTrace(), sandbox.dump()])
  sandbox.dispose()
  return told
}

test('a queue that is created late behaves like one that is created at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 12 }), async (all) => {
      const early = await traceOf(all, ({ queue }) => queue)
      expect(await traceOf(all, () => undefined)).toBe(early)
    }),
    { numRuns: runs(60, 300, 2000) },
  )
})
