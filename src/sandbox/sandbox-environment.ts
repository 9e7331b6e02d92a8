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
  const { urls, tokens, dialect, policy } = sandbox
  const { store } = database === undefined ? tokens : tokens.databases[database]!
  const place = { url: database === undefined ? urls.store : urls.databases[database]!, token: store, database }
  const keys = { 'us-east-1': keysIn('us-east-1'), 'eu-central-1': keysIn('eu-central-1') }
  const facts = { urls, tokens, store: place, home: keys[homeRegionOf(policy)], keys }
  const env: Record<string, string> = {}
  for (const { environment } of dialectsOf(dialect)) addVariables(env, environment, facts)
  return Object.assign(env, redisUrlOf(sandbox, place))
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

/** Values of the variables, whose names depend on the dialect. */
interface Facts extends Pick<SandboxParts, 'urls' | 'tokens'> {
  readonly store: StorePlace
  readonly home: SigningKeyPair
  readonly keys: Readonly<Record<QueueRegion, SigningKeyPair>>
}

function addVariables(
  env: Record<string, string>,
  environment: Dialect['environment'],
  { urls, tokens, store, home: { current, next }, keys }: Facts,
): void {
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
    const { current, next } = keys[region]
    env[regionalName(environment.queueUrl, region)] = urls.regions[region]
    env[regionalName(environment.queueToken, region)] = tokens.queue
    env[regionalName(environment.queueCurrentSigningKey, region)] = current
    env[regionalName(environment.queueNextSigningKey, region)] = next
  }
}
