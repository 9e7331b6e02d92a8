import { type Bytes, toBase64, utf8 } from '../../kernel/bytes.js'
import { headerMap } from '../../kernel/http.js'
import type { Policy } from '../../policy/policy.js'
import type { RawOutcome } from '../destinations/raw-response.js'
import type { Draft, Message } from '../message/message.js'
import type { CallbackSettings } from '../settings/message-settings.js'

export interface Reported {
  readonly message: Message
  /** Number of the attempt that is reported. */
  readonly retried: number
  readonly reply: RawOutcome
  /** Set for a failure callback. */
  readonly dlqId?: string
  /** `seq` of the attempt in the traffic log. */
  readonly cause: number
}

/** The message that reports an attempt to a callback url: an ordinary message of its own. [queue.md 3.2, 5.4] */
export function callbackDraft(reported: Reported, callback: CallbackSettings, policy: Policy): Draft {
  const { message, cause } = reported
  const kind = reported.dlqId === undefined ? 'callback' : 'failure-callback'
  return {
    kind,
    url: callback.url,
    body: utf8(JSON.stringify(callbackBody(reported, policy))),
    settings: callback.settings,
    origin: { callerIp: message.origin.callerIp, region: message.origin.region, cause },
    source: message,
    part: message.part?.reporter(kind),
  }
}

/** Fields in the order in which a captured body has them. [queue.md 5.4] */
export function callbackBody({ message, retried, reply, dlqId }: Reported, policy: Policy): Record<string, unknown> {
  const { origin } = message
  const time = (at: number): string | number => (policy.callbackTimes === 'string' ? String(at) : at)
  const body = {
    status: reply.status,
    header: headerMap(reply.headers),
    body: toBase64(reply.body),
    retried,
    sourceMessageId: message.id,
    ...(origin.urlGroup !== undefined && { topicName: origin.urlGroup }),
    ...(origin.endpointName !== undefined && { endpointName: origin.endpointName }),
    url: message.url,
    method: message.method,
    sourceHeader: headerMap(message.headers),
    sourceBody: toBase64(message.body),
    maxRetries: message.maxRetries,
    notBefore: time(message.notBefore),
    createdAt: time(message.createdAt),
    ...(origin.scheduleId !== undefined && { scheduleId: origin.scheduleId }),
    callerIP: origin.callerIp,
    ...(dlqId !== undefined && { dlqId }),
  }
  return message.part === undefined ? body : message.part.reported(body)
}

/** An answer as far as the plan keeps it. [queue.md 5.4, 5.6] */
export function truncated(reply: RawOutcome, maxMessageSize: number): RawOutcome {
  return reply.body.length <= maxMessageSize ? reply : { ...reply, body: reply.body.slice(0, maxMessageSize) as Bytes }
}
