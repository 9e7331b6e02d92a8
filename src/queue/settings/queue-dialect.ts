/** The words of one vendor as far as the queue's own domain has to write them: on deliveries and in signatures. */
export interface DialectSpelling {
  /** Before each of its headers: `Service-`. */
  readonly prefix: string
  /** Claim `iss` of signatures. */
  readonly issuer: string
  /** `User-Agent` of deliveries. */
  readonly userAgent: string
}

/**
 * In which words a message is delivered, signed and called back: those of its publisher. Who published without any is
 * spoken to in all that count, so that whoever listens is served.
 */
export class QueueDialect {
  /** Lower-case prefixes of the own headers. */
  readonly prefixes: readonly string[]
  /** Lower-case names of the header of an answer that forbids retries. */
  readonly nonRetryable: readonly string[]
  /**
   * There is one `User-Agent`. In all words it is the last one's, the vendor's: an app that looks at it at all was written
   * for the real service.
   */
  readonly userAgent: string

  constructor(
    /** As dumps call them. */
    readonly name: string,
    readonly tongues: readonly DialectSpelling[],
  ) {
    this.prefixes = tongues.map(({ prefix }) => prefix.toLowerCase())
    this.nonRetryable = this.headers('NonRetryable-Error').map((name) => name.toLowerCase())
    this.userAgent = tongues.at(-1)?.userAgent ?? ''
  }

  /** `Retries` → `Service-Retries`, as error texts have it. */
  header(name: string): string {
    return `${this.tongues[0]?.prefix ?? ''}${name}`
  }

  /** `Retries` → `Service-Retries` in each of the words. */
  headers(name: string): readonly string[] {
    return this.tongues.map(({ prefix }) => prefix + name)
  }

  /** `service-retries` → `retries`; `undefined` for a name that is not the service's own. */
  ownName(lowerName: string): string | undefined {
    const prefix = this.prefixes.find((one) => lowerName.startsWith(one))
    return prefix === undefined ? undefined : lowerName.slice(prefix.length)
  }
}

/** The words that a queue knows. */
export interface QueueDialects {
  /** Of what comes without any. */
  readonly fallback: QueueDialect
  readonly all: readonly QueueDialect[]
}
