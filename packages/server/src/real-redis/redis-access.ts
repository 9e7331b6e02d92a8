import { ReplyError } from '../../../../src/store/command/reply.js'
import { RedisConnection } from '../redis-client/redis-connection.js'
import { RealRedisUnreachable } from './real-redis-errors.js'
import { judged, type RedisLocation, type RedisUrl } from './redis-urls.js'

/** How an engine is reached. */
export interface RedisAccess {
  readonly url: RedisUrl
  /** Hosts that may be elsewhere than on this machine. */
  readonly allowed: readonly string[]
  /** Host milliseconds after which an engine that says nothing counts as gone. */
  readonly patience: number
}

/** @throws RealRedisUnreachable, TypeError for a host that is not allowed and for a wrong password */
export async function connectTo(
  { url, allowed, patience }: RedisAccess,
  place: RedisLocation = url,
): Promise<RedisConnection> {
  const { tls, user, password } = url
  const connection = new RedisConnection({
    ...(await judged(place, allowed)),
    ...{ certified: place.host, tls, user, password, patience, silence: patience },
    reasons: {
      slow: tls ? 'it does not answer in TLS: without TLS its url begins with redis://' : 'it does not answer',
      closed: 'it closed the connection',
      left: 'it was closed',
    },
    failure: (reason, wasConnected) =>
      wasConnected
        ? away(place, reason)
        : new RealRedisUnreachable(`The engine at ${nameOf(place)} is away: ${reason}.`),
  })
  try {
    await connection.open()
    return connection
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    throw new TypeError(
      `The engine at ${nameOf(place)} does not take the user and password of the url: ${error.message}`,
    )
  }
}

export function nameOf({ host, port }: RedisLocation): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function away(place: RedisLocation, reason: string): RealRedisUnreachable {
  return new RealRedisUnreachable(
    `The engine at ${nameOf(place)} is away: ${reason}. What was sent last may have been done.`,
  )
}
