/** Spelling of one dialect in the headers and signatures of deliveries. */
export interface DialectSpelling {
  /** Prefix of each of its headers: `Service-`. */
  readonly prefix: string
  /** Claim `iss` of signatures. */
  readonly issuer: string
  /** `User-Agent` of deliveries. */
  readonly userAgent: string
}

/**
 * Dialect of a publisher, which the deliveries, signatures and callbacks of its messages use. If the publisher used
 * none, deliveries have the headers of all configured spellings, so that every app finds the headers that it reads.
 */
export class QueueDialect {
  /** Lower-case prefixes of the service's own headers. */
  readonly prefixes: readonly string[]
  /** Lower-case names of the response header that forbids retries. */
  readonly nonRetryable: readonly string[]
  /**
   * `User-Agent` of deliveries, which can have only one value. With several spellings it is that of the last one, the
   * vendor, because an app that reads it was written for the real service.
   */
  readonly userAgent: string

  constructor(
    /** Name of the dialect in dumps. */
    readonly name: string,
    readonly tongues: readonly DialectSpelling[],
  ) {
    this.prefixes = tongues.map(({ prefix }) => prefix.toLowerCase())
    this.nonRetryable = this.headers('NonRetryable-Error').map((name) => name.toLowerCase())
    this.userAgent = tongues.at(-1)?.userAgent ?? ''
  }

  /** Returns the name of a header for error texts: `Retries` → `Service-Retries`. */
  header(name: string): string {
    return `${this.tongues[0]?.prefix ?? ''}${name}`
  }

  /** Returns the name of a header in each spelling: `Retries` → `Service-Retries`. */
  headers(name: string): readonly string[] {
    return this.tongues.map(({ prefix }) => prefix + name)
  }

  /**
   * Removes the prefix of a header name: `service-retries` → `retries`. Returns `undefined` if the name has no prefix
   * of the dialect.
   */
  ownName(lowerName: string): string | undefined {
    const prefix = this.prefixes.find((one) => lowerName.startsWith(one))
    return prefix === undefined ? undefined : lowerName.slice(prefix.length)
  }
}

/** Dialects that a queue accepts. */
export interface QueueDialects {
  /** Dialect for requests whose headers do not show one. */
  readonly fallback: QueueDialect
  readonly all: readonly QueueDialect[]
}
