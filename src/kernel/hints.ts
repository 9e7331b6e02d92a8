import { inProgram } from './database-name.js'

/**
 * Advice at the end of messages. A test in this process needs other advice than a client of a server, which can be in
 * any programming language.
 */
export interface Hints {
  /** Advice for a delivery to a URL without a destination. */
  destination(pattern: string): string
  /** Advice for a delivery to a host that `deliverTo` does not allow. */
  reach(pattern: string, host: string): string
  /** Advice for a delivery to a real host of the vendor. */
  production(host: string): string
  /** Advice for an outbound request to a URL without a registered response. */
  call(pattern: string): string
  /** Advice for code that waits in virtual time while the clock does not move. */
  advance(by: string): string
  /** Advice for the name of a database if the sandbox has no added databases. */
  readonly databases: string
}

/** Advice for a test with access to the sandbox. */
export const inProcess: Hints = {
  destination: (pattern) =>
    `Register destinations.on('${pattern}', handler) or destinations.record('${pattern}'), or create the sandbox with the option fetch.`,
  reach: (pattern, host) =>
    `Register destinations.on('${pattern}', handler), or allow the host: deliverTo: ['${host}'].`,
  production: (host) => `To allow it, add the host: deliverTo: ['${host}'].`,
  call: (pattern) => `Register sandbox.outbound.on('${pattern}', handler)`,
  advance: (by) => `Call clock.advance('${by}') or clock.drain(), or create the sandbox with clock: 'auto'.`,
  databases: inProgram,
}
