/**
 * Next steps for messages. They differ by reader: a test in this process, or a client of a
 * server in any programming language.
 */
export interface Hints {
  /** For a delivery to a URL without a destination. */
  destination(pattern: string): string
  /** For a delivery to a URL that `deliverTo` does not allow. */
  reach(pattern: string, host: string): string
  /** For a delivery to a real host of the vendor. */
  production(host: string): string
  /** For an outbound request to a URL without a registered response. */
  call(pattern: string): string
  /** For code that waits in virtual time while the clock does not move. */
  advance(by: string): string
}

/** Next steps for a test with access to the sandbox. */
export const inProcess: Hints = {
  destination: (pattern) =>
    `Register destinations.on('${pattern}', handler) or destinations.record('${pattern}'), or give the sandbox a fetch.`,
  reach: (pattern, host) =>
    `Register destinations.on('${pattern}', handler), or allow the host: deliverTo: ['${host}'].`,
  production: (host) => `To allow it, add the host: deliverTo: ['${host}'].`,
  call: (pattern) => `Register sandbox.outbound.on('${pattern}', handler)`,
  advance: (by) => `Call clock.advance('${by}') or clock.drain(), or create the sandbox with clock: 'auto'.`,
}
