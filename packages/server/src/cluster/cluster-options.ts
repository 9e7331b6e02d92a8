import { networkInterfaces } from 'node:os'
import { type Duration, milliseconds } from '../../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { isEveryAddress } from '../listen-addresses.js'

/** Options that make a server a node of a cluster. */
export interface ClusterOptions {
  /**
   * URL of the Redis or Valkey that stores the tenants: `redis://:PASSWORD@HOST:PORT`, or `rediss://` for TLS. For
   * several servers of one Redis Cluster, separate the URLs by commas.
   */
  readonly url: string
  /** Secret of at least 16 characters, the same for all nodes. The nodes sign forwarded requests with this secret. */
  readonly secret: string
  /**
   * URL by which other nodes reach this node. Default: the address that the node listens on. If the node listens on
   * every address, the default is the first network address of the machine.
   */
  readonly nodeUrl?: string
  /**
   * URL by which clients reach the cluster, such as the URL of a load balancer. It must be the same for all nodes.
   * Default: the URL of this server.
   */
  readonly publicUrl?: string
  /**
   * Host time after which other nodes take over the tenants of a node that does not respond: 500 ms to 60 s. Default
   * 1.5 s.
   */
  readonly lease?: Duration
}

export const defaultLease = 1_500

export function leaseOf({ lease = defaultLease }: ClusterOptions): number {
  return milliseconds(lease)
}

/**
 * Checks the cluster options.
 * @param beside the server's options outside of `cluster`, by name
 * @throws TypeError for invalid cluster options, and for server options that a cluster does not support
 */
export function checkCluster(
  options: ClusterOptions,
  beside: Readonly<Record<string, unknown>>,
  lacksSecret: boolean,
): void {
  checkOptionNames('cluster', options, { url: true, secret: true, nodeUrl: true, publicUrl: true, lease: true })
  const { secret, nodeUrl: address, publicUrl: base } = options
  const lease = leaseOf(options)
  for (const [name, why] of Object.entries(besides)) {
    if (beside[name] !== undefined) throw new TypeError(`${why} Omit one of the two options.`)
  }
  if (typeof secret !== 'string' || secret.length < 16) {
    throw new TypeError(
      'cluster.secret must have at least 16 characters, the same for all nodes. Set STUNTDOUBLE_CLUSTER_SECRET or --cluster-secret.',
    )
  }
  if (lacksSecret) {
    throw new TypeError(
      'secret is required when other machines can connect to a cluster, because all nodes derive the tokens of tenants from it. Set STUNTDOUBLE_SECRET or --secret, in addition to the secret of the cluster.',
    )
  }
  if (!Number.isInteger(lease) || lease < 500 || lease > 60_000) {
    throw new TypeError(`cluster.lease (--cluster-lease) must be from 500 to 60000 ms (got ${lease}).`)
  }
  for (const [name, url] of Object.entries({ 'cluster-node-url': address, 'cluster-public-url': base })) {
    if (url !== undefined && !isOrigin(url)) {
      throw new TypeError(
        `--${name} must be a URL without a path, such as http://10.0.0.5:4010 (got ${JSON.stringify(url)}).`,
      )
    }
  }
}

/** Server options that a cluster does not support, each with the reason. */
const besides: Readonly<Record<string, string>> = {
  state: 'A cluster saves its tenants in Redis, but --state saves them in a file.',
  redisPort: 'A cluster forwards only HTTP to the node that owns a tenant, and --redis-port needs the Redis protocol.',
  realRedis:
    'A cluster saves the data of the store in journals, but --real-redis keeps this data in the Redis of one tenant.',
  scenario:
    'A cluster cannot start its tenants with --scenario, because the journals of the tenants would not contain the scenario. Play the scenario, or send its steps to the control API.',
}

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, pathname, search, hash, username } = new URL(url)
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}` === ''
}

export function originOf(url: string): string {
  return new URL(url).origin
}

/** Returns the URL by which other machines can reach a server with this address. */
export function reachableAt(address: string, origin: string): string {
  if (!isEveryAddress(address)) return origin
  const outside = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')
  if (outside === undefined) return origin
  const url = new URL(origin)
  url.hostname = outside.address
  return url.origin
}
