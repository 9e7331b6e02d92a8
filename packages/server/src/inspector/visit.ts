/** The assertion that failed before somebody looks into its world. */
export interface FailedAssertion {
  readonly message: string
  /** `seq` of the entry that comes nearest to what was expected. */
  readonly nearest?: number
}

/** A person who looks into the world of a test, which waits. */
export interface Visit {
  /** The name that the world has at the server. */
  readonly tenant: string
  /** What the page calls it: the name of the test. */
  readonly title: string
  readonly failure?: FailedAssertion
  /** Lets the test go on. */
  goOn(): void
}

const visits = new Map<string, Visit>()

/** @param origin of the server that serves the world @returns what ends the visit */
export function beginVisit(origin: string, visit: Visit): () => void {
  visits.set(origin, visit)
  return () => void visits.delete(origin)
}

/** Who visits a server of this process, whichever of its worlds is looked into: forks are tenants beside the world. */
export function visitAt(url: string): Visit | undefined {
  return visits.get(new URL(url).origin)
}
