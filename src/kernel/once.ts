/** A value made on first use: an import does not pay for what it does not need. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
