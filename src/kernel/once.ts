/** Returns a function that creates a value on first use, so that an import costs nothing for it. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
