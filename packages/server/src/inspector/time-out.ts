/** Lifts the timeout of the running test. Returns `false` if that is not possible. */
type Lift = () => boolean

let lift: Lift | undefined

/** Sets how the timeout of the running test is lifted. The fixtures call it, because they know their runner. */
export function onLiftTimeout(by: Lift): void {
  lift = by
}

/** Lifts the timeout of the running test, if its runner can do that. */
export function liftTimeout(): boolean {
  return lift?.() ?? false
}

/** Returns whether a runner with a test timeout is active. */
export function hasTimeout(): boolean {
  return process.env.VITEST !== undefined || process.env.JEST_WORKER_ID !== undefined
}
