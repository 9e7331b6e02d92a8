import * as v from 'valibot'
import { engineOf } from '../queue/direct-queue.js'
import { recordInternal } from '../sandbox/sandbox-internals.js'
import { searchLoading } from '../store/search/load-search.js'
import { storeInternals } from '../store/store-internals.js'
import {
  createSchedule,
  deleteDeadLetters,
  messagesOf,
  publish,
  request,
  retryDeadLetters,
  setPaused,
} from './actions.js'
import { type Expectation, expectations } from './expectations.js'
import { rules } from './fault-schemas.js'
import type { StepContext } from './stage.js'
import type { ScenarioStep, StepName, StepValues } from './step-values.js'
import {
  count,
  cron,
  duration,
  headers,
  json,
  messageEntries,
  name,
  positive,
  ratePeriod,
  scenarioArgv,
  scenarioInstant,
  secondsOf,
  text,
  yes,
} from './values.js'

/** One row of the table of steps: the single source of the format, its JSON schema and its documentation. */
export interface StepKind<T> {
  readonly summary: string
  /** The value after the step's name, for the documentation. */
  readonly example: T
  /** Created on first use, so that importing the package costs nothing. */
  readonly schema: () => v.GenericSchema
  run(value: T, stage: StepContext): unknown
}

const member = v.union([
  v.pipe(v.string(), v.regex(/^https?:\/\//, 'It is not a url: begin with https:// or http://')),
  v.strictObject({ url: text, name: v.exactOptional(text) }),
])
export const members: v.GenericSchema = v.pipe(v.array(member), v.minLength(1, 'A url group has at least one endpoint'))

export const scheduleEntries: Readonly<Record<string, v.GenericSchema>> = {
  id: name,
  cron,
  to: name,
  queue: v.exactOptional(name),
  paused: v.exactOptional(v.boolean()),
  ...messageEntries,
}

const named = (about: string): v.GenericSchema =>
  v.pipe(v.string(), v.minLength(1, 'It is empty: give a name'), v.description(about))

/** Everything that a scenario can do. */
export const stepKinds: { readonly [K in StepName]: StepKind<StepValues[K]> } = {
  publish: {
    summary: 'Publishes a message, or several.',
    example: { to: 'https://shop.test/orders', as: 'order', body: { id: 42 }, retries: 3 },
    schema: () =>
      v.strictObject({
        to: v.pipe(v.string(), v.minLength(1, 'It is empty'), v.description('A url, or the name of a url group.')),
        as: v.exactOptional(named('The name by which later steps and expectations call it.')),
        queue: v.exactOptional(named('The queue to go through.')),
        times: v.exactOptional(
          v.pipe(
            positive,
            v.maxValue(100_000, 'More than 100000 are too many'),
            v.description('How many; {n} in texts is the number of each.'),
          ),
        ),
        ...messageEntries,
      }),
    run: publish,
  },
  request: {
    summary: 'Sends an HTTP request to one of the services, as an application would.',
    example: { service: 'queue', path: '/v2/keys', status: 200 },
    schema: () =>
      v.strictObject({
        service: v.picklist(['store', 'queue', 'stats']),
        path: v.pipe(v.string(), v.regex(/^\//, 'It does not begin with /')),
        method: v.exactOptional(v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])),
        headers: v.exactOptional(headers),
        body: v.exactOptional(json),
        token: v.exactOptional(v.picklist(['standard', 'read-only', 'none'])),
        status: v.exactOptional(
          v.pipe(count, v.description('The status that must be answered; 0 when the connection must break.')),
        ),
        response: v.exactOptional(
          v.pipe(v.unknown(), v.description('What the answer must be: a text, or fields of its JSON.')),
        ),
      }),
    run: request,
  },
  command: {
    summary: 'Runs a command of the data store, as the test itself.',
    example: ['SET', 'stock', 3],
    schema: () => scenarioArgv,
    run(argv, { sandbox }) {
      const run = () => sandbox.store.run(...argv)
      return searchLoading(argv.map(String), storeInternals.of(sandbox.store).engine)?.then(run) ?? run()
    },
  },
  advance: {
    summary: 'Moves time by a span and runs what falls due.',
    example: '5m',
    schema: () => duration,
    run: (by, { sandbox }) => sandbox.clock.advance(by),
  },
  advanceTo: {
    summary: 'Moves time to an instant and runs what falls due.',
    example: '2030-01-02T03:00:00Z',
    schema: () => scenarioInstant,
    run: (at, { sandbox }) => sandbox.clock.advanceTo(at),
  },
  drain: {
    summary: 'Runs until nothing is left but schedules; with `maxTimers`, at most that many timers.',
    example: true,
    schema: () => v.union([yes, v.strictObject({ maxTimers: positive })]),
    run: (how, { sandbox }) => sandbox.clock.drain(how === true ? {} : { maxTimers: how.maxTimers }),
  },
  cancel: {
    summary: 'Cancels the messages of a name.',
    example: 'order',
    schema: () => named('The name of a publish step.'),
    run: (who, stage) => {
      for (const { id } of messagesOf(who, stage)) stage.sandbox.queue.cancel(id)
    },
  },
  deliverNow: {
    summary: 'Delivers waiting messages now.',
    example: 'order',
    schema: () => named('The name of a publish step.'),
    run: (who, stage) => {
      for (const { id, running } of messagesOf(who, stage)) if (!running) stage.sandbox.queue.deliverNow(id)
    },
  },
  retryDeadLetters: {
    summary: 'Publishes dead letters again: those of a name, or `all`.',
    example: 'all',
    schema: () => named('The name of a publish step, or all.'),
    run: retryDeadLetters,
  },
  deleteDeadLetters: {
    summary: 'Deletes dead letters: those of a name, or `all`.',
    example: 'all',
    schema: () => named('The name of a publish step, or all.'),
    run: deleteDeadLetters,
  },
  pauseQueue: {
    summary: 'Pauses a queue.',
    example: 'orders',
    schema: () => named('The name of a queue.'),
    run: (queue, { sandbox }) => sandbox.queue.pauseQueue(queue),
  },
  resumeQueue: {
    summary: 'Resumes a queue.',
    example: 'orders',
    schema: () => named('The name of a queue.'),
    run: (queue, { sandbox }) => sandbox.queue.resumeQueue(queue),
  },
  upsertQueue: {
    summary: 'Creates a queue or changes its parallelism.',
    example: { name: 'orders', parallelism: 2 },
    schema: () => v.strictObject({ name, parallelism: positive }),
    run: (queue, { sandbox }) => sandbox.queue.upsertQueue(queue.name, { parallelism: queue.parallelism }),
  },
  schedule: {
    summary: 'Creates a schedule, or replaces the one of the same id.',
    example: { id: 'nightly', cron: '0 3 * * *', to: 'https://shop.test/report' },
    schema: () => v.strictObject(scheduleEntries),
    run: (given, { sandbox }) => createSchedule(given, sandbox),
  },
  fireSchedule: {
    summary: 'Triggers a schedule now.',
    example: 'nightly',
    schema: () => named('The id of a schedule.'),
    run: (id, { sandbox }) => sandbox.queue.schedules.fire(id),
  },
  pauseSchedule: {
    summary: 'Pauses a schedule.',
    example: 'nightly',
    schema: () => named('The id of a schedule.'),
    run: (id, { sandbox }) => setPaused(id, true, sandbox),
  },
  resumeSchedule: {
    summary: 'Resumes a schedule.',
    example: 'nightly',
    schema: () => named('The id of a schedule.'),
    run: (id, { sandbox }) => setPaused(id, false, sandbox),
  },
  deleteSchedule: {
    summary: 'Deletes a schedule; its messages stay.',
    example: 'nightly',
    schema: () => named('The id of a schedule.'),
    run: (id, { sandbox }) => recordInternal(sandbox, ({ queue }) => engineOf(queue).schedules.delete(id)),
  },
  pauseFlowControl: {
    summary: 'Pauses a flow-control key: its messages wait.',
    example: 'payments',
    schema: () => named('A flow-control key.'),
    run: (key, { sandbox }) => recordInternal(sandbox, ({ queue }) => engineOf(queue).flow.pause(key)),
  },
  resumeFlowControl: {
    summary: 'Resumes a flow-control key.',
    example: 'payments',
    schema: () => named('A flow-control key.'),
    run: (key, { sandbox }) => recordInternal(sandbox, ({ queue }) => engineOf(queue).flow.resume(key)),
  },
  pinFlowControl: {
    summary: 'Fixes the limits of a flow-control key against those that messages bring.',
    example: { key: 'payments', parallelism: 2, rate: 10, period: '1m' },
    schema: () =>
      v.strictObject({
        key: name,
        parallelism: v.exactOptional(positive),
        rate: v.exactOptional(positive),
        period: v.exactOptional(ratePeriod),
      }),
    run: ({ key, period, ...limits }, { sandbox }) =>
      recordInternal(sandbox, ({ queue }) => engineOf(queue).flow.pin(key, { ...limits, period: secondsOf(period) })),
  },
  addEndpoints: {
    summary: 'Creates a url group, or adds endpoints to it.',
    example: { name: 'fleet', endpoints: ['https://a.test/hook', { url: 'https://b.test/hook', name: 'b' }] },
    schema: () => v.strictObject({ name, endpoints: members }),
    run: (group, { sandbox }) => sandbox.queue.urlGroups.addEndpoints(group.name, group.endpoints),
  },
  deleteUrlGroup: {
    summary: 'Deletes a url group.',
    example: 'fleet',
    schema: () => named('The name of a url group.'),
    run: (group, { sandbox }) => sandbox.queue.urlGroups.delete(group),
  },
  rotateSigningKeys: {
    summary: 'Rotates the signing keys: the next one becomes the current one.',
    example: true,
    schema: () => yes,
    run: (_, { sandbox }) => sandbox.queue.signingKeys.rotate(),
  },
  resetPassword: {
    summary: 'Resets the password of the data store: its tokens are revoked.',
    example: true,
    schema: () => yes,
    run: (_, { sandbox }) => sandbox.store.resetPassword(),
  },
  addFaults: {
    summary: 'Adds fault rules; their windows begin now.',
    example: { name: 'outage', on: 'queue.delivery', fault: { kind: 'status', status: 503 } },
    schema: () => rules(),
    run: (given, stage) => stage.sandbox.faults.add(given, { location: stage.lineOf() }),
  },
  removeFaults: {
    summary: 'Removes the fault rules of a name.',
    example: 'outage',
    schema: () => named('The name of a fault rule.'),
    run: (rule, { sandbox }) => sandbox.faults.remove(rule),
  },
  expect: {
    summary: 'Checks expectations at this moment.',
    example: { deadLetters: 1 },
    schema: () => expectations(),
    run: (list, stage) => stage.expect((Array.isArray(list) ? list : [list]) as readonly Expectation[]),
  },
}

export const stepNames: readonly StepName[] = Object.keys(stepKinds) as StepName[]

/** The name of the step and its value. */
export function stepOf(step: ScenarioStep): readonly [StepName, StepValues[StepName]] {
  const [entry] = Object.entries(step)
  return entry as [StepName, StepValues[StepName]]
}
