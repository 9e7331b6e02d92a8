import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { type Dialect, dialectsOf, regionalName } from '../protocol/dialect.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import { homeRegionOf } from './regions.js'
import type { SandboxParts } from './sandbox-parts.js'

/** The members of a sandbox on which its variables depend. All of them exist before the sandbox is used. */
type EnvironmentSource = Pick<SandboxParts, 'options' | 'dialect' | 'policy' | 'urls' | 'tokens'>

/**
 * Returns URLs, tokens and keys in the environment variables that the SDKs read, with the names of all active dialects.
 * @param database name of the added database to which the variables of the data store belong; default: the first one
 */
export function environmentOf(
  sandbox: EnvironmentSource,
  keysIn: (region: QueueRegion) => SigningKeyPair,
  database?: string,
): Record<string, string> {
  const { urls, tokens } = sandbox
  const { store } = database === undefined ? tokens : tokens.databases[database]!
  const place = { url: database === undefined ? urls.store : urls.databases[database]!, token: store, database }
  const sets = dialectsOf(sandbox.dialect).map((dialect) => environmentIn(dialect, sandbox, place, keysIn))
  return Object.assign({}, ...sets, redisUrlOf(sandbox, place)) as Record<string, string>
}

/** The database of the data store that an app uses. */
interface StorePlace {
  readonly url: string
  readonly token: string
  /** Name of an added database. */
  readonly database: string | undefined
}

/**
 * Returns the URL for clients of the Redis protocol. Its user name is `{tenant}/default`, or `default` for the tenant
 * `main`. For an added database, it is `{tenant}/{database}/default`.
 */
function redisUrlOf(
  { options: { urls, name = 'main' } }: EnvironmentSource,
  { token, database }: StorePlace,
): { REDIS_URL?: string } {
  const redis = urls?.redis
  if (redis === undefined) return {}
  const url = new URL(redis)
  const user = name === 'main' ? 'default' : `${name}/default`
  if (urls?.redisNoAuth === true && name === 'main' && database === undefined) return { REDIS_URL: url.href }
  url.username = encodeURIComponent(database === undefined ? user : `${name}/${database}/default`)
  url.password = encodeURIComponent(token)
  return { REDIS_URL: url.href }
}

function environmentIn(
  { environment }: Dialect,
  { policy, urls, tokens }: EnvironmentSource,
  store: StorePlace,
  keysIn: (region: QueueRegion) => SigningKeyPair,
): Record<string, string> {
  const { current, next } = keysIn(homeRegionOf(policy))
  const env: Record<string, string> = {}
  for (const name of environment.storeUrl) env[name] = store.url
  for (const name of environment.storeToken) env[name] = store.token
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
