import { defineScenario } from '../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'

export type { Expectation } from '../../../src/scenarios/expectations.js'
export {
  type PlayCheck,
  type PlayOptions,
  type PlayResult,
  playScenario,
} from '../../../src/scenarios/play-scenario.js'
export type { ScenarioStep } from '../../../src/scenarios/step-values.js'
export type { Scenario } from '../../../src/scenarios/written-scenario.js'

// Ready-made scenarios about outages. Each contains the steps that are needed to play it. The fault rules contain no
// URL, so `sandbox.faults.add(…)` applies the same faults to any app.

const orders = 'https://shop.test/orders'
const start = '2030-01-01T09:00:00Z'

const flappingDestination = defineScenario({
  name: 'flapping destination',
  description:
    'The destination fails every second delivery: the first, third, fifth … delivery gets a 503. Retries deliver all messages.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [{ name: 'flapping', on: 'queue.delivery', every: 2, fault: { kind: 'status', status: 503 } }],
  steps: [{ publish: { to: orders, as: 'order', times: 4, body: { id: '{n}' } } }, { drain: true }],
  expect: [
    { delivered: { message: 'order', times: 4 } },
    { delivered: { message: 'order', attempts: [503, 503, 503, 200], times: 1 } },
    { deadLetters: 0 },
    { invariants: true },
  ],
})

const thunderingHerd = defineScenario({
  name: 'thundering herd after outage',
  description:
    'The destination is down for ten minutes. Retries have no jitter, so the queue delivers all messages again in the same millisecond: twice during the outage, and once after it.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [{ name: 'outage', on: 'queue.delivery', until: '10m', fault: { kind: 'status', status: 503 } }],
  steps: [{ publish: { to: orders, as: 'order', times: 50, body: { id: '{n}' } } }, { drain: true }],
  expect: [
    {
      delivered: {
        message: 'order',
        attempts: [503, 503, 503, 200],
        deliveredAt: '2030-01-01T09:32:48Z',
        times: 50,
      },
    },
    { reached: { url: orders, times: 200 } },
    { deadLetters: 0 },
    { invariants: true },
  ],
})

const poisonMessage = defineScenario({
  name: 'poison message',
  description:
    'A message labeled poison fails on every attempt. In a FIFO queue, the messages behind it wait until it is a dead letter: 160 seconds with two retries.',
  startAt: start,
  given: { queues: { orders: { parallelism: 1 } } },
  destinations: [{ url: orders }],
  faults: [
    {
      name: 'poison',
      on: 'queue.delivery',
      match: { label: 'poison' },
      fault: { kind: 'status', status: 500, body: 'cannot read this' },
    },
  ],
  steps: [
    { publish: { to: orders, as: 'poison', queue: 'orders', label: 'poison', retries: 2, body: '{"id":' } },
    { publish: { to: orders, as: 'order', queue: 'orders', times: 3, body: { id: '{n}' } } },
    { advance: '2m39s' },
    { expect: { pending: 4 } },
    { drain: true },
  ],
  expect: [
    { deadLetter: { message: 'poison', attempts: [500, 500, 500] } },
    { delivered: { message: 'order', attempts: [200], deliveredAt: '2030-01-01T09:02:40Z', times: 3 } },
    {
      sequence: [
        { type: 'dead-letter', message: 'poison' },
        { type: 'attempt', message: 'order', status: 200 },
      ],
    },
    { invariants: ['fifo-per-queue', 'no-lost-message'] },
  ],
})

const lostAcknowledgements = defineScenario({
  name: 'lost acknowledgements',
  description:
    'The handler does its work, but the response to the first attempt never arrives, so the queue delivers again. A handler that counts, charges or mails without checking the message ID does it twice.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [{ name: 'lost acknowledgements', on: 'queue.delivery', match: { attempt: 1 }, fault: { kind: 'lost-ack' } }],
  steps: [{ publish: { to: orders, as: 'order', times: 3, body: { id: '{n}' } } }, { drain: true }],
  expect: [
    { delivered: { message: 'order', attempts: [0, 200], times: 3 } },
    { reached: { url: orders, times: 6 } },
    { deadLetters: 0 },
    { invariants: true },
  ],
})

const rateLimitedDestination = defineScenario({
  name: 'rate-limited destination',
  description:
    'After two deliveries the destination responds 429 with Retry-After: 20 for a minute. The queue obeys the header instead of the backoff of the message.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [
    {
      name: 'rate limit',
      on: 'queue.delivery',
      until: '1m',
      skip: 2,
      fault: { kind: 'rate-limited', limit: 'burst', retryAfter: { form: 'seconds', waitMs: 20_000 } },
    },
  ],
  steps: [{ publish: { to: orders, as: 'order', times: 5, body: { id: '{n}' } } }, { drain: true }],
  expect: [
    { delivered: { message: 'order', attempts: [200], times: 2 } },
    { delivered: { message: 'order', attempts: [429, 429, 429, 200], deliveredAt: '2030-01-01T09:01:00Z', times: 3 } },
    { deadLetters: 0 },
    { invariants: true },
  ],
})

const keyRotationMidFlight = defineScenario({
  name: 'key rotation mid-flight',
  description:
    'The first attempt fails, the keys are rotated during the backoff, and the retry is signed with the key that was the next one. A receiver that knows only the current key rejects it.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [
    { name: 'deploy', on: 'queue.delivery', match: { attempt: 1 }, times: 1, fault: { kind: 'status', status: 503 } },
  ],
  steps: [
    { publish: { to: orders, as: 'order', body: { id: 42 } } },
    { advance: '1s' },
    { rotateSigningKeys: true },
    { drain: true },
  ],
  expect: [{ delivered: { message: 'order', attempts: [503, 200] } }, { invariants: ['signatures-verify'] }],
})

const daylightSavingNight = defineScenario({
  name: 'daylight-saving night',
  description:
    'A job runs at 02:30 in Berlin. On 31 March that time does not exist and the job does not run; on 27 October it occurs twice and the job runs once, at the first.',
  startAt: '2030-03-30T00:00:00Z',
  given: {
    schedules: [{ id: 'nightly', cron: 'CRON_TZ=Europe/Berlin 30 2 * * *', to: 'https://shop.test/report' }],
  },
  destinations: [{ url: 'https://shop.test/report' }],
  steps: [
    { advanceTo: '2030-03-31T23:00:00Z' },
    { expect: { delivered: { scheduleId: 'nightly', times: 1 } } },
    { advanceTo: '2030-04-01T12:00:00Z' },
    { expect: { delivered: { scheduleId: 'nightly', deliveredAt: '2030-04-01T00:30:00Z', times: 1 } } },
    { pauseSchedule: 'nightly' },
    { advanceTo: '2030-10-26T23:00:00Z' },
    { resumeSchedule: 'nightly' },
    { advanceTo: '2030-10-27T12:00:00Z' },
  ],
  expect: [
    { delivered: { scheduleId: 'nightly', deliveredAt: '2030-10-27T00:30:00Z', times: 1 } },
    { delivered: { scheduleId: 'nightly', times: 3 } },
    { invariants: ['schedule-on-time'] },
  ],
})

const monthEnd = defineScenario({
  name: 'month end',
  description:
    'The books are closed at 23:55 on the 31st, and invoices are sent at midnight on the first. Half a year has six firsts, but only three 31sts: the closing of February, April and June never runs.',
  startAt: '2030-01-01T12:00:00Z',
  given: {
    schedules: [
      { id: 'closing', cron: '55 23 31 * *', to: 'https://shop.test/closing' },
      { id: 'invoices', cron: '0 0 1 * *', to: 'https://shop.test/invoices' },
    ],
  },
  destinations: [{ url: 'https://shop.test/closing' }, { url: 'https://shop.test/invoices' }],
  steps: [{ advanceTo: '2030-07-01T12:00:00Z' }],
  expect: [
    { delivered: { scheduleId: 'closing', times: 3 } },
    { delivered: { scheduleId: 'invoices', times: 6 } },
    {
      sequence: [
        { type: 'published', scheduleId: 'closing' },
        { type: 'published', scheduleId: 'invoices' },
        { type: 'published', scheduleId: 'invoices' },
        { type: 'published', scheduleId: 'closing' },
      ],
    },
    { invariants: ['schedule-on-time'] },
  ],
})

const slowConsumer = defineScenario({
  name: 'slow consumer with flow control',
  description:
    'The destination takes 30 seconds for each delivery, and flow control lets two run at a time: ten messages take two and a half minutes, and the last message waits for two minutes.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [{ name: 'slow', on: 'queue.delivery', fault: { kind: 'latency', waitMs: 30_000 } }],
  steps: [
    {
      publish: {
        to: orders,
        as: 'order',
        times: 10,
        body: { id: '{n}' },
        flowControlKey: 'orders',
        flowControlValue: 'parallelism=2',
      },
    },
    { advance: '15s' },
    { expect: { reached: { url: orders, times: 2 } } },
    { drain: true },
  ],
  expect: [
    { delivered: { message: 'order', attempts: [200], times: 10 } },
    { time: '2030-01-01T09:02:30Z' },
    { invariants: ['parallelism-bound', 'no-lost-message'] },
  ],
})

const deadLetterReplayStorm = defineScenario({
  name: 'dead-letter replay storm',
  description:
    'The destination is down for a day: twenty messages become dead letters. Then all are retried at the same time. Only the rate limit of flow control protects the destination, which has just recovered.',
  startAt: start,
  destinations: [{ url: orders }],
  faults: [{ name: 'outage', on: 'queue.delivery', until: '1d', fault: { kind: 'refused' } }],
  steps: [
    {
      publish: {
        to: orders,
        as: 'order',
        times: 20,
        retries: 1,
        body: { id: '{n}' },
        flowControlKey: 'orders',
        flowControlValue: 'rate=5, period=10s',
      },
    },
    { drain: true },
    { expect: { deadLetters: 20 } },
    { advanceTo: '2030-01-02T09:00:00Z' },
    { retryDeadLetters: 'order' },
    { advance: '1s' },
    { expect: { delivered: { message: 'order', times: 5 } } },
    { drain: true },
  ],
  expect: [
    { delivered: { message: 'order', attempts: [200], times: 20 } },
    { deadLetters: 0 },
    { time: '2030-01-02T09:00:30Z' },
    { invariants: ['rate-bound', 'no-lost-message'] },
  ],
})

/** All ready-made outages. Each is also a file: `poisonMessage` is `scenarios/poison-message.yaml`. */
export const scenarios: {
  /** Every second delivery gets a 503. */
  readonly flappingDestination: Scenario
  /** Ten minutes of outage, after which all messages are retried at the same instant. */
  readonly thunderingHerd: Scenario
  /** The handler cannot process one message, so the later messages of the FIFO queue must wait. */
  readonly poisonMessage: Scenario
  /** The handler does its work, but the response is lost, so every message is delivered twice. */
  readonly lostAcknowledgements: Scenario
  /** A destination that accepts two deliveries, and asks the others to retry in 20 seconds. */
  readonly rateLimitedDestination: Scenario
  /** The signing keys are rotated while a message waits for its retry. */
  readonly keyRotationMidFlight: Scenario
  /** The two nights of the year in which the clocks change. A nightly job runs at an unusual time, or not at all. */
  readonly daylightSavingNight: Scenario
  /** A job that is scheduled for the 31st runs in only seven months of the year. */
  readonly monthEnd: Scenario
  /** A destination that takes 30 seconds for each delivery and gets at most two deliveries at a time. */
  readonly slowConsumer: Scenario
  /** Twenty dead letters that are all retried at the same time. */
  readonly deadLetterReplayStorm: Scenario
} = {
  flappingDestination,
  thunderingHerd,
  poisonMessage,
  lostAcknowledgements,
  rateLimitedDestination,
  keyRotationMidFlight,
  daylightSavingNight,
  monthEnd,
  slowConsumer,
  deadLetterReplayStorm,
}
