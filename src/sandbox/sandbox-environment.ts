import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { type Dialect, dialectsOf, regionalName } from '../protocol/dialect.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { SandboxParts } from './sandbox-parts.js'

/**
 * Returns URLs, tokens and keys in the environment variables that the SDKs read, with the names of all active dialects.
 */
export function environmentOf(
  sandbox: SandboxParts,
  keysIn: (region: QueueRegion) => SigningKeyPair,
): Record<string, string> {
  const sets = dialectsOf(sandbox.dialect).map((dialect) => environmentIn(dialect, sandbox, keysIn))
  return Object.assign({}, ...sets, redisUrlOf(sandbox)) as Record<string, string>
}

/**
 * Returns the URL for clients of the Redis protocol. Its user name is `{tenant}/default`, or `default` for the tenant
 * `main`.
 */
function redisUrlOf({ options: { urls, name = 'main' }, tokens }: SandboxParts): { REDIS_URL?: string } {
  const redis = urls?.redis
  if (redis === undefined) return {}
  const url = new URL(redis)
  if (urls?.redisNoAuth === true && name === 'main') return { REDIS_URL: url.href }
  url.username = encodeURIComponent(name === 'main' ? 'default' : `${name}/default`)
  url.password = encodeURIComponent(tokens.store)
  return { REDIS_URL: url.href }
}

function environmentIn(
  { environment }: Dialect,
  { queue, urls, tokens }: SandboxParts,
  keysIn: (region: QueueRegion) => SigningKeyPair,
): Record<string, string> {
  const { current, next } = queue.signingKeys
  const env: Record<string, string> = {}
  for (const name of environment.storeUrl) env[name] = urls.store
  for (const name of environment.storeToken) env[name] = tokens.store
  env[environment.disableTelemetry] = '1'
  env[environment.queueUrl] = urls.queue
  env[environment.queueToken] = tokens.queue
  env[environment.queueCurrentSigningKey] = current
  env[environment.queueNextSigningKey] = next
  env[environment.mgmtUrl] = urls.mgmt
  env[environment.mgmtUser] = tokens.mgmtUser
  env[environment.mgmtKey] = tokens.mgmtKey
  // The SDKs first read the variables of the configured region, and then the variables without a region.
  for (const region of queueRegions) {
    const keys = keysIn(region)
    env[regionalName(environment.queueUrl, region)] = urls.regions[region]
    env[regionalName(environment.queueToken, region)] = tokens.queue
    env[regionalName(environment.queueCurrentSigningKey, region)] = keys.current
    env[regionalName(environment.queueNextSigningKey, region)] = keys.next
  }
  return env
}
