/**
 * Returns a function that creates a value on its first call and then returns the same value. An import then costs
 * nothing.
 */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
