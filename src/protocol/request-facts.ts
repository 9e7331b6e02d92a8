import type { FaultFacts } from '../faults/fault.js'
import { once } from '../kernel/once.js'
import type { RoutedRequest } from './call.js'
import type { Service } from './service.js'

/**
 * Returns the facts of a request that fault rules can compare. `more` computes the facts of the service and of the
 * endpoint. For these facts, the body may have to be read.
 */
export function requestFacts(call: RoutedRequest, { faults, state }: Service): FaultFacts {
  return {
    service: call.service,
    path: call.path,
    method: call.method,
    url: call.url,
    region: call.region,
    database: call.database,
    headers: call.headers,
    more: once(() => ({ ...faults?.facts?.(call, state), ...call.endpoint?.facts?.(call, state) })),
  }
}
