import type { Sandbox } from 'stuntdouble'
import { finishedRun, trigger } from './example-scope.js'

const orders = 'https://shop.test/orders'

/** An order is published, and delivered. */
async function deliver({ queue, clock }: Sandbox): Promise<void> {
  queue.publish({ to: orders, body: { id: 42 } })
  await clock.drain()
}

const tenMinutesLater = (sandbox: Sandbox): Promise<void> => sandbox.clock.advance('10m')

const nightly = ({ fetch, urls, tokens }: Sandbox): Promise<Response> =>
  fetch(`${urls.queue}/v2/schedules/https://shop.test/report`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.queue}`,
      'upstash-cron': '0 3 * * *',
      'upstash-schedule-id': 'nightly',
    },
  })

const command = ({ fetch, urls, tokens }: Sandbox, ...argv: readonly string[]): Promise<Response> =>
  fetch(urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.store}` },
    body: JSON.stringify(argv),
  })

const profile = (sandbox: Sandbox): Promise<Response> =>
  command(sandbox, 'SET', 'profile:42', '{"name":"Ada"}', 'EX', '3600')

/** What has happened before an example, where it asserts something or reads what exists. */
export const sceneBefore: Readonly<Record<string, (sandbox: Sandbox) => unknown>> = {
  'Queue.publish': ({ queue }) => queue.urlGroups.addEndpoints('warehouses', ['https://shop.test/stock']),
  'QueueSchedules.fire': nightly,
  'QueueSchedules.upcoming': nightly,
  'RemoteSchedules.fire': nightly,
  'RemoteSchedules.upcoming': nightly,
  'PastStore.run': tenMinutesLater,
  'PastStore.dump': tenMinutesLater,
  'PastStore.diff': tenMinutesLater,
  'PastSandbox.fork': tenMinutesLater,
  'Sandbox.asOf': tenMinutesLater,
  'Sandbox.fork': tenMinutesLater,
  'RemoteSandbox.asOf': tenMinutesLater,
  'RemotePastSandbox.storeIn': tenMinutesLater,
  'RemoteSandbox.fork': tenMinutesLater,
  'RemotePastStore.get': tenMinutesLater,
  'RemotePastStore.run': tenMinutesLater,
  'RemotePastStore.dump': tenMinutesLater,
  'RemotePastStore.diff': tenMinutesLater,
  'RemotePastSandbox.fork': tenMinutesLater,
  'RemoteTraffic.follow': deliver,
  'Sandbox.queueIn': async (sandbox) => {
    sandbox.queueIn('us-east-1').publish({ to: orders })
    await sandbox.clock.drain()
  },
  commandOf: profile,
  expect: profile,
  entryOf: deliver,
  loadTrace: deliver,
  'SandboxMatchers.toHaveExecuted': profile,
  'SandboxMatchers.toHaveKey': profile,
  'SandboxMatchers.toHavePublished': ({ queue }) => queue.publish({ to: orders, retries: 3, body: { id: 42 } }),
  'SandboxMatchers.toHaveDelivered': async (sandbox) => {
    sandbox.destinations.script(orders, [500])
    await deliver(sandbox)
  },
  'SandboxMatchers.toHaveDeadLetter': async ({ destinations, queue, clock }) => {
    destinations.respond(orders, 503)
    queue.publish({ to: orders, retries: 0 })
    await clock.drain()
  },
  'SandboxMatchers.toHaveDeliveredCallback': async ({ destinations, queue, clock }) => {
    destinations.respond(orders, 503)
    destinations.respond('https://shop.test/failed', 200)
    queue.publish({ to: orders, retries: 2, failureCallback: 'https://shop.test/failed' })
    await clock.drain()
  },
  'SandboxMatchers.toHaveDeduplicated': ({ queue }) => {
    queue.publish({ to: orders, deduplicationId: 'order-42' })
    queue.publish({ to: orders, deduplicationId: 'order-42' })
  },
  'SandboxMatchers.toHaveSchedule': nightly,
  'SandboxMatchers.toHaveReceivedRequest': ({ fetch, urls }) => fetch(`${urls.queue}/v2/messages/1`),
  'SandboxMatchers.toFollowSequence': async (sandbox) => {
    sandbox.destinations.script(orders, [500])
    await deliver(sandbox)
    await command(sandbox, 'INCR', 'orders')
  },
  'SandboxMatchers.toHaveWorkflowRun': finishedRun,
  'SandboxMatchers.toHaveWorkflowStep': async (sandbox) => {
    sandbox.workflow.stubStep('charge').throws('card declined', { times: 1 })
    await (await trigger(sandbox)).advanceToStep('approval')
  },
  'SandboxMatchers.toHaveWorkflowWait': async (sandbox) => {
    const run = await trigger(sandbox)
    await run.advanceToStep('approval')
    sandbox.workflow.notify('approved')
    await sandbox.clock.drain()
  },
  parseRunHistory: finishedRun,
  'Workflow.getRun': trigger,
  'SandboxMatchers.toHaveOutboundRequest': async ({ outbound }) => {
    outbound.respond('https://bank.test/charges', 201)
    await fetch('https://bank.test/charges', { method: 'POST' })
  },
}

/** Functions, or files of functions, whose examples compile here and run in another program. */
export const needsAnotherProgram: ReadonlySet<string> = new Set([
  // With a real Redis: test/package and packages/server/test/real-redis run such programs.
  'createRealRedisSandbox',
  'createShadowSandbox',
  'RealRedisSandbox.close',
  'ShadowSandbox.differences',
  // Waits for a person.
  'inspect',
  // In Playwright: test/playwright.
  'fixtures/playwright.ts',
  'src/adapters/playwright.ts',
])
