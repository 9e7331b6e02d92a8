/**
 * Returns a function that creates a value on its first call and returns the same value on later calls. A module with
 * such a function does no work when it is imported.
 */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
