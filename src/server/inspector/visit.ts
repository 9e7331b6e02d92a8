/** The assertion that failed before somebody looks into its world. */
export interface Failure {
  readonly message: string
  /** `seq` of the entry that comes nearest to what was expected. */
  readonly nearest?: number
}

/** A world that a person looks into while the test that owns it waits. */
export interface Visit {
  /** What the page calls the world: the name of the test. */
  readonly title?: string
  readonly failure?: Failure
  /** Lets the test go on. */
  goOn(): void
}

const visits = new WeakMap<object, Visit>()

/** @returns what ends the visit */
export function beginVisit(world: object, visit: Visit): () => void {
  visits.set(world, visit)
  return () => void visits.delete(world)
}

/** Who looks into this world while its test waits; `undefined` for a world that nobody waits for. */
export function visitOf(world: object): Visit | undefined {
  return visits.get(world)
}
