import type { Bytes } from '../../src/kernel/bytes.js'
import { Clock } from '../../src/kernel/clock.js'
import { sha256Bytes } from '../../src/kernel/digest.js'
import { TrafficLog } from '../../src/kernel/traffic-log.js'
import * as deliveryHeaders from '../../src/queue/delivery/delivery-headers.js'
import { DeliveryScheduler } from '../../src/queue/delivery/delivery-scheduler.js'
import { FlowControl } from '../../src/queue/delivery/flow-control.js'
import { FlowKey } from '../../src/queue/delivery/flow-key.js'
import { RunningCall } from '../../src/queue/delivery/in-flight.js'
import * as retry from '../../src/queue/delivery/retry.js'
import { FifoQueue } from '../../src/queue/message/fifo-queue.js'
import { Message } from '../../src/queue/message/message.js'
import * as states from '../../src/queue/message/state.js'
import * as deduplication from '../../src/queue/publish/deduplication.js'
import { UrlGroup, UrlGroups } from '../../src/queue/publish/url-groups.js'
import { Schedules } from '../../src/queue/schedules/schedules.js'
import * as signing from '../../src/queue/signing/signing.js'

import { Database } from '../../src/store/keyspace/database.js'
import type { Argv } from '../../src/store/rest/request.js'
import { RestStore } from '../../src/store/rest/store-front.js'
import { type Swap, swap } from './swap.js'

/** A mistake that one test makes in an engine. */
export interface Mutant {
  /** The invariant that must detect it. */
  readonly invariant: string
  readonly what: string
  readonly swap: Swap
}

function of(invariant: string, mistakes: Readonly<Record<string, Swap>>): readonly Mutant[] {
  return Object.entries(mistakes).map(([what, swap]) => ({ invariant, what, swap }))
}

type Next = typeof states.next

/**
 * Returns another state after certain events.
 * @param part receives the state after the event and returns another state, or the same one
 */
function nextIs(part: (after: states.MessageState, ...given: Parameters<Next>) => states.MessageState): Swap {
  return swap(states, 'next', (_, next, state, event) => part(next(state, event), state, event))
}

/** Permits one more retry. */
const oneMore = <T extends { readonly retries: number }>(settings: T): T => ({
  ...settings,
  retries: settings.retries + 1,
})

/** Returns the state of a planned attempt. */
const plannedAt = (due: number, retried: number): states.MessageState => new states.Planned(due, retried)

const isDelayed = (message: Message): boolean => message.notBefore > message.createdAt

export const mutants: readonly Mutant[] = [
  ...of('no-lost-message', {
    'a retry is never planned': nextIs((after, state, { is }) =>
      state.is === 'running' && after.is === 'planned' && is === 'answered' ? { ...after, is: 'parked' } : after,
    ),
    'a failed callback does not become a dead letter': swap(TrafficLog.prototype, 'append', (_, append, body, cause) =>
      body.type === 'dead-letter' && body.kind !== 'message' ? { seq: 0, at: 0, ...body } : append(body, cause),
    ),
    'a message that is due while its FIFO queue is paused is lost': swap(
      FifoQueue.prototype,
      'unpark',
      (lane, unpark) => {
        if (!lane.paused) lane.parked.length = 0
        return unpark()
      },
    ),
    'a message held by the limit of the plan is never started': swap(
      FlowControl.prototype,
      'admitByPlan',
      (_, admit) => void admit(),
    ),
  }),
  ...of('no-attempt-after-success', {
    'a delivered message is delivered again': nextIs((after, state, event) =>
      event.is === 'answered' && event.verdict.is === 'delivered' && state.retried === 0
        ? plannedAt(event.now + 1000, 1)
        : after,
    ),
    'a released message stays in the wait list': nextIs((after, state, event) =>
      event.is === 'released' && state.is === 'held' ? plannedAt(event.now, state.retried) : after,
    ),
  }),
  ...of('no-attempt-left-running', {
    'a response of a failing destination is dropped': swap(RunningCall.prototype, 'end', (_, end, reply) => {
      if (reply.status < 500) end(reply)
    }),
  }),
  ...of('attempts-within-retries', {
    'one retry too many': swap(retry, 'verdictOn', (_, verdict, result, retried, settings, ...given) =>
      verdict(result, retried, oneMore(settings), ...given),
    ),
    'a 404 is not retried': swap(retry, 'verdictOn', (_, verdict, result, ...given) =>
      verdict({ ...result, isFinal: result.isFinal || result.status === 404 }, ...given),
    ),
    'a retry counts twice': nextIs((after, { retried }) =>
      after.retried > retried ? { ...after, retried: after.retried + 1 } : after,
    ),
  }),
  ...of('backoff-within-bounds', {
    'the backoff begins one retry too early': swap(
      retry,
      'verdictOn',
      (_, verdict, failed, retried, settings, ...given) => {
        const real = verdict(failed, retried, settings, ...given)
        const isBackoff = real.is === 'retried' && settings.retryDelay === undefined
        return isBackoff ? verdict(failed, retried - 1, settings, ...given) : real
      },
    ),
    'Retry-After does not override the expression': swap(
      retry,
      'verdictOn',
      (_, verdict, failed, retried, settings, ...given) => {
        const isHeard = settings.retryDelay === undefined || failed.status === 489
        return verdict(isHeard ? failed : { ...failed, headers: [] }, retried, settings, ...given)
      },
    ),
    'only the last part of a duration counts': swap(retry, 'verdictOn', (_, verdict, failed, ...given) => {
      const headers = failed.headers.map(([name, value]) => [name, value.replace(/^\d+m(?=\d+s$)/, '')] as const)
      return verdict({ ...failed, headers }, ...given)
    }),
    'an expression counts from one': swap(retry, 'verdictOn', (_, verdict, failed, retried, settings, ...given) =>
      settings.retryDelay === undefined
        ? verdict(failed, retried, settings, ...given)
        : verdict(failed, retried + 1, oneMore(settings), ...given),
    ),
    'a delayed message starts immediately': swap(
      Clock.prototype,
      'schedule',
      (clock, schedule, at, label, run, ...given) => {
        const isFirst = run instanceof Message && run.retried === 0 && at === run.notBefore
        return schedule(isFirst ? clock.now() : at, label, run, ...given)
      },
    ),
  }),
  ...of('callback-per-attempt', {
    'only the last attempt has a callback': swap(DeliveryScheduler.prototype, 'accept', (_, accept, draft) =>
      draft.kind === 'callback' && draft.source?.isEnded === false ? draft.source : accept(draft),
    ),
    'a canceled message has a callback': nextIs((after, state, { is }) =>
      is === 'cancelled' && state.is === 'running' ? state : after,
    ),
  }),
  ...of('failure-callback-per-dead-letter', {
    'no failure callback after a broken connection': swap(DeliveryScheduler.prototype, 'accept', (_, accept, draft) =>
      draft.kind === 'failure-callback' && JSON.parse(draft.body).status === 0 ? draft.source! : accept(draft),
    ),
    'two failure callbacks for a dead letter': swap(DeliveryScheduler.prototype, 'accept', (_, accept, draft) => {
      if (draft.kind === 'failure-callback') accept(draft)
      return accept(draft)
    }),
  }),
  ...of('fifo-per-queue', {
    'one message too many in a FIFO queue': swap(FifoQueue.prototype, 'admit', (lane, admit) => {
      lane.parallelism++
      const message = admit()
      lane.parallelism--
      return message
    }),
    'a resumed FIFO queue forgets which messages hold a slot': swap(FifoQueue.prototype, 'unpark', (lane, unpark) => {
      lane.holding.clear()
      return unpark()
    }),
    'callbacks are not waited for': swap(DeliveryScheduler.prototype, 'accept', (_, accept, draft) => {
      const message = accept(draft)
      if (draft.source !== undefined) draft.source.openCallbacks--
      return message
    }),
    'delayed messages lose their slot': swap(FifoQueue.prototype, 'admit', (lane, admit) => {
      const message = admit()
      if (message !== undefined && isDelayed(message)) lane.holding.delete(message)
      return message
    }),
  }),
  ...of('parallelism-bound', {
    'one request too many for a key': swap(FlowKey.prototype, 'parallelismCount', (_, count) => count() - 1),
    'one request too many for the plan': swap(FlowControl.prototype, 'ask', (flow, ask, ...given) => {
      flow.inFlight--
      const holding = ask(...given)
      flow.inFlight++
      return holding
    }),
  }),
  ...of('rate-bound', {
    'one request too many in a period': swap(FlowKey.prototype, 'hasRoom', (key, hasRoom, now) => {
      const { rateMax } = key
      if (rateMax !== undefined) key.rateMax = rateMax + 1
      const is = hasRoom(now)
      key.rateMax = rateMax
      return is
    }),
    'periods are half as long': swap(FlowKey.prototype, 'periodEnd', (key, end) => end() - key.ratePeriod * 500),
    'a longer period restarts one that has ended': swap(FlowKey.prototype, 'limit', (key, limit, ...given) => {
      const before = key.ratePeriodStart
      limit(...given)
      key.ratePeriodStart ??= before
    }),
  }),
  ...of('deduplicated-within-window', {
    'the window is half as long': swap(
      deduplication.Deduplication.prototype,
      'remember',
      (memory, remember, key, first, now) => {
        remember(key, first, now)
        memory.restore(key, first, (now + memory.remembered(now).at(-1)!.until) / 2)
      },
    ),
    'the window never ends': swap(deduplication.Deduplication.prototype, 'find', (_, find, key) => find(key, 0)),
    'bodies are not compared': swap(deduplication, 'deduplicationKey', (_, keyOf, settings, url, body, group) =>
      keyOf(settings, url, body.slice(0, 0) as typeof body, group),
    ),
  }),
  ...of('schedule-on-time', {
    'every other fire time is left out': swap(Schedules.prototype, 'create', (_, create, ...given) => {
      const schedule = create(...given)
      const { cron } = schedule
      return Object.assign(schedule, { cron: { next: (after: number) => cron.next(after + 60_000), gaps: () => [] } })
    }),
    'a paused schedule fires': swap(Schedules.prototype, 'setPaused', (_, setPaused, schedule, paused) => {
      setPaused(schedule, paused)
      schedule.paused = false
    }),
    'a schedule fires a second late': swap(Clock.prototype, 'schedule', (_, schedule, at, label, ...given) =>
      schedule(label.startsWith('schedule ') ? at + 1000 : at, label, ...given),
    ),
    'a deleted schedule fires': swap(Schedules.prototype, 'delete', (schedules, remove, id) => {
      const schedule = schedules.get(id)
      if (schedule !== undefined) schedule.timer = undefined
      remove(id)
    }),
    'a URL group delivers to its first endpoint twice': swap(UrlGroups.prototype, 'get', (_, get, name) => {
      const group = get(name)
      if (group === undefined) return undefined
      const endpoints = group.endpoints.map(() => group.endpoints[0]!)
      return Object.assign(new UrlGroup(name, group.createdAt), { ...group, endpoints })
    }),
  }),
  ...of('store-linearizable', {
    'a key lives a second longer': swap(Database.prototype, 'setDeadline', (_, set, key, at) =>
      set(key, at === undefined ? at : at + 1000),
    ),
    'SET keeps the expiration': swap(Database.prototype, 'set', (_, set, key, value) => set(key, value, 'keep')),
    'a second increment is lost': swap(Database.prototype, 'set', (db, set, key, value, ...given) => {
      if (value !== '2' || db.value(key) !== '1') set(key, value, ...given)
    }),
    'a command of another client comes between those of a transaction': swap(
      RestStore.prototype,
      'execute',
      (front, execute, argv, user, via, ...given) => {
        if (via === 'transaction') front.journal.execute(['GET', 'x'] as unknown as Argv, user, 'request')
        return execute(argv, user, via, ...given)
      },
    ),
  }),
  ...of('signatures-verify', {
    'signed with the next key': swap(deliveryHeaders, 'deliveryWriter', (_, writer, random, window, keys, echo) => {
      const { headers } = writer(random, window, keys, echo)
      return { headers: (attempt) => headers(Object.assign(attempt, { key: keys.next })) }
    }),
    'signed for another url': swap(signing, 'claimsFor', (_, claims, url, ...given) => claims(`${url}/`, ...given)),
    'signed for an empty body': swap(signing, 'claimsFor', (_, claims, url, _hash, ...given) =>
      claims(url, sha256Bytes('' as Bytes), ...given),
    ),
    'a rotation does not change the key in force': swap(signing.SigningKeys.prototype, 'rotate', (keys, rotate) => {
      const { current, next: passedOver } = keys
      const { next } = rotate()
      keys.replace({ current, next, former: [passedOver, ...keys.former.slice(1)] })
      return keys.pair()
    }),
  }),
]
