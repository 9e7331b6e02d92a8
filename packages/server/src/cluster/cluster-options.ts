import { networkInterfaces } from 'node:os'
import { type Duration, milliseconds } from '../../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { isEveryAddress } from '../listen-addresses.js'

/** What a server needs to be a node of a cluster. */
export interface ClusterOptions {
  /**
   * The Redis or Valkey that keeps the tenants: `redis://:PASSWORD@HOST:PORT`, `rediss://` for TLS; several servers of one
   * Redis Cluster with commas between them.
   */
  readonly url: string
  /** The same for all nodes: they sign with it what they hand on to each other. At least 16 characters. */
  readonly secret: string
  /** Where the other nodes call this one. Default: the address that it listens on, or the first of the machine's network. */
  readonly nodeUrl?: string
  /** Where clients call, such as the address of a load balancer; the same for all nodes. Default: that of this server. */
  readonly publicUrl?: string
  /** Host time after which the tenants of a node that is gone are taken over: 500 ms to 60 s. Default 1.5 s. */
  readonly lease?: Duration
}

export const defaultLease = 1_500

/** The lease in milliseconds. */
export function leaseOf({ lease = defaultLease }: ClusterOptions): number {
  return milliseconds(lease)
}

/** @throws TypeError for what cannot be used, and what cannot be used beside a cluster */
export function checkCluster(
  options: ClusterOptions,
  beside: Readonly<Record<string, unknown>>,
  lacksSecret: boolean,
): void {
  checkOptionNames('cluster', options, { url: true, secret: true, nodeUrl: true, publicUrl: true, lease: true })
  const { secret, nodeUrl: address, publicUrl: base } = options
  const lease = leaseOf(options)
  for (const [name, why] of Object.entries(besides)) {
    if (beside[name] !== undefined) throw new TypeError(`${why} Leave one of the two out.`)
  }
  if (typeof secret !== 'string' || secret.length < 16) {
    throw new TypeError(
      'A cluster needs a secret of at least 16 characters, the same for all its nodes: give it as STUNTDOUBLE_CLUSTER_SECRET or --cluster-secret.',
    )
  }
  if (lacksSecret) {
    throw new TypeError(
      "Where other machines can call, the tokens of tenants come of a secret, and all nodes need the same one: give it as STUNTDOUBLE_SECRET or --secret, beside the cluster's own.",
    )
  }
  if (!Number.isInteger(lease) || lease < 500 || lease > 60_000) {
    throw new TypeError('The lease of a cluster (--cluster-lease) is a whole number of milliseconds from 500 to 60000.')
  }
  for (const [name, url] of Object.entries({ 'cluster-node-url': address, 'cluster-public-url': base })) {
    if (url !== undefined && !isOrigin(url)) {
      throw new TypeError(
        `--${name} is an address without a path, such as http://10.0.0.5:4010, not ${JSON.stringify(url)}.`,
      )
    }
  }
}

/** What a cluster does not keep, so that nobody believes it does. */
const besides: Readonly<Record<string, string>> = {
  state: 'A cluster keeps its tenants in its engine, and --state keeps them in a file.',
  redisPort: 'A cluster hands HTTP on to the node that has a tenant, and not the native protocol of --redis-port.',
  engine:
    'A cluster keeps what the data store holds in journals, and --real-redis keeps it in an engine that one tenant has.',
  scenario:
    'A cluster cannot begin its tenants with a scenario, which is not in their journals: play it, or give its orders to the control API.',
}

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, pathname, search, hash, username } = new URL(url)
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}` === ''
}

/** As other worlds write it: without a slash at the end. */
export function originOf(url: string): string {
  return new URL(url).origin
}

/** Where other machines reach a server that listens at an address; this machine where nobody else can. */
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
