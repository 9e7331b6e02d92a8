/** The assertion that failed before a user inspects the sandbox. */
export interface FailedAssertion {
  readonly message: string
  /** `seq` of the entry that is nearest to what was expected. */
  readonly nearest?: number
}

/** An inspection of the sandbox of a test, which waits. */
export interface Visit {
  /** Tenant of the sandbox on the server. */
  readonly tenant: string
  /** Name of the test, for the page. */
  readonly title: string
  readonly failure?: FailedAssertion
  /** Lets the test continue. */
  goOn(): void
}

const visits = new Map<string, Visit>()

/** Begins a visit. Returns a function that ends it. @param origin origin of the server of the sandbox */
export function beginVisit(origin: string, visit: Visit): () => void {
  visits.set(origin, visit)
  return () => void visits.delete(origin)
}

/** Returns the visit of a server of this process, for each of its tenants: forks are tenants, too. */
export function visitAt(url: string): Visit | undefined {
  return visits.get(new URL(url).origin)
}
