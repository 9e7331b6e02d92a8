import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import type { sandboxMatchers } from 'stuntdouble/matchers'
import { expect } from 'vitest'
import { flows } from './flows.js'

// A table of verdicts of each matcher for one small sandbox. The real matchers fulfill it (verdicts.test.ts), and
// matchers with a mistake do not (mutants.alone.full.test.ts). The script below creates the traffic.

type Matchers = typeof sandboxMatchers
type Place =
  | 'sandbox'
  | 'queue'
  | 'store'
  | 'traffic'
  | 'busy'
  | 'held'
  | 'failed'
  | 'bank'
  | 'delivery'
  | 'forged'
  | 'entries'
  | 'recorder'
  | 'flows'

export interface Row {
  readonly matcher: keyof Matchers
  readonly on: Place
  readonly given: readonly unknown[]
  readonly pass: boolean
  /** Texts in the failure of the failing assertion: the plain one, or its `.not`. */
  readonly says?: readonly (string | RegExp)[]
}

const orders = 'https://shop.test/orders'
const lost = 'https://shop.test/lost'
const mail = 'https://shop.test/mail'
const order = 'https://app.test/order'

export type World = { readonly [At in Place]: unknown } & { dispose(): void }

/**
 * Orders: 500, then 200, reported to /done. Lost: 503 twice and a dead letter, reported to /failed. Mail: published
 * twice with one deduplication id, never again. Commands of the app: SET with EX, INCR twice, a HSET that fails; of the
 * test: DECR.
 */
export async function world(): Promise<World> {
  const startAt = '2030-01-01T09:00:00Z'
  const sandbox = createSandbox({ seed: 7, startAt })
  const { urls, clock, destinations, queue, store, tokens } = sandbox
  destinations.script(orders, [fault.status(500)])
  destinations.on(orders, () => Response.json({ done: true }))
  destinations.on(lost, () => new Response('gone', { status: 503 }))
  const recorder = destinations.record(mail)
  destinations.record('https://shop.test/done')
  destinations.record('https://shop.test/failed')
  queue.publish({
    to: orders,
    body: { id: 42, items: [1] },
    retries: 2,
    callback: 'https://shop.test/done',
    headers: { 'X-Tag': 'a' },
  })
  queue.publish({ to: lost, body: 'plain', retries: 1, failureCallback: 'https://shop.test/failed', label: 'vip' })
  queue.publish({ to: mail, deduplicationId: 'mail-1', delay: '30s' })
  queue.publish({ to: mail, deduplicationId: 'mail-1', delay: '30s' })
  await clock.drain()
  const send = (path: string, body: unknown): Promise<Response> =>
    sandbox.fetch(`${urls.store}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.store}` },
      body: JSON.stringify(body),
    })
  await send('/', ['SET', 'profile:42', '{"name":"Ada","age":36}', 'EX', '3600'])
  await send('/pipeline', [
    ['INCR', 'visits'],
    ['INCR', 'visits'],
  ])
  await send('/', ['HSET', 'visits', 'a', '1'])
  await sandbox.fetch(`${urls.store}/get/none`)
  store.run('DECR', 'stock')
  await sandbox.fetch(`${urls.queue}/v2/schedules/${mail}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.queue}`, 'service-cron': '0 3 * * *', 'service-schedule-id': 'nightly' },
  })
  const busy = busySandbox(startAt)
  const bank = await bankSandbox(startAt)
  const workflows = await flows()
  const delivery = sandbox.traffic.ofType('attempt')[0]!
  const forged = { url: orders, headers: delivery.headers, body: '{"id":43}' }
  return {
    sandbox,
    queue,
    store,
    traffic: sandbox.traffic,
    busy,
    held: exploration(true),
    failed: exploration(false),
    bank,
    flows: workflows,
    delivery,
    forged,
    recorder,
    entries: JSON.parse(JSON.stringify(sandbox.traffic.entries)),
    dispose: () => {
      sandbox.dispose()
      busy.dispose()
      bank.dispose()
    },
  }
}

/**
 * Three outbound requests to a bank: one with a lost response, one rejected, one successful. Two bulk actions: one
 * cancels two of three messages, the other no run.
 */
async function bankSandbox(startAt: string): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt })
  const { outbound } = sandbox
  outbound.respond('POST https://bank.test/charges', { status: 201, body: { id: 'ch_1' } })
  outbound.script('https://bank.test/charges', [fault.lostAck(), fault.status(503)])
  const headers = { authorization: 'Bearer sk_live_1', 'content-type': 'application/json', 'x-tag': 'a' }
  const charge = (amount: number): Promise<unknown> =>
    outbound.fetch('https://bank.test/charges', { method: 'POST', body: JSON.stringify({ amount }), headers })
  for (const amount of [5, 5, 6]) await charge(amount).catch(() => undefined)
  outbound.takes('POST', 'https://bank.test/charge')
  for (const label of ['spring,mail', 'spring', 'autumn']) sandbox.queue.publish({ to: mail, delay: '1h', label })
  sandbox.queue.cancelMessages({ label: 'spring', host: ['shop.test', 'b.test'] })
  sandbox.workflow.cancelRuns()
  return sandbox
}

/** Result of `exploreInterleavings()`. */
function exploration(holds: boolean) {
  return {
    holds,
    table: () => (holds ? '✓  2 ×  alice bob' : '✗  2 ×  alice bob'),
    report: () =>
      holds ? '' : "Lost update: 2 of 2 orders fail.\nReplay: exploreInterleavings({ …, replay: 'alice bob' })",
  }
}

function busySandbox(startAt: string): Sandbox {
  const sandbox = createSandbox({ startAt })
  sandbox.destinations.script(lost, [fault.status(503)])
  sandbox.faults.add({ on: 'store.request', fault: fault.status(503) })
  sandbox.queue.publish({ to: orders, delay: '1h' })
  sandbox.workflow.stubStep('charge').returns(1)
  return sandbox
}

const yes = (matcher: Row['matcher'], on: Place, ...given: unknown[]): Row => ({ matcher, on, given, pass: true })
const no = (matcher: Row['matcher'], on: Place, ...given: unknown[]): Row => ({ matcher, on, given, pass: false })
const says = (row: Row, ...texts: (string | RegExp)[]): Row => ({ ...row, says: texts })

export const rows: readonly Row[] = [
  // toHaveExecuted
  yes('toHaveExecuted', 'store', 'SET', 'profile:42', expect.anything(), 'EX', '3600'),
  yes('toHaveExecuted', 'store', 'set', 'profile:42', { name: 'Ada' }, 'ex', 3600),
  yes('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: 2 }),
  yes('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: '>=2' }),
  yes('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: { max: 2 } }),
  no('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: 1 }),
  no('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: '>2' }),
  no('toHaveExecuted', 'sandbox', 'INCR', 'visits', { times: '<2' }),
  yes('toHaveExecuted', 'entries', 'INCR', 'visits', { times: '1..2' }),
  no('toHaveExecuted', 'store', 'SET', 'PROFILE:42'),
  no('toHaveExecuted', 'store', 'SET', 'profile:42', { name: 'Bob' }),
  no('toHaveExecuted', 'store', 'INCR', 'visits', expect.anything()),
  says(no('toHaveExecuted', 'store', 'DECR', 'stock'), /Hint: #\d+ matches, but the test itself ran this command/),
  says(
    no('toHaveExecuted', 'store', 'HSET', 'visits'),
    /✓ command {3}✓ key\n {6}✗ reply: expected success, received WRONGTYPE/,
  ),
  says(
    no('toHaveExecuted', 'store', 'INCR', 'visit'),
    /Nearest of 4:\n {2}#\d+ .*INCR visits → 1\n {6}✓ command {3}✗ key: expected 'visit', received 'visits'\n/,
  ),
  says(yes('toHaveExecuted', 'store', 'INCR'), 'Expected no executed command like this, found 2:'),
  // toHaveKey
  yes('toHaveKey', 'store', 'profile:42', { value: { age: 36 }, ttl: '1h', type: 'string' }),
  yes('toHaveKey', 'sandbox', 'visits', { value: 2, ttl: null }),
  no('toHaveKey', 'store', 'visits', { value: 3 }),
  no('toHaveKey', 'store', 'visits', { ttl: '1h' }),
  no('toHaveKey', 'store', 'profile:42', { ttl: '1h1s' }),
  no('toHaveKey', 'store', 'profile:42', { ttl: null }),
  no('toHaveKey', 'store', 'visits', { type: 'hash' }),
  says(no('toHaveKey', 'store', 'visit'), "Hint: Did you mean the key 'visits'?"),
  says(
    no('toHaveKey', 'store', 'profile:42', { ttl: 3600 }),
    "Hint: A number as TTL is in milliseconds. For seconds, write '3600s'.",
  ),
  says(yes('toHaveKey', 'store', 'visits'), 'but it exists:', "  visits   string, does not expire: '2'"),
  // toHavePublished
  yes(
    'toHavePublished',
    'queue',
    { to: orders, retries: 2, body: { id: 42 }, headers: { 'x-tag': 'a' } },
    { times: 1 },
  ),
  yes('toHavePublished', 'queue', {}, { times: 3 }),
  yes('toHavePublished', 'queue', { to: 'https://shop.test/*' }, { times: 3 }),
  yes('toHavePublished', 'entries', { label: 'vip', body: /^pl/ }, { times: 1 }),
  yes('toHavePublished', 'sandbox', { delay: '30s' }, { times: 1 }),
  yes('toHavePublished', 'queue', { kind: 'callback' }, { times: 2 }),
  no('toHavePublished', 'queue', { to: 'https://shop.test/order' }),
  no('toHavePublished', 'queue', { body: { id: 42, items: [1, 2] } }),
  no('toHavePublished', 'queue', { headers: { 'x-tag': 'b' } }),
  no('toHavePublished', 'queue', { delay: '31s' }),
  no('toHavePublished', 'queue', { queue: 'q' }),
  yes('toHavePublished', 'queue', { to: orders, queue: undefined }),
  says(
    no('toHavePublished', 'queue', { to: orders, retries: 3, body: { id: 42 } }),
    / {2}#1 at 09:00:00\.000 {3}msg_\w+… {3}to https:\/\/shop\.test\/orders\n {6}✓ to {3}✗ retries: expected 3, received 2 {3}✓ body\n/,
    /\nReplay: seed 7, entry 1\n/,
  ),
  says(yes('toHavePublished', 'queue', { to: orders }), 'Expected no published message like this, found 1:'),
  // toHaveDelivered
  yes('toHaveDelivered', 'queue', { to: orders, attempts: [500, 200], response: { done: true } }, { times: 1 }),
  yes('toHaveDelivered', 'queue', { to: orders, attempts: 2, status: 200, retried: 1, retries: 2 }),
  yes('toHaveDelivered', 'queue', { to: lost, state: 'FAILED', attempts: [503, 503] }),
  yes('toHaveDelivered', 'queue', { to: mail, deliveredAt: '2030-01-01T09:00:30Z' }),
  yes('toHaveDelivered', 'entries', { kind: 'message' }, { times: 2 }),
  yes('toHaveDelivered', 'busy', { state: 'CREATED' }),
  no('toHaveDelivered', 'queue', { to: lost }),
  no('toHaveDelivered', 'queue', { to: orders, attempts: 3 }),
  no('toHaveDelivered', 'queue', { to: orders, attempts: [500, 201] }),
  no('toHaveDelivered', 'queue', { to: orders, response: { done: false } }),
  no('toHaveDelivered', 'queue', { to: orders }, { times: 2 }),
  says(
    no('toHaveDelivered', 'busy', { to: orders }),
    "✗ state: expected 'DELIVERED', received 'CREATED'",
    /Hint: msg_\w+… waits 1h, until 10:00:00\.000 \(delay as published\)/,
  ),
  // toHaveDeadLetter
  yes('toHaveDeadLetter', 'queue', { to: lost, status: 503, body: 'plain' }, { times: 1 }),
  no('toHaveDeadLetter', 'queue', { to: orders }),
  no('toHaveDeadLetter', 'queue', { status: 500 }),
  no('toHaveDeadLetter', 'queue', { dlqId: '1-0' }),
  says(
    no('toHaveDeadLetter', 'queue', { to: orders, status: 200 }),
    "✓ to   ✓ status   ✗ state: expected 'FAILED', received 'DELIVERED'",
  ),
  // toHaveBulkAction
  yes(
    'toHaveBulkAction',
    'bank',
    { filter: { label: 'spring' }, total: 2, resource: 'messages', state: 'FINISHED' },
    { times: 1 },
  ),
  yes('toHaveBulkAction', 'bank', { filter: { label: ['spring'], host: ['shop.test', 'b.test'] } }),
  yes('toHaveBulkAction', 'bank', {}, { times: 2 }),
  yes('toHaveBulkAction', 'bank', { resource: 'runs', total: 0 }),
  no('toHaveBulkAction', 'bank', { filter: { label: 'autumn' } }),
  no('toHaveBulkAction', 'bank', { filter: { host: 'shop.test' } }),
  no('toHaveBulkAction', 'bank', { filter: { queueName: 'q' } }),
  no('toHaveBulkAction', 'bank', { resource: 'runs', total: 2 }),
  no('toHaveBulkAction', 'bank', { state: 'IN_PROGRESS' }),
  no('toHaveBulkAction', 'bank', { actionId: 'act_x' }),
  no('toHaveBulkAction', 'queue', {}),
  says(
    no('toHaveBulkAction', 'bank', { resource: 'messages', total: 3 }),
    /Nearest of 2:\n {2}#\d+ .*bulk action act_\w+ to cancel 2 messages \(label spring; host shop\.test, b\.test\): FINISHED/,
    '✗ total: expected 3, received 2',
  ),
  // toHaveDeliveredCallback
  yes(
    'toHaveDeliveredCallback',
    'queue',
    { to: 'https://shop.test/done', kind: 'callback', status: 200, body: { done: true } },
    { times: 1 },
  ),
  yes(
    'toHaveDeliveredCallback',
    'queue',
    { kind: 'failure-callback', retried: 1, maxRetries: 1, sourceBody: 'plain' },
    { times: 1 },
  ),
  no('toHaveDeliveredCallback', 'queue', { to: orders }),
  no('toHaveDeliveredCallback', 'queue', { kind: 'callback', status: 503 }),
  no('toHaveDeliveredCallback', 'queue', { body: { done: false } }),
  no('toHaveDeliveredCallback', 'queue', {}, { times: 4 }),
  says(no('toHaveDeliveredCallback', 'busy', {}), 'There were no callbacks at all.'),
  // toHaveDeduplicated
  yes('toHaveDeduplicated', 'queue', { to: mail }, { times: 1 }),
  yes('toHaveDeduplicated', 'queue', { deduplicationId: 'mail-1' }),
  no('toHaveDeduplicated', 'queue', { deduplicationId: 'mail-2' }),
  no('toHaveDeduplicated', 'queue', { to: mail }, { times: 2 }),
  says(
    no('toHaveDeduplicated', 'queue', { to: orders }),
    '✗ deduplicated: expected true, received false',
    'was published without deduplication',
  ),
  // toHaveValidSignature
  yes('toHaveValidSignature', 'delivery'),
  yes('toHaveValidSignature', 'recorder', {}, { times: 1 }),
  yes('toHaveValidSignature', 'queue', { to: orders, key: 'current' }, { times: 2 }),
  yes('toHaveValidSignature', 'sandbox', { to: lost, claims: { sub: lost } }, { times: '>=1' }),
  no('toHaveValidSignature', 'sandbox', { to: lost, claims: { sub: orders } }),
  no('toHaveValidSignature', 'queue', { key: 'next' }),
  no('toHaveValidSignature', 'delivery', { key: 'sig_other' }),
  no('toHaveValidSignature', 'delivery', { at: '9999-12-31T23:59:59.999Z' }),
  no('toHaveValidSignature', 'delivery', { at: '1960-01-01T00:00:00Z' }),
  says(
    no('toHaveValidSignature', 'forged'),
    'an unknown key',
    'the hash of another body',
    '✓ sub',
    'Hint: No signing keys are known',
  ),
  // toHaveCost
  yes('toHaveCost', 'sandbox', { messages: 8, commands: '<=4' }),
  yes('toHaveCost', 'store', { commands: 4, writes: 4, reads: 0 }),
  yes('toHaveCost', 'queue', { requests: 1 }),
  yes('toHaveCost', 'sandbox', { requests: 5 }),
  no('toHaveCost', 'sandbox', { messages: '<8' }),
  no('toHaveCost', 'sandbox', { messages: '<=9', commands: 5 }),
  no('toHaveCost', 'sandbox', { bandwidth: 0 }),
  says(
    no('toHaveCost', 'sandbox', { messages: '<=7' }),
    '✗ messages: expected at most 7, received 8: ',
    '1 × retry to https://shop.test/lost',
  ),
  // toHaveSchedule
  yes(
    'toHaveSchedule',
    'queue',
    { to: mail, cron: '0 3 * * *', scheduleId: 'nightly', paused: false, next: '2030-01-02T03:00:00Z' },
    { times: 1 },
  ),
  no('toHaveSchedule', 'queue', { cron: '0 4 * * *' }),
  no('toHaveSchedule', 'queue', { paused: true }),
  no('toHaveSchedule', 'queue', { next: '2030-01-03T03:00:00Z' }),
  no('toHaveSchedule', 'queue', { to: mail }, { times: 0 }),
  says(
    no('toHaveSchedule', 'queue', { cron: '0 4 * * *', retries: 3 }),
    '  nightly   0 3 * * * to https://shop.test/mail',
    "✗ cron: expected '0 4 * * *', received '0 3 * * *'   ✓ retries",
  ),
  // toHaveReceivedRequest
  yes('toHaveReceivedRequest', 'sandbox', { service: 'store', method: 'POST', status: 200 }, { times: 2 }),
  yes('toHaveReceivedRequest', 'sandbox', { status: 401, url: '*/get/none' }, { times: 1 }),
  yes('toHaveReceivedRequest', 'queue', {}, { times: 1 }),
  yes('toHaveReceivedRequest', 'store', {}, { times: 4 }),
  no('toHaveReceivedRequest', 'sandbox', { service: 'stats' }),
  no('toHaveReceivedRequest', 'store', { url: '*schedules*' }),
  no('toHaveReceivedRequest', 'sandbox', { body: ['INCR'] }),
  says(no('toHaveReceivedRequest', 'store', { status: 500 }), 'Nearest of 4:', '✗ status'),
  // toFollowSequence
  yes('toFollowSequence', 'sandbox', [
    { type: 'attempt', status: 500 },
    { type: 'attempt', to: orders, status: 200 },
    { type: 'command', argv: ['SET'] },
  ]),
  yes('toFollowSequence', 'entries', [
    { type: 'command', argv: ['INCR'] },
    { type: 'command', argv: ['INCR'] },
  ]),
  no('toFollowSequence', 'sandbox', [
    { type: 'command', argv: ['INCR'] },
    { type: 'command', argv: ['INCR'] },
    { type: 'command', argv: ['INCR'] },
  ]),
  says(
    no('toFollowSequence', 'sandbox', [
      { type: 'attempt', to: orders, status: 200 },
      { type: 'attempt', status: 500 },
    ]),
    'matches step 2 of 2',
    'This step occurred too early: #',
  ),
  says(
    no('toFollowSequence', 'sandbox', [
      { type: 'attempt', status: 500 },
      { type: 'attempt', status: 500 },
    ]),
    'This step occurred only once, and #',
  ),
  says(
    no('toFollowSequence', 'sandbox', [
      { type: 'attempt', status: 500 },
      { type: 'attempt', to: orders, status: 201 },
    ]),
    'Nearest later entry:',
    '✓ to   ✗ status: expected 201, received 200',
  ),
  says(
    yes('toFollowSequence', 'sandbox', [{ type: 'dead-letter', to: lost }]),
    'but they did:',
    "  ✓ { type: 'dead-letter', to: 'https://shop.test/lost' }   #",
  ),
  // toHold
  yes('toHold', 'held'),
  says(no('toHold', 'failed'), 'expect(tried).toHold()', 'Lost update: 2 of 2 orders fail.', "replay: 'alice bob'"),
  // toBeIdle
  yes('toBeIdle', 'sandbox'),
  says(
    no('toBeIdle', 'busy'),
    'waits 1h, until 10:00:00.000',
    'unused script steps at https://shop.test/lost',
    /Fault 'status' on store\.request \(.*verdicts\.ts:\d+\) was never injected/,
    "workflow.stubStep('charge').returns(…) was never used",
    'Hint: Await sandbox.clock.drain() first',
  ),
  // toHaveWorkflowRun
  yes(
    'toHaveWorkflowRun',
    'flows',
    { workflow: order, state: 'success', result: { paid: true }, cost: 5 },
    { times: 1 },
  ),
  yes('toHaveWorkflowRun', 'flows', { workflow: order, steps: ['reserve', 'charge', 'approval', 'nap'] }),
  yes('toHaveWorkflowRun', 'flows', {
    steps: [
      { name: 'reserve', attempts: 1, result: { ok: true } },
      { attempts: 2 },
      { type: 'Wait' },
      { state: 'done' },
    ],
  }),
  yes(
    'toHaveWorkflowRun',
    'flows',
    { state: 'failed', steps: [{ name: 'pay', state: 'failed', attempts: 2 }], cost: 1 },
    { times: 1 },
  ),
  yes('toHaveWorkflowRun', 'flows', { state: 'started' }, { times: 1 }),
  yes('toHaveWorkflowRun', 'flows', {}, { times: 5 }),
  yes('toHaveWorkflowRun', 'flows', { steps: ['a', 'b', 'call'], cost: 7, result: 'beside' }, { times: 1 }),
  yes('toHaveWorkflowRun', 'flows', { workflow: order, steps: 4, contextBytes: '<=60' }),
  yes('toHaveWorkflowRun', 'flows', { workflow: order, steps: '2..4', contextBytes: { min: 1 } }),
  yes('toHaveWorkflowRun', 'flows', { state: 'failed', steps: 0, contextBytes: 0 }, { times: 1 }),
  no('toHaveWorkflowRun', 'flows', { workflow: order, contextBytes: '<=20' }),
  says(no('toHaveWorkflowRun', 'flows', { workflow: order, steps: '<=3' }), '✗ steps: expected at most 3, received 4'),
  no('toHaveWorkflowRun', 'flows', { workflow: order, state: 'failed' }),
  no('toHaveWorkflowRun', 'flows', { workflow: order, result: { paid: false } }),
  no('toHaveWorkflowRun', 'flows', { workflow: order, steps: ['reserve', 'charge'] }),
  no('toHaveWorkflowRun', 'flows', { workflow: order, cost: 6 }),
  no('toHaveWorkflowRun', 'sandbox'),
  says(
    no('toHaveWorkflowRun', 'flows', { workflow: order, state: 'failed', cost: 5 }),
    "✓ workflow   ✗ state: expected 'failed', received 'success'   ✓ cost",
    /run wfr_order of https:\/\/app\.test\/order, success at 01:00:12\.000, cost 5 messages/,
    '  1 reserve  Run, done → {"ok":true}',
    /card declined; waits until 00:00:12\.000: delay 12 s/,
    /approval {2}Wait, done; event approved received at 00:00:12\.000 → \{"by":"Ada"\}/,
    /nap {2}SleepFor, done; sleeps until 01:00:12\.000/,
    /run wfr_broken .*failed at .*\n {2}– pay {2}failed, 2 attempts\n/,
    /approval {2}Wait, waiting; waits for event never until 2030-01-0\d/,
  ),
  says(yes('toHaveWorkflowRun', 'flows', { state: 'failed' }), 'Expected no workflow run like this, found 1:'),
  // toHaveWorkflowStep
  yes(
    'toHaveWorkflowStep',
    'flows',
    'charge',
    { attempts: 2, result: { id: 'ch_1' }, state: 'done', type: 'Run' },
    { times: 1 },
  ),
  yes('toHaveWorkflowStep', 'flows', 'pay', { state: 'failed', attempts: 2, workflow: '*/broken' }),
  yes('toHaveWorkflowStep', 'flows', 'approval', {}, { times: 2 }),
  yes('toHaveWorkflowStep', 'flows', 'approval', { state: 'waiting', runId: 'wfr_waiting' }, { times: 1 }),
  yes('toHaveWorkflowStep', 'flows', /^[ab]$/, { result: expect.any(String) }, { times: 2 }),
  yes('toHaveWorkflowStep', 'flows', 'call', { type: 'Call', attempts: 2, result: { status: 200, body: { sent: 1 } } }),
  yes('toHaveWorkflowStep', 'flows', 'reserve', { retries: undefined, flowControl: undefined }),
  yes('toHaveWorkflowStep', 'flows', 'refund', {
    retries: 1,
    retryDelay: '1000',
    flowControl: { key: 'cards', parallelism: 2 },
  }),
  yes('toHaveWorkflowRun', 'flows', { steps: [{ name: 'refund', retries: 1 }] }),
  no('toHaveWorkflowStep', 'flows', 'reserve', { retries: 3 }),
  no('toHaveWorkflowStep', 'flows', 'refund', { retryDelay: '2000' }),
  says(
    no('toHaveWorkflowStep', 'flows', 'refund', { flowControl: { key: 'other' } }),
    "✗ flowControl.key: expected 'other', received 'cards'",
    'own settings: retries 1, retry delay 1000, flow control cards parallelism 2 period 1',
  ),
  no('toHaveWorkflowStep', 'flows', 'charge', { attempts: 1 }),
  no('toHaveWorkflowStep', 'flows', 'charge', { result: { id: 'ch_2' } }),
  no('toHaveWorkflowStep', 'flows', 'charge', { workflow: '*/broken' }),
  no('toHaveWorkflowStep', 'flows', 'approval', {}, { times: 1 }),
  says(
    no('toHaveWorkflowStep', 'flows', 'chrage'),
    "Hint: No step is named 'chrage'. Did you mean 'charge'?",
    '  2 charge  Run, done',
  ),
  says(no('toHaveWorkflowStep', 'sandbox', 'charge'), 'There were no workflow steps at all.', '(no workflow has run)'),
  says(
    yes('toHaveWorkflowStep', 'flows', 'charge'),
    "expect(sandbox).not.toHaveWorkflowStep('charge')",
    "step 'charge' of run wfr_order",
  ),
  // toHaveWorkflowWait
  yes(
    'toHaveWorkflowWait',
    'flows',
    'approved',
    { outcome: 'received', data: { by: 'Ada' }, step: 'approval' },
    { times: 1 },
  ),
  yes('toHaveWorkflowWait', 'flows', 'never', { outcome: 'waiting', data: undefined }),
  yes('toHaveWorkflowWait', 'flows', /e/, {}, { times: 2 }),
  no('toHaveWorkflowWait', 'flows', 'approved', { outcome: 'timed-out' }),
  no('toHaveWorkflowWait', 'flows', 'approved', { data: { by: 'Bob' } }),
  no('toHaveWorkflowWait', 'flows', 'approved', { workflow: '*/waiting' }),
  no('toHaveWorkflowWait', 'sandbox', 'approved'),
  says(
    no('toHaveWorkflowWait', 'flows', 'aproved'),
    "Hint: No step waits for event 'aproved'. A step waits for event 'approved'.",
  ),
  // toHaveOutboundRequest
  yes('toHaveOutboundRequest', 'bank', 'https://bank.test/charges'),
  yes('toHaveOutboundRequest', 'bank', 'POST https://bank.test/*', { times: 3 }),
  yes(
    'toHaveOutboundRequest',
    'bank',
    { url: 'https://bank.test/charges', method: 'POST', body: { amount: 5 } },
    { times: 2 },
  ),
  yes('toHaveOutboundRequest', 'bank', { status: 0, error: /ECONNRESET/, handlerRuns: 1 }, { times: 1 }),
  yes('toHaveOutboundRequest', 'bank', { status: 503, handlerRuns: 0 }, { times: 1 }),
  yes('toHaveOutboundRequest', 'bank', {
    status: 201,
    error: undefined,
    response: { id: 'ch_1' },
    headers: { 'x-tag': 'a' },
  }),
  yes('toHaveOutboundRequest', 'bank'),
  no('toHaveOutboundRequest', 'bank', 'GET https://bank.test/charges'),
  no('toHaveOutboundRequest', 'bank', 'https://bank.test/charges', { times: 2 }),
  no('toHaveOutboundRequest', 'bank', { status: 201, body: { amount: 5 } }),
  no('toHaveOutboundRequest', 'bank', { status: 201, response: { id: 'ch_2' } }),
  no('toHaveOutboundRequest', 'bank', { headers: { 'x-tag': 'b' } }),
  no('toHaveOutboundRequest', 'bank', { status: 201, handlerRuns: 2 }),
  no('toHaveOutboundRequest', 'bank', { status: 0, error: undefined }),
  says(
    no('toHaveOutboundRequest', 'bank', { url: 'https://bank.test/charge' }),
    'Expected an outbound request. Nearest of 3:',
    'Hint: POST https://bank.test/charge is unhandled: POST https://bank.test/charges is registered, but its path differs.',
  ),
  says(
    no('toHaveOutboundRequest', 'sandbox', 'https://bank.test/charges'),
    'There were no outbound requests at all.',
    "Hint: No URL is registered, and only requests to registered URLs are recorded. Call sandbox.outbound.on('https://bank.test/charges', handler).",
  ),
  // messageTo, commandOf, entryOf
  yes('messageTo', 'delivery', orders, { body: { id: 42 }, retries: 2 }),
  no('messageTo', 'delivery', orders, { body: { id: 43 } }),
  no('messageTo', 'delivery', lost),
  no('messageTo', 'sandbox', orders),
  yes('entryOf', 'delivery', 'attempt', { status: 500 }),
  no('entryOf', 'delivery', 'attempt', { status: 200 }),
  no('entryOf', 'delivery', 'published'),
  no('commandOf', 'delivery', 'SET'),
]

/** Returns messages about the rows that a set of matchers does not fulfill. */
export function broken(matchers: Matchers, given: World): string[] {
  return rows.flatMap((row) => {
    const call = `${row.matcher} on ${row.on} with ${JSON.stringify(row.given)}`
    try {
      const { pass } = matchers[row.matcher].call({}, given[row.on], ...row.given)
      if (pass !== row.pass) return [`${call}: ${pass ? 'passes' : 'fails'}`]
      const told = matchers[row.matcher].call({ isNot: row.pass }, given[row.on], ...row.given).message()
      const unsaid =
        row.says?.filter((text) => (typeof text === 'string' ? !told.includes(text) : !text.test(told))) ?? []
      return unsaid.map((text) => `${call}: does not say ${text}:\n${told}`)
    } catch (error) {
      return [`${call}: throws ${error}`]
    }
  })
}
