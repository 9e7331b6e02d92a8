/** A value that is made when it is first asked for: what an import does not need costs it nothing. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
