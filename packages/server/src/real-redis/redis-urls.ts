import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopbackAddress } from '../listen-addresses.js'
import { RealRedisUnreachable } from './real-redis-errors.js'

// Which engines may be spoken to: those of this machine, and those that somebody named.

/** Where an engine listens. */
export interface RedisLocation {
  readonly host: string
  readonly port: number
}

/** What the url of an engine says. */
export interface RedisUrl extends RedisLocation {
  readonly tls: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

/** @throws TypeError for what is no url of an engine; a password in it is not shown */
export function engineUrl(given: string, option: string): RedisUrl {
  const wrong = (why: string): TypeError =>
    new TypeError(`${option} is the address of a Redis or Valkey, such as redis://127.0.0.1:6379: ${why}.`)
  if (typeof given !== 'string' || !URL.canParse(given)) throw wrong('what was given is no url')
  const { protocol, hostname, port, username, password, pathname } = new URL(given)
  if (!['redis:', 'rediss:', 'valkey:', 'valkeys:'].includes(protocol)) {
    throw wrong(`it begins with redis:// or rediss://, not with ${protocol}//`)
  }
  if (hostname === '') throw wrong('it has no host')
  if (!/^\/?0?$/.test(pathname)) throw wrong('the database is 0, because Cluster has no other: leave the path out')
  const decoded = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw wrong('a percent sign in its user or password is written %25')
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
 * The address that is connected to: what was judged is what is used.
 * @param allowed hosts that may be elsewhere
 * @throws TypeError for a host that is neither this machine nor allowed, NotThere for a name that has no address
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
    `The engine at ${where} is not on this machine, and it would be written to and flushed. If it is yours and holds nothing, name it: --allow-redis-host ${host}, in a program allowRedisHosts: ['${host}'].`,
  )
}

async function resolved(host: string): Promise<readonly { readonly address: string }[]> {
  try {
    return await lookup(host, { all: true })
  } catch (error) {
    throw new RealRedisUnreachable(
      `The engine at ${host} is away: its name has no address (${(error as Error).message}).`,
    )
  }
}
