/** Lifts the time-out of what runs now; `false` where that cannot be done. */
type Lift = () => boolean

let lift: Lift | undefined

/** Tells how the time-out of the test that runs is lifted: the fixtures know their runner. */
export function onLiftTimeout(by: Lift): void {
  lift = by
}

/** Lifts the time-out of the test that runs, where its runner can. */
export function liftTimeout(): boolean {
  return lift?.() ?? false
}

/** Whether a runner is at work here that ends a test after a time. */
export function hasTimeout(): boolean {
  return process.env.VITEST !== undefined || process.env.JEST_WORKER_ID !== undefined
}
