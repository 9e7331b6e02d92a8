// Compiled, never run: valid and invalid calls of matchers, with the augmentations of all three runners in one program.
import { expect as jestExpect } from '@jest/globals'
import { expect as playwrightExpect } from '@playwright/test'
import type { Sandbox } from 'stuntdouble'
import type { Exploration } from 'stuntdouble/checks'
import type { RemoteSandbox } from 'stuntdouble/client'
import type {} from 'stuntdouble/jest/extend'
import { type AsymmetricMatcher, commandOf, entryOf, messageTo, type SandboxMatchers } from 'stuntdouble/matchers'
import type {} from 'stuntdouble/playwright/extend'
import type {} from 'stuntdouble/vitest/extend'
import { expect as vitestExpect } from 'vitest'

declare const sandbox: Sandbox
// biome-ignore lint/suspicious/noExplicitAny: what nothing is known of
declare const unknownThing: any
const to = 'https://shop.test/orders'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(..._: Equal<A, B> extends true ? [] : [never]): void {}

/** Every matcher in its valid forms, and mistakes that must not compile; `E` is the return type of an assertion. */
function written<E extends void | Promise<void>>(assertion: SandboxMatchers<E, Sandbox>): E[] {
  // @ts-expect-error: there is no field url
  assertion.toHavePublished({ url: to })
  // @ts-expect-error: retries is a number
  assertion.toHavePublished({ to, retries: '3' })
  // @ts-expect-error: a duration has a unit
  assertion.toHavePublished({ delay: '90' })
  // @ts-expect-error: times belongs in the last argument
  assertion.toHavePublished({ to, times: 2 })
  // @ts-expect-error: a range begins with its sign
  assertion.toHavePublished({ to }, { times: '2+' })
  // @ts-expect-error: a range has at least one end
  assertion.toHavePublished({ to }, { times: {} })
  // @ts-expect-error: every message has an address
  assertion.toHavePublished({ to: undefined })
  // @ts-expect-error: no such state
  assertion.toHaveDelivered({ state: 'DONE' })
  // @ts-expect-error: an attempt has no field code
  assertion.toHaveDelivered({ attempts: [{ code: 500 }] })
  // @ts-expect-error: statuses are numbers
  assertion.toHaveDelivered({ attempts: ['500'] })
  // @ts-expect-error: a dead letter has failed
  assertion.toHaveDeadLetter({ state: 'FAILED' })
  // @ts-expect-error: a message is not a callback
  assertion.toHaveDeliveredCallback({ kind: 'message' })
  // @ts-expect-error: an outbound request has no field to
  assertion.toHaveOutboundRequest({ to })
  // @ts-expect-error: how often the host worked is a number
  assertion.toHaveOutboundRequest({ url: to, handlerRuns: '2' })
  // @ts-expect-error: times belongs in the last argument
  assertion.toHaveOutboundRequest({ url: to, times: 2 })
  // @ts-expect-error: all of them are duplicates
  assertion.toHaveDeduplicated({ deduplicated: true })
  // @ts-expect-error: both keys of a receiver
  assertion.toHaveValidSignature({ keys: { current: 'a' } })
  // @ts-expect-error: the expected costs are missing
  assertion.toHaveCost()
  // @ts-expect-error: there is no such cost
  assertion.toHaveCost({ money: 3 })
  // @ts-expect-error: a schedule has a cron expression
  assertion.toHaveSchedule({ crn: '0 3 * * *' })
  // @ts-expect-error: there is no such service
  assertion.toHaveReceivedRequest({ service: 'shop' })
  // @ts-expect-error: there is no such type of key
  assertion.toHaveKey('k', { type: 'text' })
  // @ts-expect-error: a duration has a unit
  assertion.toHaveKey('k', { ttl: '1' })
  // @ts-expect-error: a step has a type
  assertion.toFollowSequence([{ status: 500 }])
  // @ts-expect-error: there is no such type of entry
  assertion.toFollowSequence([{ type: 'delivered' }])
  // @ts-expect-error: an attempt has no field code
  assertion.toFollowSequence([{ type: 'attempt', code: 500 }])
  // @ts-expect-error: an entry of that type has no argv
  assertion.toFollowSequence([{ type: 'attempt', argv: ['INCR'] }])
  // @ts-expect-error: there is no such state of a run
  assertion.toHaveWorkflowRun({ state: 'RUN_SUCCESS' })
  // @ts-expect-error: a run has no url, its workflow has
  assertion.toHaveWorkflowRun({ url: to })
  // @ts-expect-error: what a run costs is a number
  assertion.toHaveWorkflowRun({ cost: '4' })
  // @ts-expect-error: a step of a run has no field status
  assertion.toHaveWorkflowRun({ steps: [{ name: 'charge', status: 200 }] })
  // @ts-expect-error: the name of the step comes first
  assertion.toHaveWorkflowStep({ attempts: 2 })
  // @ts-expect-error: the name is the first argument
  assertion.toHaveWorkflowStep('charge', { name: 'charge' })
  // @ts-expect-error: there is no such state of a step
  assertion.toHaveWorkflowStep('charge', { state: 'success' })
  // @ts-expect-error: a step has a name
  assertion.toHaveWorkflowStep()
  // @ts-expect-error: attempts are counted
  assertion.toHaveWorkflowStep('charge', { attempts: [500, 200] })
  // @ts-expect-error: there is no such outcome
  assertion.toHaveWorkflowWait('approved', { outcome: 'timeout' })
  // @ts-expect-error: the id of the event comes first
  assertion.toHaveWorkflowWait({ outcome: 'received' })
  // @ts-expect-error: times belongs in the last argument
  assertion.toHaveWorkflowWait('approved', { times: 2 })
  // @ts-expect-error: it takes nothing
  assertion.toHold(true)
  // @ts-expect-error: it takes nothing
  assertion.toBeIdle({ times: 1 })
  return [
    assertion.toHaveExecuted('SET', 'k', 1, 2n, /x/, { a: 1 }, [1], anything, { times: '>=2' }),
    assertion.toHaveKey('k', { value: { a: anything }, ttl: '1h30m', type: 'hash' }),
    assertion.toHaveKey('k', { ttl: null }),
    assertion.toHavePublished(),
    assertion.toHavePublished(
      { to: /orders/, body: [1], headers: { 'x-tag': 1 }, queue: undefined },
      { times: { min: 1 } },
    ),
    assertion.toHaveDelivered(
      { attempts: [500, 0, 200], state: 'DELIVERED', deliveredAt: new Date(0) },
      { times: '2..4' },
    ),
    assertion.toHaveDelivered({ attempts: [{ status: 500 }, anything], response: anything }),
    assertion.toHaveDeadLetter({ dlqId: anything, status: 503 }),
    assertion.toHaveOutboundRequest('POST https://bank.test/*', { times: '<=1' }),
    assertion.toHaveOutboundRequest({
      url: /bank/,
      method: 'POST',
      body: { a: 1 },
      status: 0,
      handlerRuns: 2,
      error: anything,
    }),
    assertion.toHaveDeliveredCallback({ kind: 'failure-callback', body: { a: 1 } }),
    assertion.toHaveDeduplicated({ deduplicationId: 'a' }, { times: 1 }),
    assertion.toHaveValidSignature({ key: 'current', at: '2030-01-01T00:00:00Z', claims: { iss: anything } }),
    assertion.toHaveCost({ messages: '<=3', commands: { min: 1, max: 5 }, bandwidth: '0..100' }),
    assertion.toHaveSchedule({ cron: '0 3 * * *', next: 0 }),
    assertion.toHaveReceivedRequest({ service: 'queue', status: 401 }),
    assertion.toFollowSequence([
      { type: 'published', to },
      { type: 'attempt', status: 500, headers: { 'x-tag': /a/ } },
      { type: 'command', argv: ['INCR', anything] },
      { type: 'keyspace', event: 'expired' },
    ]),
    assertion.toHaveWorkflowRun(),
    assertion.toHaveWorkflowRun(
      {
        workflow: /order/,
        runId: anything,
        state: 'success',
        steps: ['reserve', { name: /ch/, type: 'Run', state: 'done', attempts: 2, result: { id: anything } }],
        result: { ok: true },
        cost: 4,
      },
      { times: '>=1' },
    ),
    assertion.toHaveWorkflowStep('charge'),
    assertion.toHaveWorkflowStep(/charge/, {
      workflow: to,
      type: 'Run',
      state: anything,
      attempts: 1,
      result: undefined,
    }),
    assertion.toHaveWorkflowStep('charge', { result: [1] }, { times: { min: 1 } }),
    assertion.toHaveWorkflowWait('approved'),
    assertion.toHaveWorkflowWait(anything, { step: 'approval', outcome: 'timed-out', data: undefined }, { times: 1 }),
    assertion.toBeIdle(),
  ]
}

const anything: AsymmetricMatcher = vitestExpect.anything()

/** The three runners know the same matchers, and promises stay promises. */
export function everywhere(): void {
  written<void>(vitestExpect(sandbox))
  written<void>(vitestExpect(sandbox).not)
  written<Promise<void>>(vitestExpect(Promise.resolve(sandbox)).resolves)
  written<Promise<void>>(vitestExpect.poll(() => sandbox))
  written<void>(jestExpect(sandbox))
  written<void>(jestExpect(sandbox).not)
  written<Promise<void>>(jestExpect(Promise.resolve(sandbox)).resolves)
  written<void>(playwrightExpect(sandbox))
  written<void>(playwrightExpect(sandbox).not)
  written<Promise<void>>(playwrightExpect(Promise.resolve(sandbox)).resolves)
  written<Promise<void>>(playwrightExpect.poll(() => sandbox))
  same<ReturnType<SandboxMatchers<void>['toBeIdle']>, void>()
  // @ts-expect-error: the runner's own matchers are still checked
  vitestExpect(sandbox).toHaveValidSignaturee()
  // @ts-expect-error: the runner's own matchers are still checked
  jestExpect(sandbox).toHaveValidSignaturee()
  // @ts-expect-error: the runner's own matchers are still checked
  playwrightExpect(sandbox).toHaveValidSignaturee()
}

/** Values in expect() that a matcher rejects, in each of the three runners. */
export async function onOthers(remote: RemoteSandbox, explored: Exploration): Promise<void> {
  const { store, queue, traffic } = sandbox
  const recorder = sandbox.destinations.record(to)
  vitestExpect(store).toHaveKey('k')
  vitestExpect(store).toHaveExecuted('GET', 'k')
  vitestExpect(queue).toHaveDelivered({ to })
  vitestExpect(traffic).toHaveDelivered()
  vitestExpect(traffic.entries).toFollowSequence([{ type: 'attempt' }])
  vitestExpect(recorder).toHaveValidSignature()
  vitestExpect(recorder.last()).toHaveValidSignature({ key: 'current' })
  vitestExpect({ url: to, headers: {}, body: '' }).toHaveValidSignature()
  vitestExpect(explored).toHold()
  vitestExpect(await remote.snapshot()).toBeIdle()
  vitestExpect(await remote.queue.snapshot()).toHaveDelivered()
  vitestExpect(await remote.store.snapshot()).toHaveKey('k')
  vitestExpect(await remote.snapshot()).toHaveKey('k')
  vitestExpect(await remote.snapshot()).toHaveSchedule()
  vitestExpect(await remote.queue.snapshot()).toHaveSchedule()
  vitestExpect(queue).toHaveSchedule({ cron: '* * * * *' })
  vitestExpect(sandbox).not.toHaveSchedule()
  vitestExpect(sandbox.asOf('-1m')).toHaveExecuted('GET', 'k')
  vitestExpect(sandbox.asOf('-1m')).toHavePublished()
  vitestExpect(unknownThing).toHavePublished()
  await vitestExpect(remote.queue.snapshot()).resolves.toHaveDelivered()
  await jestExpect(remote.queue.snapshot()).resolves.toHaveDelivered()
  await playwrightExpect(remote.queue.snapshot()).resolves.toHaveDelivered()
  await playwrightExpect.poll(() => remote.snapshot()).toBeIdle()
  playwrightExpect(queue).toHaveDelivered({
    to: playwrightExpect.stringContaining('shop'),
    body: playwrightExpect.objectContaining({ id: 1 }),
    retried: playwrightExpect.any(Number),
    attempts: [{ status: playwrightExpect.anything() }],
  })
  playwrightExpect(store).toHaveKey('k', { ttl: playwrightExpect.any(Number) })
  jestExpect(queue).toHaveDelivered({ to: jestExpect.stringContaining('shop'), retried: jestExpect.any(Number) })
  vitestExpect(queue).toHaveDelivered({ to: vitestExpect.stringContaining('shop'), retried: vitestExpect.any(Number) })

  // @ts-expect-error: a store delivers nothing
  vitestExpect(store).toHaveDelivered()
  // @ts-expect-error
  vitestExpect(store).not.toHaveDelivered({ to })
  // @ts-expect-error
  jestExpect(store).toHaveDelivered()
  // @ts-expect-error
  jestExpect(store).not.toHaveDelivered({ to })
  // @ts-expect-error
  playwrightExpect(store).toHaveDelivered()
  // @ts-expect-error
  playwrightExpect(store).not.toHaveDelivered({ to })
  // @ts-expect-error: a number has no keys
  vitestExpect(5).toHaveKey('k')
  // @ts-expect-error
  jestExpect(5).toHaveKey('k')
  // @ts-expect-error
  playwrightExpect(5).toHaveKey('k')
  // @ts-expect-error: a queue has no keys
  vitestExpect(queue).toHaveKey('k')
  // @ts-expect-error: a log has no keys
  vitestExpect(traffic).toHaveKey('k')
  // @ts-expect-error: a view of the past has no current keys
  vitestExpect(sandbox.asOf('-1m')).toHaveKey('k')
  // @ts-expect-error: a log has no schedules
  vitestExpect(traffic).toHaveSchedule()
  // @ts-expect-error
  jestExpect(traffic.entries).toHaveSchedule()
  // @ts-expect-error: a view of the past has no current schedules
  playwrightExpect(sandbox.asOf('-1m')).toHaveSchedule()
  // @ts-expect-error: a store has no schedules
  vitestExpect(store).toHaveSchedule()
  // @ts-expect-error: a queue runs no commands
  jestExpect(queue).toHaveExecuted('GET', 'k')
  // @ts-expect-error: a message is not a delivery
  vitestExpect(queue.publish({ to: 'https://shop.test/orders' })).toHaveDelivered()
  // @ts-expect-error: its log has to be fetched first
  vitestExpect(remote).toHaveDelivered()
  // @ts-expect-error: a queue has no clock
  vitestExpect(queue).toBeIdle()
  // @ts-expect-error: nothing was explored
  vitestExpect(sandbox).toHold()
  // @ts-expect-error: nothing at all
  vitestExpect(undefined).toHavePublished()
  // @ts-expect-error: a response of the app is not an exploration
  await vitestExpect(fetch(to)).resolves.toHaveDelivered()
}

/** Asymmetric matchers inside other values. */
export const inside: readonly AsymmetricMatcher[] = [
  messageTo(to, { retries: 3 }),
  commandOf('SET', 'k', { a: 1 }),
  entryOf('attempt', { status: 500 }),
  vitestExpect.messageTo(to),
  vitestExpect.not.messageTo(to),
  jestExpect.messageTo(to),
  jestExpect.commandOf('SET'),
  jestExpect.entryOf('dead-letter', { to }),
  // @ts-expect-error: there is no field url
  messageTo(to, { url: to }),
  // @ts-expect-error: an attempt has no field code
  entryOf('attempt', { code: 500 }),
  // @ts-expect-error: there is no such type of entry
  entryOf('delivered'),
]
