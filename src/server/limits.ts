/** What the server takes before it refuses, so that one client cannot starve the others. */
export interface ServerLimits {
  /** Bytes of one request body. Default 128 MiB: more than the largest batch of the queue. */
  readonly body: number
  /** Host milliseconds in which a request has to arrive, its body included. Default 120,000. */
  readonly arrival: number
  /** Event streams that are open at once. Default 1,000. */
  readonly streams: number
  /** Connections of the native protocol that are open at once. Default 10,000. */
  readonly connections: number
  /** Tenants that exist at once. Default 1,000. */
  readonly tenants: number
  /** Entries of the traffic log of each tenant; beyond it the older half is dropped. Default 200,000. */
  readonly entries: number
}

export const defaultLimits: ServerLimits = {
  body: 134_217_728,
  arrival: 120_000,
  streams: 1_000,
  connections: 10_000,
  tenants: 1_000,
  entries: 200_000,
}

/** The client sent more than the server takes. */
export class BodyTooLarge extends Error {
  constructor(limit: number) {
    super(`A request body has at most ${limit} bytes here. Send less, or start the server with a larger limit.`)
  }
}
