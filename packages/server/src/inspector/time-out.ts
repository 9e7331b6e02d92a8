type Lift = () => boolean

let lift: Lift | undefined

/**
 * Registers the function that switches off the timeout of the running test. The fixtures of each runner register their
 * own function.
 */
export function onLiftTimeout(by: Lift): void {
  lift = by
}

/** Switches off the timeout of the running test. Returns `false` if its runner does not support that. */
export function liftTimeout(): boolean {
  return lift?.() ?? false
}

/** Returns whether a runner with a test timeout is active. */
export function hasTimeout(): boolean {
  return process.env.VITEST !== undefined || process.env.JEST_WORKER_ID !== undefined
}
