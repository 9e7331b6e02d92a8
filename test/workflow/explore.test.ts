import { Client as QueueClient } from '@upstash/qstash'
import { serve } from '@upstash/workflow/nextjs'
import { defineScenario, fault, type InjectionPoint, type Sandbox } from 'stuntdouble'
import { exploreFaults } from 'stuntdouble/checks'
import { expect, test } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { injectionPoints } from '../../src/faults/points.js'

const url = 'https://shop.test/api/order'

/** A workflow with a step that charges, a call, and a wait for an event that does not arrive. */
function app(sandbox: Sandbox): void {
  replaceFetch(sandbox)
  const qstashClient = new QueueClient({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
  const { POST } = serve(
    async (context) => {
      await context.run('charge', () => void sandbox.store.run('INCR', 'charged'))
      await context.call('ask', { url: 'https://third.test/ask', retries: 1 })
      await context.waitForEvent('approval', 'approved', { timeout: '1h' })
    },
    { qstashClient, receiver: undefined as never },
  )
  sandbox.destinations.on(url, POST as unknown as (request: Request) => Promise<Response>)
  sandbox.destinations.respond('https://third.test/*', 200)
}

const ordered = defineScenario({ name: 'ordered', steps: [{ publish: { to: url } }, { drain: true }] })
const options = {
  setup: app,
  sandbox: { onWarning: () => {} } as const,
  holds: ({ store, workflow }: Sandbox) =>
    workflow.runs.every(({ state }) => state === 'RUN_SUCCESS') && store.get('charged') === '1',
}

test('exploreFaults() injects a fault at each delivery, call and wait of a run', async () => {
  const on = ['workflow.step', 'workflow.call', 'workflow.wait'] as const
  const tried = await exploreFaults(ordered, { ...options, on })
  expect(tried.table()).toBe(
    `✓    no fault
✗    lost-ack at delivery 1: attempt 1 to ${url}, step "init"      charged = "2", expected "1"; holds() returned false
✓    lost-ack at delivery 2: attempt 1 to ${url}, step "charge"
✓    lost-ack at delivery 3: attempt 1 to ${url}, step "ask"
✓    lost-ack at delivery 4: attempt 1 to ${url}, step "ask"
✓    lost-ack at delivery 5: attempt 1 to ${url}, step "approval"
✓    lost-ack at call 1: attempt 1 to https://third.test/ask, step "ask"
✓    lost-ack at request 1: POST https://queue.test/v2/wait/approved, step "approval"
7 of 8 hold.`,
  )
  // The suggested rule reproduces the failure.
  for (const { rule, holds } of tried.outcomes.slice(1)) {
    const again = await exploreFaults({ ...ordered, faults: [rule!] }, { ...options, on: 'stats.request' })
    expect([rule, again.holds]).toEqual([rule, holds])
    expect(again.outcomes[0]!.sandbox.faults.unused).toEqual([])
    expect(again.table()).toMatch(/No run reached stats\.request/)
  }
})

test('exploreFaults() injects each fault exactly once, at every point that a run reaches', async () => {
  const reached: InjectionPoint[] = []
  for (const on of injectionPoints) {
    const placed =
      on === 'schedule.fire' || on === 'stream.event' ? { kind: 'pass' as const } : [fault.status(503), fault.reset()]
    const fits = on === 'store.command' ? fault.reset() : placed
    const tried = await exploreFaults(ordered, { ...options, on, fault: fits, holds: () => true })
    if (tried.runs > 1) reached.push(on)
    for (const { sandbox, rule } of tried.outcomes.slice(1)) {
      expect(sandbox.faults.rules.map(({ rule, injected: struck }) => [rule.on, struck])).toEqual([[rule!.on, 1]])
    }
  }
  expect(reached).toEqual([
    'queue.request',
    'queue.delivery',
    'queue.callback',
    'workflow.step',
    'workflow.call',
    'workflow.wait',
  ])
})
