import fc from 'fast-check'
import { createSandbox, type Policy } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { deliveryFaults } from '../../packages/explore/src/delivery/fault-arbitraries.js'
import { engineOf } from '../../src/queue/queue-internals.js'
import { createSchedule } from '../../src/scenarios/actions.js'
import { type BadHandler, failing, harmless, stuck } from '../support/bad-handlers.js'
import { runs } from '../support/effort.js'
import { shop } from './world.js'

// Random misbehaving handlers in random sandboxes: time can always be drained, and every invariant holds.

const handlers: Readonly<Record<string, BadHandler>> = { ...failing, ...harmless, ...stuck }
const reports = 'https://reports.test/cb'

const options = fc.record(
  {
    retries: fc.nat(3),
    retryDelay: fc.constantFrom(
      '1000',
      '1/0',
      'sqrt(0-1)',
      '0 - retried',
      'pow(10, 300) * pow(10, 300)',
      'retried % 0',
    ),
    timeout: fc.constantFrom('1s', '30s'),
    delay: fc.constantFrom('0s', '5s'),
    callback: fc.constantFrom(shop, reports),
    failureCallback: fc.constantFrom(shop, reports),
    flowControlValue: fc.constantFrom('parallelism=1', 'rate=1, period=10s'),
    queue: fc.constantFrom('line', 'other'),
    deduplicationId: fc.constantFrom('a', 'b'),
  },
  { requiredKeys: ['retries', 'timeout'] },
)

const policies: fc.Arbitrary<Partial<Policy>> = fc.record(
  {
    followRedirects: fc.boolean(),
    cancelTiming: fc.constantFrom('due', 'immediate'),
    queuePlan: fc.constantFrom('free', 'payg'),
  },
  { requiredKeys: [] },
)

describe('messages with random handlers', () => {
  test('all end, in any sandbox', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(handlers)), { minLength: 1, maxLength: 4 }),
        fc.array(options, { minLength: 1, maxLength: 4 }),
        deliveryFaults({ maxRules: 2 }),
        policies,
        fc.boolean(),
        fc.boolean(),
        async (names, messages, rules, policy, toGroup, withSchedule) => {
          const sandbox = createSandbox({
            policy: { queueLimits: { maxMessageSize: 50_000 }, ...policy, handlerStallTimeout: 2 },
            onWarning: () => undefined,
          })
          const { clock, destinations, faults, queue } = sandbox
          let calls = 0
          // biome-ignore lint/suspicious/noExplicitAny: what no type allows
          destinations.on('*', (_request, task): any => handlers[names[calls++ % names.length]!]!(sandbox, task))
          faults.add(rules)
          queue.urlGroups.addEndpoints('group', [shop, reports])
          for (const message of messages)
            queue.publish({ to: toGroup ? 'group' : shop, flowControlKey: 'k', ...message } as never)
          if (withSchedule) {
            createSchedule({ id: 's', cron: '* * * * *', to: shop, retries: 1 }, sandbox)
            await clock.advance('3m')
            engineOf(queue).schedules.delete('s')
          }
          await clock.drain()
          await clock.drain()
          sandbox.assertInvariants()
          expect([...engineOf(queue).whereabouts()]).toEqual([])
          expect(clock.running).toEqual([])
        },
      ),
      { numRuns: runs(100, 100, 1000) },
    )
  }, 240_000)
})
