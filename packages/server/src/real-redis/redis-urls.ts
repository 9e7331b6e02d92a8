import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopbackAddress } from '../listen-addresses.js'
import { RealRedisUnreachable } from './real-redis-errors.js'

// Parses the URL of a real Redis. The host of the URL must be this machine or an allowed host.

export interface RedisLocation {
  readonly host: string
  readonly port: number
}

export interface RedisUrl extends RedisLocation {
  readonly tls: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

/** Parses the URL of a real Redis. @throws TypeError for an invalid URL; the message never contains the password */
export function engineUrl(given: string, option: string): RedisUrl {
  const wrong = (why: string): TypeError =>
    new TypeError(`${option} must be the URL of a Redis or Valkey, such as redis://127.0.0.1:6379: ${why}.`)
  if (typeof given !== 'string' || !URL.canParse(given)) throw wrong('it is not a URL')
  const { protocol, hostname, port, username, password, pathname } = new URL(given)
  if (!['redis:', 'rediss:', 'valkey:', 'valkeys:'].includes(protocol)) {
    throw wrong(`it must begin with redis:// or rediss:// (got ${protocol}//)`)
  }
  if (hostname === '') throw wrong('it has no host')
  if (!/^\/?0?$/.test(pathname)) throw wrong('it must use database 0, because Cluster has no other. Omit the path')
  const decoded = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw wrong('a percent sign in the user or password must be written as %25')
    }
  }
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 6379 : Number(port),
    tls: protocol === 'rediss:' || protocol === 'valkeys:',
    user: username === '' ? undefined : decoded(username),
    password: password === '' ? undefined : decoded(password),
  }
}

/**
 * Resolves and checks a host. Returns the checked address, which must be used for the connection.
 * @param allowed hosts other than this machine
 * @throws TypeError for a host that is neither this machine nor allowed, RealRedisUnreachable for a name without an
 * address
 */
export async function judged({ host, port }: RedisLocation, allowed: readonly string[]): Promise<RedisLocation> {
  const found = isIP(host) === 0 ? await resolved(host) : [{ address: host }]
  const names = allowed.map((name) => name.replace(/^\[(.*)\]$/, '$1').toLowerCase())
  const isNamed = names.includes(host.toLowerCase())
  const addresses = found.map(({ address }) => address)
  const foreign = addresses.find((address) => !isNamed && !isLoopbackAddress(address) && !names.includes(address))
  if (foreign === undefined && addresses[0] !== undefined) return { host: addresses[0], port }
  const where = foreign === host ? host : `${host} (${foreign})`
  throw new TypeError(
    `The real Redis at ${where} is not on this machine, and a sandbox writes to it and flushes it. If this Redis is your own and empty, allow it with --allow-redis-host ${host} (in a program: allowRedisHosts: ['${host}']).`,
  )
}

async function resolved(host: string): Promise<readonly { readonly address: string }[]> {
  try {
    return await lookup(host, { all: true })
  } catch (error) {
    throw new RealRedisUnreachable(
      `The real Redis at ${host} is unavailable: its name has no address (${(error as Error).message}).`,
    )
  }
}
