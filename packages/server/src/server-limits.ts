import type { Duration } from '../../../src/kernel/duration.js'
import { maxBuffered } from '../../../src/queue/destinations/network.js'
import { heapLimit } from './heap-watch.js'

/** What the server takes before it refuses, so that one client cannot starve the others. */
export interface ServerLimits {
  /** Bytes of one request body. Default 128 MiB: more than the largest batch of the queue. */
  readonly maxBodyBytes: number
  /** Host time in which a request has to arrive, its body included: `'2m'`, or milliseconds. Default 2 minutes. */
  readonly requestTimeout: Duration
  /** Event streams that are open at once. Default 1,000. */
  readonly maxStreams: number
  /**
   * Connections of the native protocol that are open at once. Default 10,000. Of HTTP as many, and no more than one for
   * each 64 KiB of `buffered`.
   */
  readonly maxConnections: number
  /** Tenants that exist at once. Default 1,000. */
  readonly maxTenants: number
  /** Entries of the traffic log of each tenant; beyond it the older half is dropped. Default 200,000. */
  readonly maxTrafficEntries: number
  /**
   * Bytes of all clients together that are on their way: bodies that arrive, commands that wait for EXEC, output that was
   * not taken, answers of destinations that arrive. Default 512 MiB, or a quarter of the heap where that is less.
   */
  readonly buffered: number
}

/** The same, in milliseconds where it is a time. */
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

/** Bytes of the head of a request. Paths may be commands, headers may be forwarded. */
export const maxHead = 65_536

/** Of what may be on its way, large answers of destinations have so many hundredths; one tenant half of that. */
export const responsesShare = 50

/** Headers of a request, however short, that Node itself takes. */
export const maxHeaders = 1_000

/** Bytes that are read of the body of a request whose answer does not depend on it. */
export const maxUnwanted = 65_536

/** A request is not taken: one sentence, and the end of its connection. */
export class BodyRefused extends Error {
  constructor(
    readonly status: 413 | 503,
    message: string,
  ) {
    super(message)
  }
}

/** The client sent more than the server takes. */
export class BodyTooLarge extends BodyRefused {
  constructor(limit: number) {
    super(413, `A request body has at most ${limit} bytes here. Send less, or start the server with a larger limit.`)
  }
}

/** As many tenants exist as may: a mistake of nobody who asks, so the answer is 503. */
export class TenantsFull extends RangeError {}

/** All clients together have sent, and not taken, as much as the server holds. */
export class BufferFull extends BodyRefused {
  /** @param done what has happened, as a sentence */
  constructor(done = 'Nothing was done: ask again later') {
    super(
      503,
      `All clients together have as many bytes on their way as the server holds. ${done}, or start the server with a larger --max-buffered.`,
    )
  }
}
