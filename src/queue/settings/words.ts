/** The vendor's words as far as the queue's own domain has to write them: on deliveries and in signatures. */
export interface Words {
  /** `Retries` → `Service-Retries` in the vendor's words. */
  header(name: string): string
  /** Claim `iss` of signatures. */
  readonly issuer: string
  /** `User-Agent` of deliveries. */
  readonly userAgent: string
}
