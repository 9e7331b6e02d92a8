import { type Bytes, isUtf8, text, toBase64 } from '../../kernel/bytes.js'
import { headerMap } from '../../kernel/http.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import type { BulkAction } from '../bulk-actions.js'
import type { DeadLetter } from '../delivery/callbacks-and-dead-letters.js'
import type { FlowKey } from '../delivery/flow-key.js'
import type { FifoQueue } from '../message/fifo-queue.js'
import type { LogEntry, Message } from '../message/message.js'
import type { UrlGroup } from '../publish/url-groups.js'
import type { Schedule } from '../schedules/schedule.js'
import { lastStates } from '../schedules/schedules.js'
import type { CallbackSettings, PublishSettings } from '../settings/message-settings.js'
import { redactedBody, redactedHeaders } from '../settings/redacted-fields.js'

/** Part of a JSON response. `JSON.stringify()` omits fields that are `undefined`. */
type Shape = Record<string, unknown>

/**
 * Number of bytes of a body that the response shows. -1: the response has no body. `undefined`: it shows the whole
 * body. [queue.md 4.3]
 */
export type TrimBody = number | undefined

function trimmed(body: Bytes, trim: TrimBody): Bytes | undefined {
  if (trim === undefined) return body
  return trim < 0 ? undefined : (body.slice(0, trim) as Bytes)
}

/** Returns the field `body` for a body that is UTF-8, otherwise the field `bodyBase64`. [queue.md 1.5] */
function clearBody(given: Bytes, settings: PublishSettings, trim?: TrimBody): Shape {
  const redacted = redactedBody(given, settings.redact)
  if (redacted !== undefined) return { body: redacted }
  const body = trimmed(given, trim)
  if (body === undefined || body === '') return {}
  return isUtf8(body) ? { body: text(body) } : { bodyBase64: toBase64(body) }
}

function flowShape(settings: PublishSettings): Shape {
  const flow = settings.flowControl
  if (flow === undefined) return {}
  const { parallelism, rate, period = 1 } = flow.limits ?? {}
  return { flowControlKey: flow.key, parallelism, rate, period }
}

function labelShape(settings: PublishSettings): Shape {
  return settings.labels === undefined ? {} : { label: settings.labels[0], labels: settings.labels }
}

/** Returns the headers that a callback forwards. The Content-Type, which every callback has, does not count. */
function callbackHeaders(callback: CallbackSettings | undefined): Record<string, string[]> | undefined {
  const { headers = [], redact } = callback?.settings ?? {}
  return headers.some(([name]) => name !== 'Content-Type') ? headerMap(redactedHeaders(headers, redact)) : undefined
}

function headersOf(message: Message): Record<string, string[]> {
  return headerMap(redactedHeaders(message.headers, message.settings.redact))
}

function common(message: Message): Shape {
  const { origin, settings } = message
  return {
    messageId: message.id,
    url: message.url,
    topicName: origin.urlGroup,
    endpointName: origin.endpointName,
    method: message.method,
    header: headersOf(message),
    maxRetries: message.maxRetries,
    queueName: settings.queue,
    scheduleId: origin.scheduleId,
    callback: settings.callback?.url,
    failureCallback: settings.failureCallback?.url,
    callerIp: origin.callerIp,
    timeout: settings.timeout,
    retryDelayExpression: settings.retryDelay?.text,
    ...labelShape(settings),
    ...flowShape(settings),
  }
}

/** Returns a message as JSON. [queue.md 1.5] */
export function messageShape(message: Message, trim?: TrimBody): Shape {
  const { settings } = message
  return {
    ...common(message),
    ...clearBody(message.body, settings, trim),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    callbackHeader: callbackHeaders(settings.callback),
    failureCallbackHeader: callbackHeaders(settings.failureCallback),
    callerIP: message.origin.callerIp,
  }
}

/** Returns a dead letter as JSON. [queue.md 5.5] */
export function deadLetterShape(letter: DeadLetter, trim?: TrimBody): Shape {
  const { response: reply } = letter
  const body = trimmed(reply.body, trim)
  return {
    ...messageShape(letter.message, trim),
    dlqId: letter.id,
    responseStatus: reply.status,
    responseHeader: headerMap(reply.headers),
    ...letter.message.part?.deadLetter(),
    ...(body !== undefined && (isUtf8(body) ? { responseBody: text(body) } : { responseBodyBase64: toBase64(body) })),
  }
}

/** Returns a log entry as JSON. [queue.md 4.3] */
export function logShape(entry: LogEntry, policy: ResolvedPolicy, trim?: TrimBody): Shape {
  const { message, detail } = entry
  const { settings } = message
  const redacted = redactedBody(message.body, settings.redact)
  const body = trimmed(message.body, trim)
  const response = detail?.response
  const responseBody = response && trimmed(response.body, trim)
  return {
    time: entry.createdAt,
    ...common(message),
    state: entry.state === 'CANCELLED' ? policy.canceledSpelling : entry.state,
    body: redacted ?? (body === undefined || body === '' ? undefined : toBase64(body)),
    nextDeliveryTime: detail?.nextDeliveryTime,
    error: detail?.error,
    ...(response && {
      responseStatus: response.status,
      responseBody: responseBody === undefined ? undefined : toBase64(responseBody),
      responseHeaders: headerMap(response.headers),
      responseHeader: headerMap(response.headers),
    }),
    callbackHeaders: callbackHeaders(settings.callback),
    failureCallbackHeaders: callbackHeaders(settings.failureCallback),
    retryDelayExpr: settings.retryDelay?.text,
  }
}

/** Returns a schedule as JSON. [queue.md 1.7; service.md Schedule] */
export function scheduleShape(schedule: Schedule): Shape {
  const { draft } = schedule
  const { settings } = draft
  return {
    createdAt: schedule.createdAt,
    scheduleId: schedule.id,
    cron: draft.cron,
    destination: schedule.destination,
    method: settings.method,
    header: headerMap(redactedHeaders(settings.headers, settings.redact)),
    ...clearBody(draft.body, settings),
    retries: settings.retries,
    delay: settings.delay > 0 ? settings.delay / 1000 : undefined,
    timeout: settings.timeout,
    callback: settings.callback?.url,
    callbackHeader: callbackHeaders(settings.callback),
    failureCallback: settings.failureCallback?.url,
    failureCallbackHeader: callbackHeaders(settings.failureCallback),
    queueName: settings.queue,
    lastScheduleTime: schedule.lastTime,
    nextScheduleTime: schedule.nextTime,
    lastScheduleStates: schedule.lastMessages.length === 0 ? undefined : lastStates(schedule),
    callerIp: draft.callerIp,
    callerIP: draft.callerIp,
    isPaused: schedule.paused,
    retryDelayExpression: settings.retryDelay?.text,
    error: schedule.error,
    ...labelShape(settings),
    ...flowShape(settings),
  }
}

/** Returns a FIFO queue as JSON. [queue.md 1.6] */
export function queueShape(lane: FifoQueue<Message>): Shape {
  const { name, createdAt, updatedAt, parallelism, paused, lag } = lane
  return { name, createdAt, updatedAt, parallelism, paused, lag }
}

/** Returns a URL group as JSON. [queue.md 1.8, 8] */
export function urlGroupShape(group: UrlGroup): Shape {
  const { name, createdAt, updatedAt, endpoints, shownDefaults } = group
  return {
    name,
    createdAt,
    updatedAt,
    endpoints: endpoints.map(({ name, url }) => ({ name, url })),
    headers: shownDefaults,
  }
}

/** Returns a bulk action as JSON. [queue.md 1.5] */
export function bulkActionShape({ id, state, total, processed, createdAt, completedAt, filter }: BulkAction): Shape {
  return { actionId: id, kind: 'cancel', state, total, processed, createdAt, completedAt, filter }
}

/**
 * Returns a flow-control key as JSON. The size of the wait list has two names, because the documents of the queue and
 * of workflows spell it differently. [queue.md 1.11; service.md Flow control key entry]
 */
export function flowKeyShape(key: FlowKey, now: number): Shape {
  key.refresh(now)
  return {
    flowControlKey: key.key,
    waitListSize: key.waitListSize,
    waitlistSize: key.waitListSize,
    parallelismMax: key.parallelismMax,
    parallelismCount: key.parallelismCount,
    rateMax: key.rateMax,
    rateCount: key.rateCount,
    ratePeriod: key.ratePeriod,
    ratePeriodStart: Math.floor(key.presentPeriodStart(now) / 1000),
    isPinnedParallelism: key.pinnedParallelism,
    isPinnedRate: key.pinnedRate,
    isPaused: key.paused,
  }
}
