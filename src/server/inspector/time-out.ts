const lifts = new WeakMap<object, () => void>()

/** Tells how the time-out of the test is lifted that has this world: the fixtures know their runner. */
export function onLiftTimeout(world: object, lift: () => void): void {
  lifts.set(world, lift)
}

/** Lifts the time-out of the test that has this world, where its runner can. */
export function liftTimeout(world: object): void {
  lifts.get(world)?.()
}
