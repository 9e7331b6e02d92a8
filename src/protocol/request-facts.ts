import type { FaultFacts } from '../faults/fault.js'
import { once } from '../kernel/once.js'
import type { RoutedRequest } from './call.js'
import type { Service } from './service.js'

/** What rules may ask about a request; the service and its endpoint may have to read the body for more. */
export function requestFacts(call: RoutedRequest, { faults, state }: Service): FaultFacts {
  return {
    service: call.service,
    path: call.path,
    method: call.method,
    url: call.url,
    region: call.region,
    headers: call.headers,
    more: once(() => ({ ...faults?.facts?.(call, state), ...call.endpoint?.facts?.(call, state) })),
  }
}
