/** Lifts the time-out of what runs now; the result sets it again. */
type Lift = () => () => void

const lifts = new WeakMap<object, Lift>()

/** Tells how the time-out of the test is lifted that has this world: the fixtures know their runner. */
export function onLiftTimeout(world: object, lift: Lift): void {
  lifts.set(world, lift)
}

/** Lifts the time-out of the test that has this world, where its runner can. @returns what sets it again */
export function liftTimeout(world: object): () => void {
  return lifts.get(world)?.() ?? (() => {})
}
