/** Spelling of one dialect, as far as the queue writes it: on deliveries and in signatures. */
export interface DialectSpelling {
  /** Prefix of each of its headers: `Service-`. */
  readonly prefix: string
  /** Claim `iss` of signatures. */
  readonly issuer: string
  /** `User-Agent` of deliveries. */
  readonly userAgent: string
}

/**
 * Dialect in which a message is delivered, signed and called back, which is that of its publisher. If the publisher
 * used none, deliveries have the headers of all configured spellings, so that every app finds those it reads.
 */
export class QueueDialect {
  /** Lower-case prefixes of the service's own headers. */
  readonly prefixes: readonly string[]
  /** Lower-case names of the response header that forbids retries. */
  readonly nonRetryable: readonly string[]
  /**
   * The only `User-Agent` of a delivery. With several spellings it is the last one's, the vendor's, because an app that
   * reads it was written for the real service.
   */
  readonly userAgent: string

  constructor(
    /** Name in dumps. */
    readonly name: string,
    readonly tongues: readonly DialectSpelling[],
  ) {
    this.prefixes = tongues.map(({ prefix }) => prefix.toLowerCase())
    this.nonRetryable = this.headers('NonRetryable-Error').map((name) => name.toLowerCase())
    this.userAgent = tongues.at(-1)?.userAgent ?? ''
  }

  /** Returns the header for error texts: `Retries` → `Service-Retries`. */
  header(name: string): string {
    return `${this.tongues[0]?.prefix ?? ''}${name}`
  }

  /** Returns the header in each spelling: `Retries` → `Service-Retries`. */
  headers(name: string): readonly string[] {
    return this.tongues.map(({ prefix }) => prefix + name)
  }

  /**
   * Removes the prefix: `service-retries` → `retries`; returns `undefined` for names that are not the service's own.
   */
  ownName(lowerName: string): string | undefined {
    const prefix = this.prefixes.find((one) => lowerName.startsWith(one))
    return prefix === undefined ? undefined : lowerName.slice(prefix.length)
  }
}

/** Dialects that a queue accepts. */
export interface QueueDialects {
  /** Dialect of requests that use no dialect. */
  readonly fallback: QueueDialect
  readonly all: readonly QueueDialect[]
}
