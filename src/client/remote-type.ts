/**
 * Type of a method or property of a remote object. A remote method has the arguments of the local method and returns a
 * promise.
 */
export type RemoteMember<T> = [T] extends [(...given: never[]) => unknown]
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
export type Remote<T, Names extends keyof T> = { readonly [Name in Names]: RemoteMember<T[Name]> }
