/** The assertion that failed before the inspector was opened. */
export interface FailedAssertion {
  /** Message of the assertion. The page shows it without colors, secrets and the timeline. */
  readonly message: string
  /** `seq` of the entry that is most similar to the expected one. */
  readonly nearest?: number
}

/** An inspection of a test's sandbox. The test waits until the inspection ends. */
export interface Visit {
  /** Name of the sandbox's tenant on the server that serves the page. */
  readonly tenant: string
  /** Title that the page shows, such as the name of the test. */
  readonly title: string
  readonly failure?: FailedAssertion
  /** Lets the test continue. */
  goOn(): void
}

const visits = new Map<string, Visit>()

/**
 * Registers an inspection. Returns a function that removes the inspection.
 * @param origin origin of the server that serves the page
 */
export function beginVisit(origin: string, visit: Visit): () => void {
  visits.set(origin, visit)
  return () => void visits.delete(origin)
}

/**
 * Returns the inspection on the server with this URL, or `undefined`. An inspection applies to all tenants of the
 * server, because forks of the sandbox are tenants, too.
 */
export function visitAt(url: string): Visit | undefined {
  return visits.get(new URL(url).origin)
}
