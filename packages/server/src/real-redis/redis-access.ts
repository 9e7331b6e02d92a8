import { ReplyError } from '../../../../src/store/command/reply.js'
import { RedisConnection } from '../redis-client/redis-connection.js'
import { RealRedisUnreachable } from './real-redis-errors.js'
import { judged, type RedisLocation, type RedisUrl } from './redis-urls.js'

export interface RedisAccess {
  readonly url: RedisUrl
  /** Hosts other than this machine to which a connection is allowed. */
  readonly allowed: readonly string[]
  /** Time after which a server that does not reply counts as disconnected, in milliseconds of host time. */
  readonly patience: number
}

/**
 * Connects to a server.
 * @throws RealRedisUnreachable, TypeError for a host that is not allowed and for a wrong user or password
 */
export async function connectTo(
  { url, allowed, patience }: RedisAccess,
  place: RedisLocation = url,
): Promise<RedisConnection> {
  const { tls, user, password } = url
  const connection = new RedisConnection({
    ...(await judged(place, allowed)),
    ...{ certified: place.host, tls, user, password, patience, silence: patience },
    reasons: {
      slow: tls
        ? 'it does not respond to TLS; for a connection without TLS, the URL must begin with redis://'
        : 'it does not respond',
      closed: 'it closed the connection',
      left: 'it was closed',
    },
    failure: (reason, wasConnected) =>
      wasConnected
        ? away(place, reason)
        : new RealRedisUnreachable(`The real Redis at ${nameOf(place)} is unavailable: ${reason}.`),
  })
  try {
    await connection.open()
    return connection
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    throw new TypeError(`The real Redis at ${nameOf(place)} rejects the user and password of the URL: ${error.message}`)
  }
}

export function nameOf({ host, port }: RedisLocation): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function away(place: RedisLocation, reason: string): RealRedisUnreachable {
  return new RealRedisUnreachable(
    `The real Redis at ${nameOf(place)} is unavailable: ${reason}. The last commands may have run.`,
  )
}
