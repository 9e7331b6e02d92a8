/** Names that one dialect uses in the headers and signatures of deliveries. */
export interface DialectSpelling {
  /** Prefix of the service's headers: `Service-`. */
  readonly prefix: string
  /** Value of the claim `iss` in signatures. */
  readonly issuer: string
  /** `User-Agent` of deliveries. */
  readonly userAgent: string
}

/**
 * Dialect of a publisher. Deliveries, signatures and callbacks of its messages use the same dialect. If a publish has
 * no header of any dialect, its deliveries have the headers of all configured dialects. Every app then finds the
 * headers that it reads.
 */
export class QueueDialect {
  /** Prefixes of the service's own headers, in lower case. */
  readonly prefixes: readonly string[]
  /** Names of the response header that forbids retries, in lower case. */
  readonly nonRetryable: readonly string[]
  /**
   * `User-Agent` of deliveries. A request can have only one `User-Agent`. If there are several dialects, the last one
   * determines it. That is the vendor's dialect, because an app that reads this header was written for the real
   * service.
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

  /** Returns a header name with the prefix of the first dialect, for error texts: `Retries` → `Service-Retries`. */
  header(name: string): string {
    return `${this.tongues[0]?.prefix ?? ''}${name}`
  }

  /** Returns a header name once for each dialect, with its prefix: `Retries` → `Service-Retries`. */
  headers(name: string): readonly string[] {
    return this.tongues.map(({ prefix }) => prefix + name)
  }

  /**
   * Removes the prefix from a header name: `service-retries` → `retries`. Returns `undefined` if the name does not
   * begin with a prefix of the dialect.
   */
  ownName(lowerName: string): string | undefined {
    const prefix = this.prefixes.find((one) => lowerName.startsWith(one))
    return prefix === undefined ? undefined : lowerName.slice(prefix.length)
  }
}

export interface QueueDialects {
  /** Dialect for requests that have no header of any dialect. */
  readonly fallback: QueueDialect
  readonly all: readonly QueueDialect[]
}
