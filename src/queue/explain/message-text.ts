import { nearestName } from '../../kernel/nearest-name.js'
import { plural } from '../../kernel/plural.js'
import { shownUrl } from '../../secrets/urls.js'
import type { Message } from '../message/message.js'
import type { Held } from '../message/state.js'
import type { QueueEngine } from '../queue-engine.js'
import { type Forecast, forecastsOf } from './forecast.js'
import { forecastText } from './forecast-text.js'
import { limitsText, pauseCost, pausedSince, slotsText, turn } from './forecast-waits.js'
import { ordinal, quoted, timeText } from './time-text.js'

export function messageText(queue: QueueEngine, id: string): string {
  const message = queue.courier.byId.get(id)
  if (message === undefined) return unknown(queue, id)
  const forecast = forecastsOf(queue, [message]).get(message)
  const place = `Message ${message.id} to ${shownUrl(message.url)}${ofRun(message)} ${state(queue, message)}.`
  // Shorten an ID if the text about the state already contains it in full.
  const named = (other: string): string => (place.includes(other) ? `${other.slice(0, 7)}…` : other)
  return isTold(message, forecast) ? place : `${place} ${forecastText(forecast!, named)}`
}

/** Maximum number of known IDs that are searched for one that is similar to an unknown ID. */
const maxCompared = 1000

/** Returns an ID on one line; an ID with unusual characters is quoted. */
function shownId(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : quoted(id)
}

function unknown({ courier: { byId }, limits }: QueueEngine, id: string): string {
  const start = id.replace(/…$|\.\.\.$/, '')
  const alike = id.length > 5 ? [...byId.keys()].filter((known) => known.startsWith(start)) : []
  const nearest = alike.length === 1 ? alike[0] : byId.size > maxCompared ? undefined : nearestName(id, byId.keys())
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `There is no message ${shownId(id)}: it was never published in this sandbox, or its last log entry is older than the retention of ${limits.logRetention / 86_400_000} days.${meant}`
}

/**
 * Whether the text about the state already says the time of the next attempt, or that an attempt is in flight. The
 * forecast would only repeat this.
 */
function isTold(message: Message, forecast: Forecast | undefined): boolean {
  const { is } = message.delivery
  const isSubmission = message.delivery.is === 'waiting' && message.delivery.waitsFor === 'answer'
  if (forecast === undefined || is === 'running' || isSubmission) return true
  return 'at' in forecast && forecast.unless === undefined && is === 'planned' && forecast.at === message.nextAttemptAt
}

/** Returns the role of a message in a workflow run as text: `, which carries step "charge" of workflow run wfr_1,`. */
function ofRun(message: Message): string {
  const { part, kind } = message
  if (part === undefined) return ''
  const step = part.step(message)
  const does = kind === 'callback' ? 'carries the response for' : part.isCall ? 'carries the request of' : 'carries'
  const what = step === undefined ? 'belongs to' : `${does} step ${JSON.stringify(step.stepName)} of`
  return `, which ${what} workflow run ${part.runId},`
}

function state(queue: QueueEngine, message: Message): string {
  const attempts = message.retried + (message.isEnded || message.running ? 1 : 0)
  const times = plural(attempts, 'attempt')
  const { delivery } = message
  if (delivery.is === 'ended' && delivery.as === 'vanished') return 'was dropped by a fault and will not be delivered'
  if (message.state === 'DELIVERED') return `was delivered at ${timeText(message.lastLog?.createdAt)} after ${times}`
  if (message.state === 'CANCELLED') return `was canceled; it ended at ${timeText(message.lastLog?.createdAt)}`
  if (message.state === 'FAILED')
    return `failed permanently at ${timeText(message.lastLog?.createdAt)} after ${times}${lastError(queue, message)}`
  if (message.running) return running(queue, message)
  if (message.cancelRequested)
    return `was canceled; the entry CANCELLED follows at ${timeText(message.nextAttemptAt)}, when its next delivery would have been due`
  if (delivery.is === 'held') return `waits since ${timeText(delivery.since)}: ${blocked(queue, message, delivery)}`
  if (delivery.is === 'waiting' && delivery.waitsFor === 'answer')
    return 'is held until the endpoint has responded to the delivery that submitted it, because the next step must not overtake that response'
  if (delivery.is !== 'planned') return `waits for its turn in queue ${message.lane?.name}: ${lane(queue, message)}`
  const reason =
    delivery.wait?.reason ??
    (message.nextAttemptAt > message.createdAt
      ? `${(message.nextAttemptAt - message.createdAt) / 1000} s after it was published`
      : 'due immediately')
  return `waits for ${turn(message)} at ${timeText(message.nextAttemptAt)}, ${reason}`
}

function running({ limits }: QueueEngine, message: Message): string {
  const begun = message.lastLog?.createdAt ?? message.nextAttemptAt
  const timeout = Math.min(message.settings.timeout ?? limits.maxTimeout, limits.maxTimeout)
  const cancel = message.cancelRequested ? '; a cancel was requested' : ''
  return `is being delivered: ${turn(message)}, begun at ${timeText(begun)}, with its timeout at ${timeText(begun + timeout)}${cancel}`
}

function lane(queue: QueueEngine, message: Message): string {
  const { lane: queueOf } = message
  if (queueOf === undefined) return 'it was deleted'
  const ahead = queueOf.waiting().indexOf(message)
  const since = Math.max(message.createdAt, message.notBefore)
  const line = `${inLine(ahead)}${pauseCost(queue, 'queue', queueOf.name, since)}`
  if (queueOf.paused) return `the queue is paused${pausedSince(queue, 'queue', queueOf.name)}${line}`
  return `${slotsText(queue, queueOf)}${line}`
}

/** Returns the position of a message in a wait list as text: `; 12th in line: 11 messages are before it`. */
function inLine(ahead: number): string {
  if (ahead < 0) return ''
  return ahead === 0
    ? '; it is the next in line'
    : `; ${ordinal(ahead + 1)} in line: ${plural(ahead, 'message is', 'messages are')} before it`
}

function blocked(queue: QueueEngine, message: Message, { by, since }: Held): string {
  const name = message.settings.flowControl?.key
  const key = name === undefined ? undefined : queue.flow.keys.get(name)
  if (key === undefined || by === 'plan') {
    return `the plan allows at most ${queue.limits.globalParallelism} deliveries in flight, and this number is reached`
  }
  const ahead = key.waiting().indexOf(message)
  const reasons = limitsText(queue, key)
  const line = inLine(ahead).slice(reasons === '' ? 2 : 0)
  return `flow-control key ${key.key}: ${reasons}${line}${pauseCost(queue, 'flow-control', key.key, since)}`
}

function lastError(queue: QueueEngine, message: Message): string {
  const error = queue.log.about(message).findLast((entry) => entry.detail?.error !== undefined)?.detail?.error
  return error === undefined ? '' : `, the last one with ${error}`
}
