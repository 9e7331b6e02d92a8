import type { Duration } from '../../../src/kernel/duration.js'
import { maxBuffered } from '../../../src/queue/destinations/network.js'
import { heapLimit } from './heap-watch.js'

/** Limits of a server. They prevent one client from using all resources. */
export interface ServerLimits {
  /** Maximum bytes of one request body. Default 128 MiB, which is more than the largest batch of the queue. */
  readonly maxBodyBytes: number
  /** Host time in which a request must arrive completely: a text such as `'2m'`, or milliseconds. Default 2 minutes. */
  readonly requestTimeout: Duration
  /** Maximum number of open event streams. Default 1,000. */
  readonly maxStreams: number
  /**
   * Maximum number of open connections of the Redis protocol. Default 10,000. HTTP connections have the same maximum.
   * In addition, HTTP may have at most one connection for each 64 KiB of `buffered`.
   */
  readonly maxConnections: number
  /** Maximum number of tenants. Default 1,000. */
  readonly maxTenants: number
  /**
   * Maximum number of entries in the traffic log of each tenant. When a log has more, its older half is dropped.
   * Default 200,000.
   */
  readonly maxTrafficEntries: number
  /**
   * Maximum bytes in transit of all clients together: arriving bodies, commands that wait for EXEC, output that clients
   * have not received yet, and arriving responses of destinations. Default 512 MiB, or a quarter of the heap if that is
   * less.
   */
  readonly buffered: number
}

/** Limits with all durations in milliseconds. */
export interface ResolvedLimits extends ServerLimits {
  readonly requestTimeout: number
}

export const defaultLimits: ResolvedLimits = {
  maxBodyBytes: 134_217_728,
  requestTimeout: 120_000,
  maxStreams: 1_000,
  maxConnections: 10_000,
  maxTenants: 1_000,
  maxTrafficEntries: 200_000,
  buffered: Math.min(maxBuffered, Math.floor(heapLimit() / 4)),
}

/**
 * Maximum bytes of the head of a request. It is high, because a path may contain a command, and headers may contain
 * headers to forward.
 */
export const maxHead = 65_536

/**
 * Percentage of `buffered` that large responses of destinations may use. One tenant may use half of this percentage.
 */
export const responsesShare = 50

/** Maximum number of headers of a request. Node.js enforces it. */
export const maxHeaders = 1_000

/** If a body does not affect the response, at most this many bytes of the body are read. */
export const maxUnwanted = 65_536

/** Error that rejects a request body. The client gets the message, and the connection is closed. */
export class BodyRefused extends Error {
  constructor(
    readonly status: 413 | 503,
    message: string,
  ) {
    super(message)
  }
}

export class BodyTooLarge extends BodyRefused {
  constructor(limit: number) {
    super(
      413,
      `A request body must have at most ${limit} bytes. Send less, or start the server with a larger --max-body-bytes.`,
    )
  }
}

/**
 * Error for a new tenant when the server has the maximum number of tenants. The response is 503, because the client has
 * made no mistake.
 */
export class TenantsFull extends RangeError {}

/** Error when the bytes in transit of all clients have reached the limit of the server. */
export class BufferFull extends BodyRefused {
  /** @param done second part of the message: what has happened, and what to do */
  constructor(done = 'Nothing was done. Retry later') {
    super(
      503,
      `The bytes in transit of all clients have reached the limit of the server. ${done}, or start the server with a larger --max-buffered.`,
    )
  }
}
