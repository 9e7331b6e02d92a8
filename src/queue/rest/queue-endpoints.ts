import type { HeaderList } from '../../kernel/http.js'
import { empty, json, tokenOf } from '../../protocol/call.js'
import type { RawResponse, Service } from '../../protocol/service.js'
import { CallLimits } from '../publish/call-limits.js'
import type { QueueEngine } from '../queue-engine.js'
import { QueueRejection, refusals } from '../settings/queue-rejections.js'
import { userOf } from '../signing/public-users.js'
import { deadLetterEndpoints } from './dead-letter-endpoints.js'
import { queueFaults } from './fault-responses.js'
import { flowControlEndpoints } from './flow-control-endpoints.js'
import { logEndpoints } from './log-endpoints.js'
import { messageEndpoints } from './message-endpoints.js'
import { publishEndpoints } from './publishing.js'
import { open, type QueueApi, type QueueEndpoint, row } from './reading.js'
import { resourceEndpoints } from './resources.js'

export interface QueueServiceOptions {
  readonly token: string
  readonly readOnlyToken?: string | undefined
  /** Endpoints of other services that use the queue, such as workflow. */
  readonly more?: readonly QueueEndpoint[]
}

/** All endpoints of the queue API. [queue.md 1.2] */
export const queueEndpoints: readonly QueueEndpoint[] = [
  ...publishEndpoints,
  ...messageEndpoints,
  ...resourceEndpoints,
  ...deadLetterEndpoints,
  ...logEndpoints,
  row('GET', '/v2/keys', 'Read the signing keys.', (_call, { queue }) => json(queue.keys.pair())),
  row('POST', '/v2/keys/rotate', 'Rotate the signing keys: next becomes current.', (_call, { queue }) =>
    json(queue.keys.rotate()),
  ),
  ...flowControlEndpoints,
  open('GET', '/', 'Check readiness.', () => empty()),
  open('GET', '/v2/readiness', 'Check readiness.', () => empty()),
]

export function queueService(queue: QueueEngine, options: QueueServiceOptions): Service<QueueApi> {
  const { token, readOnlyToken, more = [] } = options
  const limits = new CallLimits(queue.policy, queue.limits.messagesPerDay)
  return {
    name: 'queue',
    // Paths ignore case. [queue.md 1.1]
    anyCase: true,
    state: { queue },
    faults: queueFaults,
    endpoints: [...queueEndpoints, ...more],
    authorize(call) {
      const given = tokenOf(call, call.dialect.queueTokenQuery)
      if (given === undefined || (given !== token && given !== readOnlyToken)) return refuse(refusals.invalidToken())
      const { homeRegion, readOnlyStatus } = queue.policy
      if (homeRegion !== undefined && call.region !== undefined && call.region !== homeRegion) {
        return refuse(refusals.otherRegion(userOf(given), call.region))
      }
      if (given !== token && call.method !== 'GET') return refuse(refusals.readOnly(readOnlyStatus))
      return undefined
    },
    ...(limits.isAny && { count: ({ limit = 'burst' }) => limits.count(limit, queue.now()) }),
    notFound: (call) => refuse(refusals.unknownPath(call.method, call.path)),
    methodNotAllowed: (call, allowed) =>
      refuse(refusals.wrongMethod(call.method, call.path), [['allow', allowed.join(', ')]]),
    failure: (error) => (error instanceof QueueRejection ? refuse(error) : undefined),
  }
}

function refuse(refusal: QueueRejection, headers: HeaderList = []): RawResponse {
  return json({ error: refusal.message }, refusal.status, [...refusal.headers, ...headers])
}
