/**
 * What to do next, in the language of whoever reads it: a test in this process, or a client of a server, in whatever
 * language that is written. Each is a whole sentence or more.
 */
export interface Hints {
  /** Nobody answers deliveries to a url. */
  destination(pattern: string): string
  /** Deliveries to a url must not leave. */
  reach(pattern: string, host: string): string
  /** The host of a url is the vendor's. */
  production(host: string): string
  /** Nobody answers the app's calls to a url. */
  call(pattern: string): string
  /** Somebody waits for time that does not move. */
  advance(by: string): string
}

/** For a test, which has the sandbox at hand. */
export const inProcess: Hints = {
  destination: (pattern) =>
    `Register destinations.on('${pattern}', handler) or destinations.record('${pattern}'), or give the sandbox a fetch.`,
  reach: (pattern, host) =>
    `Register destinations.on('${pattern}', handler), or name the host: deliverTo: ['${host}'].`,
  production: (host) => `If you mean it, name it: deliverTo: ['${host}'].`,
  call: (pattern) => `Register sandbox.outbound.on('${pattern}', handler)`,
  advance: (by) => `Call clock.advance('${by}') or clock.drain(), or create the sandbox with clock: 'auto'.`,
}
