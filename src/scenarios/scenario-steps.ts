import * as v from 'valibot'
import { engineOf } from '../queue/queue-internals.js'
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

/**
 * Entry of the table of steps. The format of scenarios, their JSON schema and their documentation are all derived from
 * this table.
 */
export interface StepKind<T> {
  readonly summary: string
  /** Example value of the step for the documentation. */
  readonly example: T
  /** Returns the schema. The schema is created at the first call, which keeps importing the package fast. */
  readonly schema: () => v.GenericSchema
  run(value: T, stage: StepContext): unknown
}

const member = v.union([
  v.pipe(v.string(), v.regex(/^https?:\/\//, 'must be a URL that begins with https:// or http://')),
  v.strictObject({ url: text, name: v.exactOptional(text) }),
])
export const members: v.GenericSchema = v.pipe(v.array(member), v.minLength(1, 'must contain at least one endpoint'))

export const scheduleEntries: Readonly<Record<string, v.GenericSchema>> = {
  id: name,
  cron,
  to: name,
  queue: v.exactOptional(name),
  paused: v.exactOptional(v.boolean()),
  ...messageEntries,
}

const named = (about: string): v.GenericSchema =>
  v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.description(about))

export const stepKinds: { readonly [K in StepName]: StepKind<StepValues[K]> } = {
  publish: {
    summary: 'Publishes one message or several.',
    example: { to: 'https://shop.test/orders', as: 'order', body: { id: 42 }, retries: 3 },
    schema: () =>
      v.strictObject({
        to: v.pipe(
          v.string(),
          v.minLength(1, 'must not be empty'),
          v.description('A URL, or the name of a URL group.'),
        ),
        as: v.exactOptional(named('Name of the message for later steps and expectations.')),
        queue: v.exactOptional(named('Name of the FIFO queue.')),
        times: v.exactOptional(
          v.pipe(
            positive,
            v.maxValue(100_000, 'must be at most 100000'),
            v.description('Number of messages. In strings, {n} is replaced with the number of the message.'),
          ),
        ),
        ...messageEntries,
      }),
    run: publish,
  },
  request: {
    summary: 'Sends an HTTP request to one of the services, in the same way as an app.',
    example: { service: 'queue', path: '/v2/keys', status: 200 },
    schema: () =>
      v.strictObject({
        service: v.picklist(['store', 'queue', 'stats']),
        database: v.exactOptional(named('Added database of the store. Default: the first database.')),
        path: v.pipe(v.string(), v.regex(/^\//, 'must begin with /')),
        method: v.exactOptional(v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])),
        headers: v.exactOptional(headers),
        body: v.exactOptional(json),
        token: v.exactOptional(v.picklist(['standard', 'read-only', 'none'])),
        status: v.exactOptional(
          v.pipe(count, v.description('Expected status. 0 means that the connection must break.')),
        ),
        response: v.exactOptional(
          v.pipe(v.unknown(), v.description('Expected response: a string, or fields of its JSON.')),
        ),
      }),
    run: request,
  },
  command: {
    summary:
      'Runs a command of the store, or of an added `database`. It counts as a command of the test, not of an app.',
    example: ['SET', 'stock', 3],
    schema: () => v.union([scenarioArgv, v.strictObject({ database: named('Added database.'), argv: scenarioArgv })]),
    run(command, { sandbox }) {
      const { argv, database } = 'argv' in command ? command : { argv: command, database: undefined }
      const store = database === undefined ? sandbox.store : sandbox.storeIn(database)
      const run = () => store.run(...argv)
      return searchLoading(argv.map(String), storeInternals.of(store).engine)?.then(run) ?? run()
    },
  },
  advance: {
    summary: 'Moves time by a duration and runs all timers in it.',
    example: '5m',
    schema: () => duration,
    run: (by, { sandbox }) => sandbox.clock.advance(by),
  },
  advanceTo: {
    summary: 'Moves time to an instant and runs all timers up to it.',
    example: '2030-01-02T03:00:00Z',
    schema: () => scenarioInstant,
    run: (at, { sandbox }) => sandbox.clock.advanceTo(at),
  },
  drain: {
    summary: 'Moves time until only schedules are left. With `maxTimers`, at most this number of timers runs.',
    example: true,
    schema: () => v.union([yes, v.strictObject({ maxTimers: positive })]),
    run: (how, { sandbox }) => sandbox.clock.drain(how === true ? {} : { maxTimers: how.maxTimers }),
  },
  cancel: {
    summary: 'Cancels the messages of the publish steps with this name.',
    example: 'order',
    schema: () => named('Name of a publish step.'),
    run: (who, stage) => {
      for (const { id } of messagesOf(who, stage)) stage.sandbox.queue.cancel(id)
    },
  },
  deliverNow: {
    summary: 'Delivers the waiting messages of the publish steps with this name now.',
    example: 'order',
    schema: () => named('Name of a publish step.'),
    run: (who, stage) => {
      for (const { id, running } of messagesOf(who, stage)) if (!running) stage.sandbox.queue.deliverNow(id)
    },
  },
  retryDeadLetters: {
    summary: 'Publishes dead letters again: those of the publish steps with this name, or `all`.',
    example: 'all',
    schema: () => named('Name of a publish step, or all.'),
    run: retryDeadLetters,
  },
  deleteDeadLetters: {
    summary: 'Deletes dead letters: those of the publish steps with this name, or `all`.',
    example: 'all',
    schema: () => named('Name of a publish step, or all.'),
    run: deleteDeadLetters,
  },
  pauseQueue: {
    summary: 'Pauses a FIFO queue.',
    example: 'orders',
    schema: () => named('Name of a FIFO queue.'),
    run: (queue, { sandbox }) => sandbox.queue.pauseQueue(queue),
  },
  resumeQueue: {
    summary: 'Resumes a FIFO queue.',
    example: 'orders',
    schema: () => named('Name of a FIFO queue.'),
    run: (queue, { sandbox }) => sandbox.queue.resumeQueue(queue),
  },
  upsertQueue: {
    summary: 'Creates a FIFO queue or changes its parallelism.',
    example: { name: 'orders', parallelism: 2 },
    schema: () => v.strictObject({ name, parallelism: positive }),
    run: (queue, { sandbox }) => sandbox.queue.upsertQueue(queue.name, { parallelism: queue.parallelism }),
  },
  schedule: {
    summary: 'Creates a schedule, or replaces the one with the same ID.',
    example: { id: 'nightly', cron: '0 3 * * *', to: 'https://shop.test/report' },
    schema: () => v.strictObject(scheduleEntries),
    run: (given, { sandbox }) => createSchedule(given, sandbox),
  },
  fireSchedule: {
    summary: 'Triggers a schedule now.',
    example: 'nightly',
    schema: () => named('ID of a schedule.'),
    run: (id, { sandbox }) => sandbox.queue.schedules.fire(id),
  },
  pauseSchedule: {
    summary: 'Pauses a schedule.',
    example: 'nightly',
    schema: () => named('ID of a schedule.'),
    run: (id, { sandbox }) => setPaused(id, true, sandbox),
  },
  resumeSchedule: {
    summary: 'Resumes a schedule.',
    example: 'nightly',
    schema: () => named('ID of a schedule.'),
    run: (id, { sandbox }) => setPaused(id, false, sandbox),
  },
  deleteSchedule: {
    summary: 'Deletes a schedule; its messages stay.',
    example: 'nightly',
    schema: () => named('ID of a schedule.'),
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
    summary: 'Pins the limits of a flow-control key, so that messages cannot change them.',
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
    summary: 'Creates a URL group, or adds endpoints to it.',
    example: { name: 'fleet', endpoints: ['https://a.test/hook', { url: 'https://b.test/hook', name: 'b' }] },
    schema: () => v.strictObject({ name, endpoints: members }),
    run: (group, { sandbox }) => sandbox.queue.urlGroups.addEndpoints(group.name, group.endpoints),
  },
  deleteUrlGroup: {
    summary: 'Deletes a URL group.',
    example: 'fleet',
    schema: () => named('Name of a URL group.'),
    run: (group, { sandbox }) => sandbox.queue.urlGroups.delete(group),
  },
  rotateSigningKeys: {
    summary: 'Rotates the signing keys: the next one becomes the current one.',
    example: true,
    schema: () => yes,
    run: (_, { sandbox }) => sandbox.queue.signingKeys.rotate(),
  },
  resetPassword: {
    summary: 'Resets the password of the store, or of an added `database`: its tokens are revoked.',
    example: true,
    schema: () => v.union([yes, v.strictObject({ database: named('Added database.') })]),
    run: (given, { sandbox }) => (given === true ? sandbox.store : sandbox.storeIn(given.database)).resetPassword(),
  },
  addFaults: {
    summary: 'Adds fault rules. Their time windows are relative to this step.',
    example: { name: 'outage', on: 'queue.delivery', fault: { kind: 'status', status: 503 } },
    schema: () => rules(),
    run: (given, stage) => stage.sandbox.faults.add(given, { location: stage.lineOf() }),
  },
  removeFaults: {
    summary: 'Removes the fault rules with this name.',
    example: 'outage',
    schema: () => named('Name of a fault rule.'),
    run: (rule, { sandbox }) => sandbox.faults.remove(rule),
  },
  expect: {
    summary: 'Checks expectations at this point.',
    example: { deadLetters: 1 },
    schema: () => expectations(),
    run: (list, stage) => stage.expect((Array.isArray(list) ? list : [list]) as readonly Expectation[]),
  },
}

export const stepNames: readonly StepName[] = Object.keys(stepKinds) as StepName[]

export function stepOf(step: ScenarioStep): readonly [StepName, StepValues[StepName]] {
  const [entry] = Object.entries(step)
  return entry as [StepName, StepValues[StepName]]
}

/** Runs one step. */
export function runStep(name: StepName, value: StepValues[StepName], stage: StepContext): unknown {
  return (stepKinds[name] as StepKind<unknown>).run(value, stage)
}
